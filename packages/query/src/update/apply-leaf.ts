import {
  BsonType,
  CommandError,
  documentValue,
  DocumentWriter,
  elementsOf,
  findField,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import type { Filter } from '../filter/compile.js'
import { newestLanguage } from '../language/language.js'
import { formatField } from '../values/format.js'
import { TreeNode } from './document-tree.js'
import { keepValue, removeValue, type Leaf, type LeafContext } from './modifier.js'
import { checkStoredField } from './stored-names.js'
import type { UpdatePart, UpdatePath } from './update-path.js'

export interface ApplyContext extends Omit<LeafContext, 'path'> {
  /** @throws CommandError BadValue when the query matched no array element */
  matchedPosition(): number
  readonly arrayFilters: ReadonlyMap<string, Filter>
  /** Null: the paths have no positional parts that could conflict. */
  readonly reached: ReachedPaths | null
}

/** Detects two leaves that reach the same element by different positional parts. */
export class ReachedPaths {
  readonly #kinds = new Map<string, 'leaf' | 'inner'>()

  /**
   * @param last 'inner': the path continues after these names
   * @throws CommandError ConflictingUpdateOperators (40)
   */
  add(names: readonly string[], last: 'leaf' | 'inner' = 'leaf'): void {
    for (let length = 1; length <= names.length; length++) {
      const prefix = names.slice(0, length).join('.')
      const kind = length === names.length ? last : 'inner'
      const before = this.#kinds.get(prefix)
      if (before !== undefined && (before === 'leaf' || kind === 'leaf'))
        throw new CommandError('ConflictingUpdateOperators', `Update created a conflict at '${prefix}'`)
      this.#kinds.set(prefix, kind)
    }
  }
}

/** The server's limit for filling an array with nulls beyond its end. */
const maxFill = 1_500_000

const filler = TreeNode.of(nullValue)

/** @returns whether anything has changed */
export function applyLeaf(root: TreeNode, path: UpdatePath, leaf: Leaf, context: ApplyContext): boolean {
  return leaf.isNeeded?.(context.original) !== false && applyIn(root, path, 0, [], leaf, context)
}

function applyIn(
  container: TreeNode,
  path: UpdatePath,
  at: number,
  resolved: readonly string[],
  leaf: Leaf,
  context: ApplyContext,
): boolean {
  const part = path.parts[at]!
  if (part.kind === 'elements') return applyToElements(container, part, path, at, resolved, leaf, context)
  const position = part.kind === 'matched' ? context.matchedPosition() : part.index
  const name = part.kind === 'matched' ? String(position) : part.name
  if (container.isArray) {
    if (position === null) return applyToBlocked(container, path, at, resolved, leaf, context)
    return applyAt(
      container,
      container.at(position),
      (node) => setElement(container, position, node),
      () => container.setAt(position, filler, filler),
      path,
      at,
      [...resolved, name],
      leaf,
      context,
    )
  }
  if (!container.isObject) return applyToBlocked(container, path, at, resolved, leaf, context)
  return applyAt(
    container,
    container.get(name),
    (node) => container.set(name, node),
    () => container.remove(name),
    path,
    at,
    [...resolved, name],
    leaf,
    context,
  )
}

function setElement(array: TreeNode, position: number, node: TreeNode): void {
  if (position - array.length > maxFill)
    throw new CommandError('CannotBackfillArray', `can't backfill more than ${maxFill} elements`)
  array.setAt(position, node, filler)
}

function applyAt(
  container: TreeNode,
  child: TreeNode | undefined,
  set: (node: TreeNode) => void,
  remove: () => void,
  path: UpdatePath,
  at: number,
  resolved: readonly string[],
  leaf: Leaf,
  context: ApplyContext,
): boolean {
  if (at < path.parts.length - 1) {
    if (child !== undefined) {
      const changed = applyIn(child, path, at + 1, resolved, leaf, context)
      if (changed) container.touch()
      return changed
    }
    const names = unreached(path, at + 1, resolved, context)
    if (!leaf.createsPath) {
      context.reached?.add(names)
      return false
    }
    const made = TreeNode.emptyObject()
    const changed = applyIn(made, path, at + 1, resolved, leaf, context)
    if (!changed) return false
    checkStoredField(resolved, made.toRaw(), context.isInsert, context.evaluation)
    set(made)
    return true
  }
  context.reached?.add(resolved)
  const result = leaf.apply(child?.toRaw(), { ...context, path: resolved.join('.') })
  if (result === keepValue) return false
  if (result === removeValue) remove()
  else {
    checkStoredField(resolved, result, context.isInsert, context.evaluation)
    set(TreeNode.of(result))
  }
  return true
}

function applyToElements(
  container: TreeNode,
  part: Extract<UpdatePart, { kind: 'elements' }>,
  path: UpdatePath,
  at: number,
  resolved: readonly string[],
  leaf: Leaf,
  context: ApplyContext,
): boolean {
  if (!container.isArray) {
    throw new CommandError(
      'BadValue',
      `Cannot apply array updates to non-array element ${formatField(resolved.at(-1) ?? '', container.toRaw())}`,
    )
  }
  context.reached?.add(resolved, 'inner')
  const filter = part.filter === null ? null : context.arrayFilters.get(part.filter)!
  // Filters test the elements as they were before this update.
  const originals = filter === null ? [] : originalElements(context.original, resolved)
  let changed = false
  for (let index = 0; index < container.length; index++) {
    const element = container.at(index)!
    if (filter !== null && !matchesElement(filter, part.filter!, originals[index] ?? element.toRaw())) continue
    const set = (node: TreeNode) => container.setAt(index, node, filler)
    if (applyAt(container, element, set, () => set(filler), path, at, [...resolved, String(index)], leaf, context))
      changed = true
  }
  return changed
}

/** `container` cannot contain the next part of the path. */
function applyToBlocked(
  container: TreeNode,
  path: UpdatePath,
  at: number,
  resolved: readonly string[],
  leaf: Leaf,
  context: ApplyContext,
): false {
  const names = unreached(path, at, resolved, context)
  const element = `{${formatField(resolved.at(-1) ?? '', container.toRaw())}}`
  const { language = newestLanguage } = context.evaluation
  if (leaf.createsPath && language.blockedPathsNamePrefix)
    throw new CommandError(
      'PathNotViable',
      `cannot use the part (${names[at - 1]} of ${names.join('.')}) to traverse the element (${element})`,
    )
  if (leaf.createsPath)
    throw new CommandError('PathNotViable', `Cannot create field '${names[at]}' in element ${element}`)
  if (leaf.toleratesBlocked !== true)
    throw new CommandError(
      'PathNotViable',
      `Cannot use the part (${names[at]}) of (${names.join('.')}) to traverse the element (${element})`,
    )
  context.reached?.add(names)
  return false
}

/**
 * The names of a path whose parts from `at` on do not exist. The server checks them even for
 * operators that then change nothing.
 * @throws CommandError BadValue (2)
 */
function unreached(path: UpdatePath, at: number, resolved: readonly string[], context: ApplyContext): string[] {
  const names = resolved.slice(0, at)
  for (const part of path.parts.slice(at)) {
    if (part.kind === 'elements')
      throw new CommandError(
        'BadValue',
        `The path '${names.join('.')}' must exist in the document in order to apply array updates.`,
      )
    names.push(part.kind === 'matched' ? String(context.matchedPosition()) : part.name)
  }
  return names
}

function originalElements(document: Uint8Array, names: readonly string[]): readonly RawValue[] {
  let value: RawValue | undefined = documentValue(document)
  for (const name of names) {
    if (value?.type !== BsonType.object && value?.type !== BsonType.array) return []
    value = findField(value.bytes, name, value.start)
  }
  return value?.type === BsonType.array ? elementsOf(value) : []
}

/** An array filter tests the element as a field with the filter's name. */
function matchesElement(filter: Filter, name: string, element: RawValue): boolean {
  return filter.matches(new DocumentWriter(element.end - element.start + 32).value(name, element).finish())
}
