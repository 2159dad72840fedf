/** The nodes of a {@link KeyTree}: leaves with keys and values, above them nodes with their children. */

/** Most entries of a node. Measured: 64 to 128 are best for scans and for inserting. */
export const nodeSizeMax = 64
/** A node that has fewer entries after a deletion is put together with its neighbour where both fit into one. */
export const nodeSizeMin = nodeSizeMax / 4

export interface TreeNode {
  /** Only the tree that holds this very object may write here. */
  readonly owner: object
  /** Of a leaf: its keys, ascending. Else: what each child's keys are not below; the first bounds nothing. */
  readonly keys: string[]
  /** The {@link headOf} of each key. */
  readonly heads: number[]
  /** Of a leaf: what each key stands for. Else empty. */
  readonly values: number[]
  /** Null: a leaf. */
  readonly children: TreeNode[] | null
}

const noValues: number[] = []

export function newLeaf(owner: object, keys: string[], heads: number[], values: number[]): TreeNode {
  return { owner, keys, heads, values, children: null }
}

export function newInner(owner: object, keys: string[], heads: number[], children: TreeNode[]): TreeNode {
  return { owner, keys, heads, values: noValues, children }
}

/** The node itself, or a copy that this owner may write to. */
export function writable(node: TreeNode, owner: object): TreeNode {
  if (node.owner === owner) return node
  const { keys, heads, values, children } = node
  return children === null
    ? newLeaf(owner, keys.slice(), heads.slice(), values.slice())
    : newInner(owner, keys.slice(), heads.slice(), children.slice())
}

/**
 * The first seven characters of a key as a number that orders as they do: keys are compared by it first, because numbers lie side by side
 * and strings anywhere. The last three bits of the seventh are left out: a number holds 53.
 */
export function headOf(key: string): number {
  const length = key.length
  if (length >= 7) {
    return (
      ((key.charCodeAt(0) << 16) | (key.charCodeAt(1) << 8) | key.charCodeAt(2)) * 0x2000_0000 +
      ((key.charCodeAt(3) << 21) | (key.charCodeAt(4) << 13) | (key.charCodeAt(5) << 5) | (key.charCodeAt(6) >> 3))
    )
  }
  let head = 0
  for (let i = 0; i < 7; i++) head = head * 256 + (i < length ? key.charCodeAt(i) : 0)
  return Math.floor(head / 8)
}

/** Position of the first key that is not below `key`, among the first `count`; `count` when all are. */
export function firstNotBelow({ keys, heads }: TreeNode, key: string, head: number, count: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = heads[middle]!
    if (other < head || (other === head && keys[middle]! < key)) low = middle + 1
    else high = middle
  }
  return low
}

/** Position of the child in which `key` lies. */
export function childOf({ keys, heads }: TreeNode, key: string, head = headOf(key)): number {
  let low = 1
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = heads[middle]!
    if (other < head || (other === head && keys[middle]! <= key)) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Puts an entry into a leaf. Each list by itself: a function that moves entries of lists of any kind would have the engine box the numbers. */
export function insertEntry({ keys, heads, values }: TreeNode, at: number, key: string, head: number, value: number): void {
  keys.push(key)
  heads.push(head)
  values.push(value)
  for (let i = keys.length - 1; i > at; i--) {
    keys[i] = keys[i - 1]!
    heads[i] = heads[i - 1]!
    values[i] = values[i - 1]!
  }
  keys[at] = key
  heads[at] = head
  values[at] = value
}

/** Puts a child into a node above the leaves, under the key that it is not below. */
export function insertChild({ keys, heads, children }: TreeNode, at: number, bound: string, head: number, child: TreeNode): void {
  const below = children!
  keys.push(bound)
  heads.push(head)
  below.push(child)
  for (let i = keys.length - 1; i > at; i--) {
    keys[i] = keys[i - 1]!
    heads[i] = heads[i - 1]!
    below[i] = below[i - 1]!
  }
  keys[at] = bound
  heads[at] = head
  below[at] = child
}
