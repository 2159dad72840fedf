/** Server: v2_log_builder.cpp, and `logUpdate` of the nodes in update/. */
import { BsonType, documentValue, elementsOf, findField, nullValue, type RawValue } from '@shardlab/bson'
import { identical } from '../../values/build.js'
import type { Leaf } from '../modifier.js'
import type { Step } from '../top-level.js'
import type { UpdatePart } from '../update-path.js'
import { ArrayDiff, encodeDiff, ObjectDiff, type Diff } from './diff-tree.js'

/** The paths of an update as a tree. */
class PathNode {
  /** Null: the path of no modifier ends here. */
  leaf: Leaf | null = null
  /**
   * Several modifiers end here or below. Their positional parts select different elements, which
   * this tree does not distinguish.
   */
  isShared = false
  readonly named = new Map<string, PathNode>()
  /** All elements: `$`, `$[]` and `$[id]`. */
  elements: PathNode | null = null

  child(part: UpdatePart): PathNode {
    if (part.kind !== 'field') return (this.elements ??= new PathNode())
    const found = this.named.get(part.name)
    if (found !== undefined) return found
    const made = new PathNode()
    this.named.set(part.name, made)
    return made
  }

  get hasChildren(): boolean {
    return this.named.size > 0 || this.elements !== null
  }
}

/**
 * How the oplog tells an update by modifiers: the values at the paths that they name, where those
 * have changed. A value that a modifier sets is told as a whole.
 */
export class ModifierDiff {
  readonly #root = new PathNode()

  constructor(steps: readonly Step[]) {
    for (const { path, leaf } of steps) {
      let node = this.#root
      for (const part of path.parts) {
        node = node.child(part)
        if (node.leaf !== null) node.isShared = true
      }
      if (node.hasChildren) node.isShared = true
      node.leaf = leaf
    }
  }

  /** The documents must differ. Null: only the whole document tells the change. */
  of(before: Uint8Array, after: Uint8Array): Uint8Array | null {
    const diff = inObject(this.#root, documentValue(before), documentValue(after))
    return diff === null ? null : encodeDiff(diff)
  }
}

/**
 * In the order of the paths, as the server applies them. Null: one of two fields with the same name
 * was removed.
 */
function inObject(paths: PathNode, before: RawValue, after: RawValue): ObjectDiff | null {
  const diff = new ObjectDiff()
  for (const [name, node] of paths.named) {
    const was = findField(before.bytes, name, before.start)
    const now = findField(after.bytes, name, after.start)
    if (now === undefined) {
      if (was !== undefined) diff.deleted.push(name)
    } else if (was === undefined) diff.inserted.push([name, now])
    else if (node.leaf?.removes === true) return null
    else if (!identical(was, now)) {
      const nested = nestedDiff(node, was, now)
      if (nested === null) diff.updated.push([name, now])
      else diff.changed.push([name, nested])
    }
  }
  return diff
}

function inArray(paths: PathNode, before: RawValue, after: RawValue): ArrayDiff {
  const diff = new ArrayDiff()
  const [old, now] = [elementsOf(before), elementsOf(after)]
  for (const [index, value] of now.entries()) {
    const was = old[index]
    if (was !== undefined && identical(was, value)) continue
    const named = paths.named.get(String(index))
    const node = named ?? paths.elements
    // Applying the entry fills the array with nulls up to a new element.
    if (was === undefined && node === null && value.type === nullValue.type) continue
    const isPlain = named === undefined || paths.elements === null
    const nested = was === undefined || node === null || !isPlain ? null : nestedDiff(node, was, value)
    diff.elements.push([index, nested ?? value])
  }
  return diff
}

/** @returns null: the value is told as a whole */
function nestedDiff(paths: PathNode, before: RawValue, after: RawValue): Diff | null {
  if (before.type !== after.type) return null
  if (paths.isShared) return null
  if (paths.leaf !== null) return appended(paths.leaf, before, after)
  if (after.type === BsonType.array) return inArray(paths, before, after)
  return after.type === BsonType.object ? inObject(paths, before, after) : null
}

function appended(leaf: Leaf, before: RawValue, after: RawValue): ArrayDiff | null {
  if (leaf.appendsTo === undefined || after.type !== BsonType.array) return null
  const [old, now] = [elementsOf(before), elementsOf(after)]
  if (!leaf.appendsTo(old.length)) return null
  const diff = new ArrayDiff()
  for (const [index, value] of now.entries()) if (index >= old.length) diff.elements.push([index, value])
  return diff
}
