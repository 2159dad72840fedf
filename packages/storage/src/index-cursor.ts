/** Pull cursor over a half-open range of one index. */
import { childOf, firstNotBelow, headOf, type TreeNode } from './tree/tree-node.js'

export class IndexCursor {
  /** The nodes above the leaf, the root first, and which child of each is being read. */
  readonly #path: TreeNode[] = []
  readonly #positions: number[] = []
  readonly #step: 1 | -1
  /** Where the range ends: the first key behind it, or against the order the last one in it. */
  readonly #bound: string | undefined
  #leaf: TreeNode
  #at: number
  /** In this leaf every key lies in the range. */
  #isWithin = false
  /** The key last pulled; a non-unique index appends the record id. */
  key = ''

  /** Keys from `from` on and below `to`; absent bounds are open. */
  constructor(root: TreeNode, from: string | undefined, to: string | undefined, reverse: boolean) {
    this.#step = reverse ? -1 : 1
    this.#bound = reverse ? from : to
    const start = reverse ? to : from
    let node = root
    for (; node.children !== null;) {
      const at = start === undefined ? (reverse ? node.keys.length - 1 : 0) : childOf(node, start)
      this.#path.push(node)
      this.#positions.push(at)
      node = node.children[at]!
    }
    this.#leaf = node
    this.#at = start === undefined ? (reverse ? node.keys.length : 0) : firstNotBelow(node, start, headOf(start), node.keys.length)
    if (reverse) this.#at--
    this.#enter()
  }

  /** The next record id, or -1 at the end. Ids repeat when an index is multikey. */
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
    const path = this.#path
    const positions = this.#positions
    let level = path.length - 1
    for (; level >= 0; level--) {
      const at = positions[level]! + this.#step
      if (at >= 0 && at < path[level]!.keys.length) break
    }
    if (level < 0) return false
    positions[level]! += this.#step
    let node = path[level]!.children![positions[level]!]!
    for (level++; node.children !== null; level++) {
      path[level] = node
      positions[level] = this.#step === 1 ? 0 : node.keys.length - 1
      node = node.children[positions[level]!]!
    }
    this.#leaf = node
    this.#at = this.#step === 1 ? 0 : node.keys.length - 1
    this.#enter()
    return true
  }

  #enter(): void {
    const { keys } = this.#leaf
    const bound = this.#bound
    this.#isWithin = bound === undefined || (keys.length > 0 && (this.#step === 1 ? keys[keys.length - 1]! < bound : keys[0]! >= bound))
  }

  *[Symbol.iterator](): Generator<number, void, void> {
    for (let recordId = this.next(); recordId >= 0; recordId = this.next()) yield recordId
  }
}
