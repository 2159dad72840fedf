import { matchedBelow, childPosition, lowerBound, headIn, type TreeNode } from './tree-node.js'

interface Path {
  /** The nodes above the leaf, the root first. */
  readonly nodes: TreeNode[]
  readonly positions: number[]
}

export interface KeyCursor {
  /** The next record id; -1 at the end. Ids repeat if the index is multikey. */
  next(): number
  /** In a non-unique index it ends in the record id. */
  readonly key: string
  [Symbol.iterator](): Generator<number, void, void>
}

export class IndexCursor implements KeyCursor {
  readonly #root: TreeNode
  /** Undefined: at an end of the tree. */
  readonly #start: string | undefined
  readonly #step: 1 | -1
  /** Forwards the first key after the range, backwards its last key. Undefined: unbounded. */
  readonly #bound: string | undefined
  /** Null in the first leaf, which most scans do not leave. */
  #path: Path | null = null
  #leaf: TreeNode
  #at: number
  /** Whether the range contains all of the leaf that remains. */
  #isWithin = false
  key = ''

  /** Keys at or above `from` and below `to`; undefined: unbounded. */
  constructor(root: TreeNode, from: string | undefined, to: string | undefined, reverse: boolean) {
    const start = reverse ? to : from
    this.#root = root
    this.#start = start
    this.#step = reverse ? -1 : 1
    this.#bound = reverse ? from : to
    let leaf = root
    let matched = 0
    while (leaf.children !== null) {
      const at = this.#childPosition(leaf, matched)
      matched = matchedBelow(leaf, at, matched)
      leaf = leaf.children[at]!
    }
    this.#leaf = leaf
    const { length } = leaf.keys
    this.#at =
      start === undefined ? (reverse ? length : 0) : lowerBound(leaf, start, headIn(leaf, start, matched), length)
    if (reverse) this.#at--
    this.#enter()
  }

  next(): number {
    for (;;) {
      const { keys } = this.#leaf
      const at = this.#at
      if (at >= 0 && at < keys.length) {
        const key = keys[at]!
        if (!this.#isWithin && (this.#step === 1 ? key >= this.#bound! : key < this.#bound!)) return -1
        this.key = key
        this.#at = at + this.#step
        return this.#leaf.values[at]!
      }
      if (!this.#toNextLeaf()) return -1
    }
  }

  #toNextLeaf(): boolean {
    const { nodes, positions } = (this.#path ??= this.#pathToFirstLeaf())
    let level = nodes.length - 1
    for (; level >= 0; level--) {
      const at = positions[level]! + this.#step
      if (at >= 0 && at < nodes[level]!.keys.length) break
    }
    if (level < 0) return false
    positions[level]! += this.#step
    let node = nodes[level]!.children![positions[level]!]!
    for (level++; node.children !== null; level++) {
      nodes[level] = node
      positions[level] = this.#step === 1 ? 0 : node.keys.length - 1
      node = node.children[positions[level]!]!
    }
    this.#leaf = node
    this.#at = this.#step === 1 ? 0 : node.keys.length - 1
    this.#enter()
    return true
  }

  #pathToFirstLeaf(): Path {
    const path: Path = { nodes: [], positions: [] }
    let node = this.#root
    for (let matched = 0; node.children !== null;) {
      const at = this.#childPosition(node, matched)
      path.nodes.push(node)
      path.positions.push(at)
      matched = matchedBelow(node, at, matched)
      node = node.children[at]!
    }
    return path
  }

  #childPosition(node: TreeNode, matched: number): number {
    const start = this.#start
    if (start !== undefined) return childPosition(node, start, matched)
    return this.#step === 1 ? 0 : node.keys.length - 1
  }

  #enter(): void {
    const { keys } = this.#leaf
    const bound = this.#bound
    this.#isWithin =
      bound === undefined ||
      (keys.length > 0 && (this.#step === 1 ? keys[keys.length - 1]! < bound : keys[0]! >= bound))
  }

  *[Symbol.iterator](): Generator<number, void, void> {
    for (let recordId = this.next(); recordId >= 0; recordId = this.next()) yield recordId
  }
}
