/** Many ascending keys at once: each node is looked for, copied and divided once for all keys that go into it. */
import { commonKeyLength, keyHead } from '@shardlab/bson'
import {
  childOf,
  emptyLeaf,
  firstNotBelow,
  newInner,
  newLeaf,
  nodeSizeMax,
  setShared,
  told,
  writable,
  type TreeNode,
} from './tree-node.js'

/** Ascending keys, each once, none of them in the tree yet. */
export interface KeyRun {
  readonly keys: readonly string[]
  readonly values: readonly number[]
}

/** So full are nodes after many keys in no order have divided one. */
const looseNodeSize = (nodeSizeMax * 3) / 4

/**
 * Puts the run's keys from `from` to `to` below a node that its owner may write to.
 * @returns what was divided off, in order: it follows the node; null: nothing
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
  const shared = Math.min(leaf.shared, common, commonKeyLength(keys[0]!, run.keys[from]!))
  if (shared !== leaf.shared) setShared(leaf, shared)
  for (let i = from; i < to; i++) {
    const key = run.keys[i]!
    keys.push(key)
    heads.push(keyHead(key, leaf.shared))
    values.push(run.values[i]!)
  }
  if (!isAppended) mergeIn(leaf, before, run, from, to)
  return keys.length <= nodeSizeMax ? null : divided(leaf, owner, isAppended)
}

/** Fills a leaf that is empty, and as many behind it as it takes. */
function fillLeaf(leaf: TreeNode, owner: object, run: KeyRun, from: number, to: number): TreeNode[] | null {
  const first = Math.min(to, from + nodeSizeMax)
  fill(leaf, run, from, first)
  if (first === to) return null
  const behind: TreeNode[] = []
  for (let start = first; start < to; start += nodeSizeMax) {
    const { keys, heads, shared, values } = fill(emptyLeaf(owner), run, start, Math.min(to, start + nodeSizeMax))
    // Lists that are copied are no longer than they need be.
    behind.push(newLeaf(owner, keys.slice(), heads.slice(), shared, values.slice()))
  }
  return behind
}

/** Puts entries of the run into an empty leaf. */
function fill(leaf: TreeNode, { keys, values }: KeyRun, from: number, to: number): TreeNode {
  for (let i = from; i < to; i++) {
    leaf.keys.push(keys[i]!)
    leaf.values.push(values[i]!)
  }
  setShared(leaf, commonKeyLength(keys[from]!, keys[to - 1]!))
  return leaf
}

/** Puts the run's entries in their places among the first `before` ones of a leaf that has room for them: from behind, so that each is moved once. */
function mergeIn(leaf: TreeNode, before: number, run: KeyRun, from: number, to: number): void {
  const { keys, heads, values } = leaf
  let last = before
  for (let i = to - 1; i >= from; i--) {
    const key = run.keys[i]!
    const head = keyHead(key, leaf.shared)
    const at = firstNotBelow(leaf, key, head, last)
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
  const isAppended = childOf(node, run.keys[from]!, 0) + 1 === keys.length
  let grown: Map<number, TreeNode[]> | null = null
  for (let i = from; i < to;) {
    const at = childOf(node, run.keys[i]!, 0)
    let end = i + 1
    if (at + 1 === keys.length) end = to
    else for (const bound = keys[at + 1]!; end < to && run.keys[end]! < bound;) end++
    const child = writable(children[at]!, owner)
    children[at] = child
    const behind = insertRun(child, owner, run, i, end)
    if (behind !== null) (grown ??= new Map<number, TreeNode[]>()).set(at, behind)
    i = end
  }
  if (grown === null) return null
  for (let at = keys.length - 1; at >= 0; at--) {
    const behind = grown.get(at)
    if (behind === undefined) continue
    keys.splice(at + 1, 0, ...behind.map((part) => part.keys[0]!))
    children.splice(at + 1, 0, ...behind)
  }
  setShared(node, commonKeyLength(keys[1]!, keys[keys.length - 1]!))
  return keys.length <= nodeSizeMax ? null : divided(node, owner, isAppended)
}

/** Puts a root over nodes that follow each other. */
export function rootOver(nodes: TreeNode[], owner: object): TreeNode {
  let level = nodes
  while (level.length > 1) {
    const below = newInner(owner, [], [], 0, level)
    for (const { keys } of level) below.keys.push(keys[0]!)
    setShared(below, commonKeyLength(below.keys[1]!, below.keys[below.keys.length - 1]!))
    if (below.keys.length <= nodeSizeMax) return below
    level = [below, ...divided(below, owner, false)]
  }
  return level[0]!
}

/**
 * Leaves a node its first entries, and divides the others among new ones. What ascends fills its nodes; what comes in any order gets nodes with
 * room in them.
 */
function divided(node: TreeNode, owner: object, isAppended: boolean): TreeNode[] {
  const { keys, heads, shared, values, children } = node
  const count = keys.length
  const size = isAppended ? nodeSizeMax : Math.ceil(count / Math.ceil(count / looseNodeSize))
  const parts: TreeNode[] = []
  for (let start = size; start < count; start += size) {
    const end = start + size
    const [ownKeys, ownHeads] = [keys.slice(start, end), heads.slice(start, end)]
    parts.push(
      children === null
        ? newLeaf(owner, ownKeys, ownHeads, shared, values.slice(start, end))
        : newInner(owner, ownKeys, ownHeads, shared, children.slice(start, end)),
    )
  }
  // Lists that are cut like this give back the memory of all that was in them; those that are spliced keep it.
  keys.length = heads.length = size
  if (children === null) values.length = size
  else children.length = size
  told(node)
  return parts
}
