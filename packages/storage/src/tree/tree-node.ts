/** The nodes of a {@link KeyTree}: leaves with keys and values, above them nodes with their children. */
import { commonKeyLength, keyHead, keyHeadAmong } from '@shardlab/bson'

/** Most entries of a node. Measured: 64 to 128 are best for scans and for inserting. */
export const nodeSizeMax = 64
/** A node that has fewer entries after a deletion is put together with its neighbour where both fit into one. */
export const nodeSizeMin = nodeSizeMax / 4

export interface TreeNode {
  /** Only the tree that holds this very object may write here. */
  readonly owner: object
  /** Of a leaf: its keys, ascending. Else: what each child's keys are not below; the first bounds nothing. */
  readonly keys: string[]
  /** Beside each key what it goes on with behind what all of the node share: see {@link keyHead}. */
  readonly heads: number[]
  /** With so many characters all keys of the node begin alike; the first one of a node above the leaves may not. */
  shared: number
  /** Of a leaf: what each key stands for. Else empty. */
  readonly values: number[]
  /** Null: a leaf. */
  readonly children: TreeNode[] | null
}

const noValues: number[] = []

export function emptyLeaf(owner: object): TreeNode {
  return { owner, keys: [], heads: [], shared: 0, values: [], children: null }
}

/** A leaf of these keys, which begin alike with `shared` characters, and their heads. */
export function newLeaf(owner: object, keys: string[], heads: number[], shared: number, values: number[]): TreeNode {
  return told({ owner, keys, heads, shared, values, children: null })
}

/** The same above the leaves: the first key may begin in another way. */
export function newInner(
  owner: object,
  keys: string[],
  heads: number[],
  shared: number,
  children: TreeNode[],
): TreeNode {
  return told({ owner, keys, heads, shared, values: noValues, children })
}

/** The node itself, or a copy that this owner may write to. */
export function writable(node: TreeNode, owner: object): TreeNode {
  if (node.owner === owner) return node
  const { keys, heads, shared, values, children } = node
  return children === null
    ? { owner, keys: keys.slice(), heads: heads.slice(), shared, values: values.slice(), children }
    : { owner, keys: keys.slice(), heads: heads.slice(), shared, values: noValues, children: children.slice() }
}

/** The node with heads that tell its keys apart: as long as they lie too far in front for any of them, others behind what the keys share. */
export function told(node: TreeNode): TreeNode {
  const { keys, heads } = node
  const first = node.children === null ? 0 : 1
  const last = keys.length - 1
  if (first < last && heads[first] === heads[last]) setShared(node, commonKeyLength(keys[first]!, keys[last]!))
  return node
}

/** Makes the heads of all keys, which begin alike with so many characters. */
export function setShared(node: TreeNode, shared: number): void {
  const { keys, heads } = node
  node.shared = shared
  for (let i = 0; i < keys.length; i++) {
    const head = keyHead(keys[i]!, shared)
    if (i < heads.length) heads[i] = head
    else heads.push(head)
  }
}

/**
 * The head of any key among those of this node: one that does not begin as they do is below or above all of them.
 * @param alike with so many characters it is known to begin as they do
 */
export function headIn({ keys, shared }: TreeNode, key: string, alike: number): number {
  return shared > alike ? keyHeadAmong(keys[keys.length - 1]!, shared, key, alike) : keyHead(key, shared)
}

/** {@link headIn} of a key that is about to become one of the node's: from now on they share no more than it has of that. */
export function admit(node: TreeNode, key: string, alike: number): number {
  const { keys, shared } = node
  const last = keys.length - 1
  if (last < (node.children === null ? 0 : 1)) setShared(node, key.length)
  else if (shared > alike) {
    const common = commonKeyLength(keys[last]!, key)
    if (common < shared) setShared(node, common)
  }
  return keyHead(key, node.shared)
}

/**
 * With how many characters a key is known to begin as all those below the child in which it lies do. Between two bounds of the node everything
 * begins as both of them.
 */
export function alikeIn({ keys, shared }: TreeNode, at: number, alike: number): number {
  return at > 0 && at < keys.length - 1 && shared > alike ? shared : alike
}

/** Position of the first key that is not below `key`, among the first `count`; `count` when all are. `head`: its head among the node's. */
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

/** Position of the child in which `key` lies. `alike`: see {@link headIn}. */
export function childOf(node: TreeNode, key: string, alike: number): number {
  const { keys, heads } = node
  if (keys.length < 2) return 0
  const head = headIn(node, key, alike)
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
export function insertEntry(
  { keys, heads, values }: TreeNode,
  at: number,
  key: string,
  head: number,
  value: number,
): void {
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

/** Takes an entry out of a leaf: cutting it out of each list would make three lists of what is cut out. */
export function removeEntry({ keys, heads, values }: TreeNode, at: number): void {
  const last = keys.length - 1
  for (let i = at; i < last; i++) {
    keys[i] = keys[i + 1]!
    heads[i] = heads[i + 1]!
    values[i] = values[i + 1]!
  }
  keys.pop()
  heads.pop()
  values.pop()
}

/** Puts a child into a node above the leaves, under the key that it is not below. */
export function insertChild(node: TreeNode, at: number, bound: string, child: TreeNode): void {
  const head = admit(node, bound, 0)
  const { keys, heads } = node
  const children = node.children!
  keys.push(bound)
  heads.push(head)
  children.push(child)
  for (let i = keys.length - 1; i > at; i--) {
    keys[i] = keys[i - 1]!
    heads[i] = heads[i - 1]!
    children[i] = children[i - 1]!
  }
  keys[at] = bound
  heads[at] = head
  children[at] = child
}
