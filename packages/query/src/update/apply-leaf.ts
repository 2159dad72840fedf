/** Takes one modifier to its places in the document. */
import { CommandError, nullValue } from '@shardlab/bson'
import type { Filter } from '../filter/compile.js'
import { formatField } from '../values/format.js'
import { TreeNode } from './document-tree.js'
import { keepValue, removeValue, type Leaf, type LeafContext } from './modifier.js'
import type { UpdatePart, UpdatePath } from './update-path.js'

export interface ApplyContext extends Omit<LeafContext, 'path'> {
  /** Index for `$`. @throws CommandError BadValue when the query matched no array element */
  matchedPosition(): number
  readonly arrayFilters: ReadonlyMap<string, Filter>
}

/** How far beyond its end an array may be filled with nulls, as the server. */
const maxFill = 1_500_000

const filler = TreeNode.of(nullValue)

/** Returns whether anything has changed. */
export function applyLeaf(root: TreeNode, path: UpdatePath, leaf: Leaf, context: ApplyContext): boolean {
  return applyIn(root, path, 0, [], leaf, context)
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
    if (position === null) {
      if (!leaf.createsPath) return false
      throw notViable(name, resolved, container)
    }
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
  if (!container.isObject) {
    if (!leaf.createsPath) return false
    throw notViable(name, resolved, container)
  }
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
  if (position - array.length > maxFill) throw new CommandError('CannotBackfillArray', `can't backfill more than ${maxFill} elements`)
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
    if (!leaf.createsPath) return false
    const made = TreeNode.emptyObject()
    const changed = applyIn(made, path, at + 1, resolved, leaf, context)
    if (changed) set(made)
    return changed
  }
  const result = leaf.apply(child?.toRaw(), { ...context, path: resolved.join('.') })
  if (result === keepValue) return false
  if (result === removeValue) remove()
  else set(TreeNode.of(result))
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
    // A path that was just made is an empty object.
    const where = resolved.join('.')
    if (container.isObject && container.length === 0 && !pathExists(context.original, resolved))
      throw new CommandError('BadValue', `The path '${where}' must exist in the document in order to apply array updates.`)
    throw new CommandError(
      'BadValue',
      `Cannot apply array updates to non-array element ${formatField(resolved.at(-1) ?? '', container.toRaw())}`,
    )
  }
  const filter = part.filter === null ? null : context.arrayFilters.get(part.filter)!
  let changed = false
  for (let index = 0; index < container.length; index++) {
    const element = container.at(index)!
    if (filter !== null && !matchesElement(filter, part.filter!, element)) continue
    const set = (node: TreeNode) => container.setAt(index, node, filler)
    if (applyAt(container, element, set, () => set(filler), path, at, [...resolved, String(index)], leaf, context)) changed = true
  }
  return changed
}

function pathExists(document: Uint8Array, names: readonly string[]): boolean {
  let node: TreeNode | undefined = TreeNode.ofDocument(document)
  for (const name of names) {
    node = node.isObject ? node.get(name) : node.isArray ? node.at(Number(name)) : undefined
    if (node === undefined) return false
  }
  return true
}

/** Array filters speak of the element under the filter's name. */
function matchesElement(filter: Filter, name: string, element: TreeNode): boolean {
  const holder = TreeNode.emptyObject()
  holder.set(name, element)
  return filter.matches(holder.toDocument())
}

function notViable(name: string, resolved: readonly string[], container: TreeNode): CommandError {
  return new CommandError(
    'PathNotViable',
    `Cannot create field '${name}' in element {${formatField(resolved.at(-1) ?? '', container.toRaw())}}`,
  )
}
