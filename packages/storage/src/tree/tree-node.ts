import { commonKeyLength, keyHead, keyHeadAmong } from '@shardlab/bson'

/** Measured: 64 to 128 are best for scans and inserts. */
export const nodeSizeMax = 64
/** A smaller node is merged with a sibling after a deletion if both fit into one. */
export const nodeSizeMin = nodeSizeMax / 4

export interface TreeNode {
  /** Only the tree that holds this very object may write to the node. */
  readonly owner: object
  /** Ascending. Inner node: lower bounds of the children's keys; the first bound is not used. */
  readonly keys: string[]
  /** Heads of the keys after the common prefix: see {@link keyHead}. */
  readonly heads: number[]
  /** Of all keys; in an inner node the first key may have another prefix. */
  prefixLength: number
  readonly values: number[]
  /** Null: a leaf. */
  readonly children: TreeNode[] | null
}

const noValues: number[] = []

export function emptyLeaf(owner: object): TreeNode {
  return { owner, keys: [], heads: [], prefixLength: 0, values: [], children: null }
}

/** @param prefixLength of the common prefix of all keys, after which the heads begin */
export function newLeaf(
  owner: object,
  keys: string[],
  heads: number[],
  prefixLength: number,
  values: number[],
): TreeNode {
  return withDistinctHeads({ owner, keys, heads, prefixLength, values, children: null })
}

/** As {@link newLeaf}, but the first key may have another prefix. */
export function newInner(
  owner: object,
  keys: string[],
  heads: number[],
  prefixLength: number,
  children: TreeNode[],
): TreeNode {
  return withDistinctHeads({ owner, keys, heads, prefixLength, values: noValues, children })
}

/** The node itself if the owner may write to it, otherwise a copy. */
export function writable(node: TreeNode, owner: object): TreeNode {
  if (node.owner === owner) return node
  const { keys, heads, prefixLength, values, children } = node
  return children === null
    ? { owner, keys: keys.slice(), heads: heads.slice(), prefixLength, values: values.slice(), children }
    : { owner, keys: keys.slice(), heads: heads.slice(), prefixLength, values: noValues, children: children.slice() }
}

/** Recomputes the heads after a longer prefix if all current heads are equal. */
export function withDistinctHeads(node: TreeNode): TreeNode {
  const { keys, heads } = node
  const first = node.children === null ? 0 : 1
  const last = keys.length - 1
  if (first < last && heads[first] === heads[last]) setPrefixLength(node, commonKeyLength(keys[first]!, keys[last]!))
  return node
}

/** Also recomputes all heads. */
export function setPrefixLength(node: TreeNode, prefixLength: number): void {
  const { keys, heads } = node
  node.prefixLength = prefixLength
  for (let i = 0; i < keys.length; i++) {
    const head = keyHead(keys[i]!, prefixLength)
    if (i < heads.length) heads[i] = head
    else heads.push(head)
  }
}

/**
 * The key's head, comparable with those of the node: a key with another prefix is below or above
 * all of them.
 * @param matched length of the prefix that the key is known to share with the node's keys
 */
export function headIn({ keys, prefixLength }: TreeNode, key: string, matched: number): number {
  return prefixLength > matched
    ? keyHeadAmong(keys[keys.length - 1]!, prefixLength, key, matched)
    : keyHead(key, prefixLength)
}

/**
 * As {@link headIn}, for a key to be added: shortens the common prefix if the key does not have it.
 */
export function headForInsert(node: TreeNode, key: string, matched: number): number {
  const { keys, prefixLength } = node
  const last = keys.length - 1
  if (last < (node.children === null ? 0 : 1)) setPrefixLength(node, key.length)
  else if (prefixLength > matched) {
    const common = commonKeyLength(keys[last]!, key)
    if (common < prefixLength) setPrefixLength(node, common)
  }
  return keyHead(key, node.prefixLength)
}

/**
 * Length of the prefix that a key shares with all keys below the child that contains it. Between
 * two bounds of the node, every key has the prefix of both.
 */
export function matchedBelow({ keys, prefixLength }: TreeNode, at: number, matched: number): number {
  return at > 0 && at < keys.length - 1 && prefixLength > matched ? prefixLength : matched
}

/**
 * Position of the first key at or above `key` among the first `count`; `count` if there is none.
 * @param head from {@link headIn}
 */
export function lowerBound({ keys, heads }: TreeNode, key: string, head: number, count: number): number {
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

export function childPosition(node: TreeNode, key: string, matched: number): number {
  const { keys, heads } = node
  if (keys.length < 2) return 0
  const head = headIn(node, key, matched)
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

/**
 * Shifts each list separately: in a generic function over lists, the engine would box the numbers.
 */
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

/** `splice` would allocate an array of removed elements for each list. */
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

export function insertChild(node: TreeNode, at: number, bound: string, child: TreeNode): void {
  const head = headForInsert(node, bound, 0)
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
