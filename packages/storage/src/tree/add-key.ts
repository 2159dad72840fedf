/** One key more in a tree. */
import { childOf, firstNotBelow, insertAt, newInner, newLeaf, nodeSizeMax, writable, type TreeNode } from './tree-node.js'

const half = nodeSizeMax / 2

/** Adds a key below a node that its owner may write to. @returns what was divided off: it follows the node; null: nothing */
export function addKey(node: TreeNode, owner: object, key: string, head: number, value: number): TreeNode | null {
  const { keys, heads, children } = node
  if (children === null) return addToLeaf(node, owner, key, head, value)
  const at = childOf(node, key, head)
  let child = children[at]!
  if (child.owner !== owner) children[at] = child = writable(child, owner)
  const behind = addKey(child, owner, key, head, value)
  if (behind === null) return null
  const bound = behind.keys[0]!
  const boundHead = behind.heads[0]!
  if (keys.length < nodeSizeMax) {
    insertAt(keys, at + 1, bound)
    insertAt(heads, at + 1, boundHead)
    insertAt(children, at + 1, behind)
    return null
  }
  if (at + 1 === keys.length) return newInner(owner, [bound], [boundHead], [behind])
  const second = newInner(owner, keys.splice(half), heads.splice(half), children.splice(half))
  const into = at < half ? node : second
  const position = at < half ? at + 1 : at + 1 - half
  insertAt(into.keys, position, bound)
  insertAt(into.heads, position, boundHead)
  insertAt(into.children!, position, behind)
  return second
}

function addToLeaf(leaf: TreeNode, owner: object, key: string, head: number, value: number): TreeNode | null {
  const { keys, heads, values } = leaf
  const { length } = keys
  const at = firstNotBelow(leaf, key, head, length)
  if (length < nodeSizeMax) {
    insertAt(keys, at, key)
    insertAt(heads, at, head)
    insertAt(values, at, value)
    return null
  }
  // What ascends leaves full leaves behind it.
  if (at === length) return newLeaf(owner, [key], [head], [value])
  const behind = newLeaf(owner, keys.splice(half), heads.splice(half), values.splice(half))
  const into = at <= half ? leaf : behind
  const position = at <= half ? at : at - half
  insertAt(into.keys, position, key)
  insertAt(into.heads, position, head)
  insertAt(into.values, position, value)
  return behind
}
