/**
 * An ordered map from KeyStrings to record ids: a B+ tree whose clones share nodes and copy those they write to. See decision 0019.
 */
import { insertRun, rootOver, type KeyRun } from './insert-run.js'
import { IndexCursor } from '../index-cursor.js'
import { addKey } from './add-key.js'
import {
  alikeIn,
  childOf,
  emptyLeaf,
  firstNotBelow,
  headIn,
  nodeSizeMax,
  nodeSizeMin,
  removeEntry,
  setShared,
  told,
  writable,
  type TreeNode,
} from './tree-node.js'

export type { KeyRun }

/** A run of fewer keys than this part of the tree meets no leaf twice: one by one costs less. */
const sparsePart = 64

export class KeyTree {
  #owner: object = {}
  #root: TreeNode = emptyLeaf(this.#owner)
  #size = 0

  /** Number of keys. */
  get size(): number {
    return this.#size
  }

  get(key: string): number | undefined {
    let node = this.#root
    let alike = 0
    while (node.children !== null) {
      const at = childOf(node, key, alike)
      alike = alikeIn(node, at, alike)
      node = node.children[at]!
    }
    const at = firstNotBelow(node, key, headIn(node, key, alike), node.keys.length)
    return node.keys[at] === key ? node.values[at] : undefined
  }

  /** Adds a key that is not in the tree. */
  add(key: string, value: number): void {
    const owner = this.#owner
    const root = writable(this.#root, owner)
    const behind = addKey(root, owner, key, value, 0)
    this.#root = behind === null ? root : rootOver([root, behind], owner)
    this.#size++
  }

  /** Adds many ascending keys, each of them once and none in the tree. */
  addRun(run: KeyRun): void {
    const { keys, values } = run
    if (keys.length * sparsePart < this.#size) {
      for (let i = 0; i < keys.length; i++) this.add(keys[i]!, values[i]!)
      return
    }
    if (keys.length === 0) return
    const owner = this.#owner
    const root = writable(this.#root, owner)
    const behind = insertRun(root, owner, run, 0, keys.length)
    this.#root = behind === null ? root : rootOver([root, ...behind], owner)
    this.#size += keys.length
  }

  /** @returns whether the key was in the tree */
  delete(key: string): boolean {
    let root = this.#without(this.#root, key, 0)
    if (root === null) return false
    while (root.children !== null && root.children.length === 1) root = root.children[0]!
    this.#root = root.keys.length === 0 ? emptyLeaf(this.#owner) : root
    this.#size--
    return true
  }

  /** A second tree with the same keys; both may be written without the other seeing it. */
  clone(): KeyTree {
    const copy = new KeyTree()
    copy.#root = this.#root
    copy.#size = this.#size
    this.#owner = {}
    return copy
  }

  /** Cursor over keys from `from` on and below `to`; absent bounds are open. The tree must not be written meanwhile. */
  scan(from: string | undefined, to: string | undefined, reverse: boolean): IndexCursor {
    return new IndexCursor(this.#root, from, to, reverse)
  }

  /** The node without a key; null: the key is not below it. */
  #without(node: TreeNode, key: string, alike: number): TreeNode | null {
    if (node.children === null) {
      const at = firstNotBelow(node, key, headIn(node, key, alike), node.keys.length)
      if (node.keys[at] !== key) return null
      const leaf = writable(node, this.#owner)
      removeEntry(leaf, at)
      return leaf
    }
    const at = childOf(node, key, alike)
    const child = this.#without(node.children[at]!, key, alikeIn(node, at, alike))
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
        this.#join(into, left)
    }
    return into
  }

  /** Puts a child and the one behind it into one node. */
  #join({ keys, heads, children }: TreeNode, left: number): void {
    const into = writable(children![left]!, this.#owner)
    const { keys: moved, values, children: below } = children![left + 1]!
    // What bounded nothing while it stood first does now.
    into.keys.push(below === null ? moved[0]! : keys[left + 1]!, ...moved.slice(1))
    if (below === null) into.values.push(...values)
    else into.children!.push(...below)
    setShared(into, 0)
    children![left] = told(into)
    keys.splice(left + 1, 1)
    heads.splice(left + 1, 1)
    children!.splice(left + 1, 1)
  }
}
