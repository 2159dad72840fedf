/**
 * The tuples that an ordered index stores for a document: an array gives one for each of its
 * elements. Server: index/btree_key_generator.cpp.
 */
import { BsonType, CommandError, FieldIterator, findField, nullValue, RawValue, undefinedValue } from '@shardlab/bson'
import type { FieldPath, PathPart } from './field-path.js'

export type KeyTuple = readonly (RawValue | undefined)[]

interface Pending {
  readonly index: number
  /** The parts that remain. */
  readonly parts: readonly PathPart[]
}

interface Target {
  readonly parallel: () => Error
  readonly tuples: KeyTuple[]
}

/**
 * The tuples have the arrays' order and may repeat; `undefined` is a missing value. An empty array
 * at the end of a path counts as the BSON value undefined.
 * @throws CommandError CannotIndexParallelArrays (171), or the error of `parallel`, when two
 *   paths reach different arrays
 */
export function keyTuplesOf(document: Uint8Array, paths: readonly FieldPath[], parallel?: () => Error): KeyTuple[] {
  const target: Target = {
    parallel: parallel ?? (() => new CommandError('CannotIndexParallelArrays', parallelMessage(document, paths))),
    tuples: [],
  }
  const pending = paths.map(({ parts }, index) => ({ index, parts }))
  expand(
    new RawValue(BsonType.object, document, 0, document.length),
    pending,
    new Array<RawValue | undefined>(paths.length).fill(undefined),
    target,
  )
  return target.tuples
}

function parallelMessage(document: Uint8Array, paths: readonly FieldPath[]): string {
  const arrays = paths
    .filter(({ parts }) => findField(document, parts[0]!.name)?.type === BsonType.array)
    .map(({ parts }) => parts[0]!.name)
  return `cannot index parallel arrays ${arrays
    .slice(0, 2)
    .reverse()
    .map((name) => `[${name}]`)
    .join(' ')}`
}

/** Walks every pending path up to the first array, then expands the array's elements. */
function expand(object: RawValue, pending: readonly Pending[], values: (RawValue | undefined)[], target: Target): void {
  let array: RawValue | undefined
  const stopped: Pending[] = []
  for (const { index, parts } of pending) {
    const stop = walk(object, parts)
    if (stop.value?.type !== BsonType.array) {
      values[index] = stop.parts.length === 0 ? stop.value : undefined
      continue
    }
    if (array !== undefined && array.start !== stop.value.start) throw target.parallel()
    array = stop.value
    stopped.push({ index, parts: stop.parts })
  }
  if (array === undefined) target.tuples.push(values)
  else expandArray(array, stopped, values, target)
}

function walk(
  object: RawValue,
  parts: readonly PathPart[],
): { value: RawValue | undefined; parts: readonly PathPart[] } {
  let value: RawValue | undefined = object
  for (let i = 0; i < parts.length; i++) {
    value = findField(value.bytes, parts[i]!.name, value.start)
    if (value === undefined) return { value: undefined, parts: parts.slice(i + 1) }
    if (value.type === BsonType.array) return { value, parts: parts.slice(i + 1) }
    if (value.type !== BsonType.object && i < parts.length - 1) return { value: undefined, parts: parts.slice(i + 1) }
  }
  return { value, parts: [] }
}

function expandArray(
  array: RawValue,
  stopped: readonly Pending[],
  values: (RawValue | undefined)[],
  target: Target,
): void {
  // If the next part is a number, it is an index in this array for every path.
  const positional = stopped.filter(({ parts }) => parts[0]?.isIndex)
  const others = stopped.filter((pending) => !positional.includes(pending))
  for (const { index, parts } of positional) {
    const element = findField(array.bytes, parts[0]!.name, array.start)
    if (element === undefined || parts.length === 1) values[index] = element
    else if (element.type === BsonType.object || element.type === BsonType.array) {
      const inner: KeyTuple[] = []
      const holder = new Array<RawValue | undefined>(1).fill(undefined)
      if (element.type === BsonType.object)
        expand(element, [{ index: 0, parts: parts.slice(1) }], holder, { ...target, tuples: inner })
      else expandArray(element, [{ index: 0, parts: parts.slice(1) }], holder, { ...target, tuples: inner })
      if (inner.length > 1) {
        // Several values below one array index: expand this path alone.
        for (const tuple of inner) expandRest(array, others, values.with(index, tuple[0]), target)
        return
      }
      values[index] = inner[0]?.[0]
    } else values[index] = undefined
  }
  expandRest(array, others, values, target)
}

function expandRest(
  array: RawValue,
  stopped: readonly Pending[],
  values: (RawValue | undefined)[],
  target: Target,
): void {
  if (stopped.length === 0) {
    target.tuples.push(values)
    return
  }
  let count = 0
  for (const it = new FieldIterator(array.bytes, array.start); it.next(); count++) {
    const at = it.value()
    const tuple = values.slice()
    const deeper: Pending[] = []
    for (const pending of stopped) {
      if (pending.parts.length === 0) tuple[pending.index] = at
      else if (at.type === BsonType.object) deeper.push(pending)
      else tuple[pending.index] = undefined
    }
    if (deeper.length > 0) expand(at, deeper, tuple, target)
    else target.tuples.push(tuple)
  }
  if (count === 0) {
    const tuple = values.slice()
    for (const { index, parts } of stopped) tuple[index] = parts.length === 0 ? undefinedValue : nullValue
    target.tuples.push(tuple)
  }
}
