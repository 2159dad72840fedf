/** Many ascending keys at once: each node is looked for, copied and divided once for all keys that go into it. */
import { childOf, firstNotBelow, headOf, newInner, newLeaf, nodeSizeMax, writable, type TreeNode } from './tree-node.js'

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
  return node.children === null ? insertIntoLeaf(node, owner, run, from, to) : insertIntoInner(node, owner, run, from, to)
}

function insertIntoLeaf(leaf: TreeNode, owner: object, run: KeyRun, from: number, to: number): TreeNode[] | null {
  const { keys, heads, values } = leaf
  const before = keys.length
  const isAppended = before === 0 || keys[before - 1]! < run.keys[from]!
  for (let i = from; i < to; i++) {
    keys.push(run.keys[i]!)
    heads.push(0)
    values.push(run.values[i]!)
  }
  // From behind, so that each entry is moved once.
  let last = before
  for (let i = to - 1; i >= from; i--) {
    const key = run.keys[i]!
    const head = headOf(key)
    const at = isAppended ? last : firstNotBelow(leaf, key, head, last)
    const distance = i - from + 1
    for (let moved = last - 1; moved >= at; moved--) {
      keys[moved + distance] = keys[moved]!
      heads[moved + distance] = heads[moved]!
      values[moved + distance] = values[moved]!
    }
    const to = at + distance - 1
    keys[to] = key
    heads[to] = head
    values[to] = run.values[i]!
    last = at
  }
  if (keys.length <= nodeSizeMax) return null
  return divided(keys.length, isAppended, (start) => newLeaf(owner, keys.splice(start), heads.splice(start), values.splice(start)))
}

function insertIntoInner(node: TreeNode, owner: object, run: KeyRun, from: number, to: number): TreeNode[] | null {
  const { keys, heads } = node
  const children = node.children!
  const isAppended = childOf(node, run.keys[from]!) + 1 === keys.length
  let grown: Map<number, TreeNode[]> | null = null
  for (let i = from; i < to;) {
    const at = childOf(node, run.keys[i]!)
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
    heads.splice(at + 1, 0, ...behind.map((part) => part.heads[0]!))
    children.splice(at + 1, 0, ...behind)
  }
  if (keys.length <= nodeSizeMax) return null
  return divided(keys.length, isAppended, (start) => newInner(owner, keys.splice(start), heads.splice(start), children.splice(start)))
}

/** Puts a root over nodes that follow each other. */
export function rootOver(nodes: TreeNode[], owner: object): TreeNode {
  let level = nodes
  while (level.length > 1) {
    const below = newInner(
      owner,
      level.map(({ keys }) => keys[0]!),
      level.map(({ heads }) => heads[0]!),
      level,
    )
    const { keys, heads, children } = below
    if (keys.length <= nodeSizeMax) return below
    const parts = divided(keys.length, false, (start) => newInner(owner, keys.splice(start), heads.splice(start), children!.splice(start)))
    level = [below, ...parts]
  }
  return level[0]!
}

/**
 * Divides so many entries among nodes, the last ones first. What ascends fills its nodes; what comes in any order gets nodes with room in them.
 * @param cut makes a node of all entries from a position on
 */
function divided(count: number, isAppended: boolean, cut: (start: number) => TreeNode): TreeNode[] {
  const size = isAppended ? nodeSizeMax : Math.ceil(count / Math.ceil(count / looseNodeSize))
  const parts: TreeNode[] = []
  for (let start = Math.floor((count - 1) / size) * size; start > 0; start -= size) parts.push(cut(start))
  return parts.reverse()
}
