/** Adds many keys at once: each node is searched, copied and split once for all its new keys. */
import { commonKeyLength, keyHead } from '@shardlab/bson'
import {
  childPosition,
  emptyLeaf,
  lowerBound,
  newInner,
  newLeaf,
  nodeSizeMax,
  setPrefixLength,
  withDistinctHeads,
  writable,
  type TreeNode,
} from './tree-node.js'

/** Ascending, distinct, and not in the tree. */
export interface KeyRun {
  readonly keys: readonly string[]
  readonly values: readonly number[]
}

/** Fill of nodes after a split by keys in random order. */
const looseNodeSize = (nodeSizeMax * 3) / 4

/**
 * Adds the run's keys from `from` to below `to`.
 * @param node writable by `owner`
 * @returns the new right siblings in order; null: the node was not split
 */
export function insertRun(node: TreeNode, owner: object, run: KeyRun, from: number, to: number): TreeNode[] | null {
  return node.children === null
    ? insertIntoLeaf(node, owner, run, from, to)
    : insertIntoInner(node, owner, run, from, to)
}

function insertIntoLeaf(leaf: TreeNode, owner: object, run: KeyRun, from: number, to: number): TreeNode[] | null {
  const { keys, heads, values } = leaf
  const before = keys.length
  if (before === 0) return fillLeaf(leaf, owner, run, from, to)
  const isAppended = keys[before - 1]! < run.keys[from]!
  const common = commonKeyLength(run.keys[from]!, run.keys[to - 1]!)
  const prefixLength = Math.min(leaf.prefixLength, common, commonKeyLength(keys[0]!, run.keys[from]!))
  if (prefixLength !== leaf.prefixLength) setPrefixLength(leaf, prefixLength)
  for (let i = from; i < to; i++) {
    const key = run.keys[i]!
    keys.push(key)
    heads.push(keyHead(key, leaf.prefixLength))
    values.push(run.values[i]!)
  }
  if (!isAppended) mergeIntoLeaf(leaf, before, run, from, to)
  return keys.length <= nodeSizeMax ? null : splitNode(leaf, owner, isAppended)
}

function fillLeaf(leaf: TreeNode, owner: object, run: KeyRun, from: number, to: number): TreeNode[] | null {
  const first = Math.min(to, from + nodeSizeMax)
  fill(leaf, run, from, first)
  if (first === to) return null
  const siblings: TreeNode[] = []
  for (let start = first; start < to; start += nodeSizeMax) {
    const { keys, heads, prefixLength, values } = fill(emptyLeaf(owner), run, start, Math.min(to, start + nodeSizeMax))
    // Copies have no spare capacity.
    siblings.push(newLeaf(owner, keys.slice(), heads.slice(), prefixLength, values.slice()))
  }
  return siblings
}

function fill(leaf: TreeNode, { keys, values }: KeyRun, from: number, to: number): TreeNode {
  for (let i = from; i < to; i++) {
    leaf.keys.push(keys[i]!)
    leaf.values.push(values[i]!)
  }
  setPrefixLength(leaf, commonKeyLength(keys[from]!, keys[to - 1]!))
  return leaf
}

/**
 * The leaf must have room. Works from the end, so each entry moves once.
 * @param before number of entries in the leaf
 */
function mergeIntoLeaf(leaf: TreeNode, before: number, run: KeyRun, from: number, to: number): void {
  const { keys, heads, values } = leaf
  let last = before
  for (let i = to - 1; i >= from; i--) {
    const key = run.keys[i]!
    const head = keyHead(key, leaf.prefixLength)
    const at = lowerBound(leaf, key, head, last)
    const distance = i - from + 1
    for (let moved = last - 1; moved >= at; moved--) {
      keys[moved + distance] = keys[moved]!
      heads[moved + distance] = heads[moved]!
      values[moved + distance] = values[moved]!
    }
    const place = at + distance - 1
    keys[place] = key
    heads[place] = head
    values[place] = run.values[i]!
    last = at
  }
}

function insertIntoInner(node: TreeNode, owner: object, run: KeyRun, from: number, to: number): TreeNode[] | null {
  const { keys } = node
  const children = node.children!
  const isAppended = childPosition(node, run.keys[from]!, 0) + 1 === keys.length
  let grown: Map<number, TreeNode[]> | null = null
  for (let i = from; i < to;) {
    const at = childPosition(node, run.keys[i]!, 0)
    let end = i + 1
    if (at + 1 === keys.length) end = to
    else for (const bound = keys[at + 1]!; end < to && run.keys[end]! < bound;) end++
    const child = writable(children[at]!, owner)
    children[at] = child
    const siblings = insertRun(child, owner, run, i, end)
    if (siblings !== null) (grown ??= new Map<number, TreeNode[]>()).set(at, siblings)
    i = end
  }
  if (grown === null) return null
  for (let at = keys.length - 1; at >= 0; at--) {
    const siblings = grown.get(at)
    if (siblings === undefined) continue
    keys.splice(at + 1, 0, ...siblings.map((part) => part.keys[0]!))
    children.splice(at + 1, 0, ...siblings)
  }
  setPrefixLength(node, commonKeyLength(keys[1]!, keys[keys.length - 1]!))
  return keys.length <= nodeSizeMax ? null : splitNode(node, owner, isAppended)
}

export function buildRoot(nodes: TreeNode[], owner: object): TreeNode {
  let level = nodes
  while (level.length > 1) {
    const below = newInner(owner, [], [], 0, level)
    for (const { keys } of level) below.keys.push(keys[0]!)
    setPrefixLength(below, commonKeyLength(below.keys[1]!, below.keys[below.keys.length - 1]!))
    if (below.keys.length <= nodeSizeMax) return below
    level = [below, ...splitNode(below, owner, false)]
  }
  return level[0]!
}

/**
 * Moves all but the first entries to new nodes.
 * @param isAppended fill nodes completely, as for ascending inserts; otherwise leave room
 */
function splitNode(node: TreeNode, owner: object, isAppended: boolean): TreeNode[] {
  const { keys, heads, prefixLength, values, children } = node
  const count = keys.length
  const size = isAppended ? nodeSizeMax : Math.ceil(count / Math.ceil(count / looseNodeSize))
  const parts: TreeNode[] = []
  for (let start = size; start < count; start += size) {
    const end = start + size
    const [ownKeys, ownHeads] = [keys.slice(start, end), heads.slice(start, end)]
    parts.push(
      children === null
        ? newLeaf(owner, ownKeys, ownHeads, prefixLength, values.slice(start, end))
        : newInner(owner, ownKeys, ownHeads, prefixLength, children.slice(start, end)),
    )
  }
  // `splice` would keep the capacity; setting the length releases it.
  keys.length = heads.length = size
  if (children === null) values.length = size
  else children.length = size
  withDistinctHeads(node)
  return parts
}
