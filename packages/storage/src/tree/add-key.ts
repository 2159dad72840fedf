/** One key more in a tree. */
import { childOf, firstNotBelow, insertChild, insertEntry, newInner, newLeaf, nodeSizeMax, writable, type TreeNode } from './tree-node.js'

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
    insertChild(node, at + 1, bound, boundHead, behind)
    return null
  }
  if (at + 1 === keys.length) return newInner(owner, [bound], [boundHead], [behind])
  const second = newInner(owner, keys.splice(half), heads.splice(half), children.splice(half))
  const into = at < half ? node : second
  const position = at < half ? at + 1 : at + 1 - half
  insertChild(into, position, bound, boundHead, behind)
  return second
}

function addToLeaf(leaf: TreeNode, owner: object, key: string, head: number, value: number): TreeNode | null {
  const { keys, heads, values } = leaf
  const { length } = keys
  const at = firstNotBelow(leaf, key, head, length)
  if (length < nodeSizeMax) {
    insertEntry(leaf, at, key, head, value)
    return null
  }
  // What ascends leaves full leaves behind it.
  if (at === length) return newLeaf(owner, [key], [head], [value])
  const behind = newLeaf(owner, keys.splice(half), heads.splice(half), values.splice(half))
  const into = at <= half ? leaf : behind
  const position = at <= half ? at : at - half
  insertEntry(into, position, key, head, value)
  return behind
}
