/** One key more in a tree. */
import { keyHead } from '@shardlab/bson'
import {
  admit,
  alikeIn,
  childOf,
  firstNotBelow,
  insertChild,
  insertEntry,
  newInner,
  newLeaf,
  nodeSizeMax,
  told,
  writable,
  type TreeNode,
} from './tree-node.js'

const half = nodeSizeMax / 2

/**
 * Adds a key below a node that its owner may write to.
 * @param alike with so many characters it is known to begin as all keys below the node
 * @returns what was divided off: it follows the node; null: nothing
 */
export function addKey(node: TreeNode, owner: object, key: string, value: number, alike: number): TreeNode | null {
  const { keys, heads, shared, children } = node
  if (children === null) return addToLeaf(node, owner, key, value, alike)
  const at = childOf(node, key, alike)
  let child = children[at]!
  if (child.owner !== owner) children[at] = child = writable(child, owner)
  const behind = addKey(child, owner, key, value, alikeIn(node, at, alike))
  if (behind === null) return null
  const bound = behind.keys[0]!
  if (keys.length < nodeSizeMax) {
    insertChild(node, at + 1, bound, behind)
    return null
  }
  if (at + 1 === keys.length) return newInner(owner, [bound], [0], 0, [behind])
  const second = newInner(owner, keys.splice(half), heads.splice(half), shared, children.splice(half))
  told(node)
  const into = at < half ? node : second
  const position = at < half ? at + 1 : at + 1 - half
  insertChild(into, position, bound, behind)
  return second
}

function addToLeaf(leaf: TreeNode, owner: object, key: string, value: number, alike: number): TreeNode | null {
  const { keys, heads, shared, values } = leaf
  const { length } = keys
  if (length < nodeSizeMax) {
    const head = admit(leaf, key, alike)
    insertEntry(leaf, firstNotBelow(leaf, key, head, length), key, head, value)
    return null
  }
  // What ascends leaves full leaves behind it.
  if (keys[length - 1]! < key) return newLeaf(owner, [key], [keyHead(key, 0)], 0, [value])
  const behind = newLeaf(owner, keys.splice(half), heads.splice(half), shared, values.splice(half))
  told(leaf)
  const into = key <= behind.keys[0]! ? leaf : behind
  const head = admit(into, key, alike)
  insertEntry(into, firstNotBelow(into, key, head, half), key, head, value)
  return behind
}
