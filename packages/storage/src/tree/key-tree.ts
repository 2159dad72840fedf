/**
 * An ordered map from KeyStrings to record ids: a B+ tree whose clones share nodes and copy those
 * they write to. See decision 0019.
 */
import { insertRun, buildRoot, type KeyRun } from './insert-run.js'
import { IndexCursor } from './index-cursor.js'
import { addKey } from './add-key.js'
import {
  matchedBelow,
  childPosition,
  emptyLeaf,
  lowerBound,
  headIn,
  nodeSizeMax,
  nodeSizeMin,
  removeEntry,
  setPrefixLength,
  withDistinctHeads,
  writable,
  type TreeNode,
} from './tree-node.js'

export type { KeyRun }

/**
 * A run smaller than this fraction of the tree reaches no leaf twice, so adding single keys is
 * cheaper.
 */
const sparsePart = 64

export class KeyTree {
  #owner: object = {}
  #root: TreeNode = emptyLeaf(this.#owner)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: string): number | undefined {
    let node = this.#root
    let matched = 0
    while (node.children !== null) {
      const at = childPosition(node, key, matched)
      matched = matchedBelow(node, at, matched)
      node = node.children[at]!
    }
    const at = lowerBound(node, key, headIn(node, key, matched), node.keys.length)
    return node.keys[at] === key ? node.values[at] : undefined
  }

  /** The key must not be in the tree. */
  add(key: string, value: number): void {
    const owner = this.#owner
    const root = writable(this.#root, owner)
    const sibling = addKey(root, owner, key, value, 0)
    this.#root = sibling === null ? root : buildRoot([root, sibling], owner)
    this.#size++
  }

  addRun(run: KeyRun): void {
    const { keys, values } = run
    if (keys.length * sparsePart < this.#size) {
      for (let i = 0; i < keys.length; i++) this.add(keys[i]!, values[i]!)
      return
    }
    if (keys.length === 0) return
    const owner = this.#owner
    const root = writable(this.#root, owner)
    const siblings = insertRun(root, owner, run, 0, keys.length)
    this.#root = siblings === null ? root : buildRoot([root, ...siblings], owner)
    this.#size += keys.length
  }

  /** @returns false: the key was not in the tree */
  delete(key: string): boolean {
    let root = this.#without(this.#root, key, 0)
    if (root === null) return false
    while (root.children !== null && root.children.length === 1) root = root.children[0]!
    this.#root = root.keys.length === 0 ? emptyLeaf(this.#owner) : root
    this.#size--
    return true
  }

  clone(): KeyTree {
    const copy = new KeyTree()
    copy.#root = this.#root
    copy.#size = this.#size
    this.#owner = {}
    return copy
  }

  /**
   * Keys at or above `from` and below `to`; undefined: unbounded. The tree must not change during
   * the scan.
   */
  scan(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor {
    return new IndexCursor(this.#root, from, to, reverse)
  }

  #without(node: TreeNode, key: string, matched: number): TreeNode | null {
    if (node.children === null) {
      const at = lowerBound(node, key, headIn(node, key, matched), node.keys.length)
      if (node.keys[at] !== key) return null
      const leaf = writable(node, this.#owner)
      removeEntry(leaf, at)
      return leaf
    }
    const at = childPosition(node, key, matched)
    const child = this.#without(node.children[at]!, key, matchedBelow(node, at, matched))
    if (child === null) return null
    const into = writable(node, this.#owner)
    const { keys, heads } = into
    const children = into.children!
    children[at] = child
    if (child.keys.length === 0) {
      keys.splice(at, 1)
      heads.splice(at, 1)
      children.splice(at, 1)
    } else if (child.keys.length < nodeSizeMin) {
      const left = at > 0 ? at - 1 : at
      if (
        left + 1 < children.length &&
        children[left]!.keys.length + children[left + 1]!.keys.length <= nodeSizeMax / 2
      )
        this.#mergeChildren(into, left)
    }
    return into
  }

  #mergeChildren({ keys, heads, children }: TreeNode, left: number): void {
    const into = writable(children![left]!, this.#owner)
    const { keys: moved, values, children: below } = children![left + 1]!
    // The first bound of an inner node is unused and may be wrong, but within another node it must
    // be the parent's.
    into.keys.push(below === null ? moved[0]! : keys[left + 1]!, ...moved.slice(1))
    if (below === null) into.values.push(...values)
    else into.children!.push(...below)
    setPrefixLength(into, 0)
    children![left] = withDistinctHeads(into)
    keys.splice(left + 1, 1)
    heads.splice(left + 1, 1)
    children!.splice(left + 1, 1)
  }
}
