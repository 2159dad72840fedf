import { keyHead } from '@shardlab/bson'
import {
  headForInsert,
  matchedBelow,
  childPosition,
  lowerBound,
  insertChild,
  insertEntry,
  newInner,
  newLeaf,
  nodeSizeMax,
  withDistinctHeads,
  writable,
  type TreeNode,
} from './tree-node.js'

const half = nodeSizeMax / 2

/**
 * @param node writable by `owner`
 * @param matched length of the prefix that the key shares with all keys below the node
 * @returns the new right sibling; null: the node was not split
 */
export function addKey(node: TreeNode, owner: object, key: string, value: number, matched: number): TreeNode | null {
  const { keys, heads, prefixLength, children } = node
  if (children === null) return addToLeaf(node, owner, key, value, matched)
  const at = childPosition(node, key, matched)
  let child = children[at]!
  if (child.owner !== owner) children[at] = child = writable(child, owner)
  const sibling = addKey(child, owner, key, value, matchedBelow(node, at, matched))
  if (sibling === null) return null
  const bound = sibling.keys[0]!
  if (keys.length < nodeSizeMax) {
    insertChild(node, at + 1, bound, sibling)
    return null
  }
  if (at + 1 === keys.length) return newInner(owner, [bound], [0], 0, [sibling])
  const second = newInner(owner, keys.splice(half), heads.splice(half), prefixLength, children.splice(half))
  withDistinctHeads(node)
  const into = at < half ? node : second
  const position = at < half ? at + 1 : at + 1 - half
  insertChild(into, position, bound, sibling)
  return second
}

function addToLeaf(leaf: TreeNode, owner: object, key: string, value: number, matched: number): TreeNode | null {
  const { keys, heads, prefixLength, values } = leaf
  const { length } = keys
  if (length < nodeSizeMax) {
    const head = headForInsert(leaf, key, matched)
    insertEntry(leaf, lowerBound(leaf, key, head, length), key, head, value)
    return null
  }
  // Ascending inserts leave full leaves behind.
  if (keys[length - 1]! < key) return newLeaf(owner, [key], [keyHead(key, 0)], 0, [value])
  const sibling = newLeaf(owner, keys.splice(half), heads.splice(half), prefixLength, values.splice(half))
  withDistinctHeads(leaf)
  const into = key <= sibling.keys[0]! ? leaf : sibling
  const head = headForInsert(into, key, matched)
  insertEntry(into, lowerBound(into, key, head, half), key, head, value)
  return sibling
}
