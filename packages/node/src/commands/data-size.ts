import type { CommandRow } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  isEmptyDocument,
  keyStringOfDocument,
} from '@shardlab/bson'
import type { Collection, Index } from '@shardlab/storage'
import { dataSizeSpec, namespaceArgument } from '@shardlab/member'
import { catchUpKeys } from '../read/catch-up-keys.js'
import { readInTurns, type SteppedWork } from '../read/in-turns.js'
import { sizesOf, type KeyBounds } from '../statistics/collection-sizes.js'
import type { NodeInvocation } from '../host/node-host.js'

export const dataSize: CommandRow<NodeInvocation> = {
  ...dataSizeSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Returns the number and size of the documents of a collection or of a key range.',
  async run(invocation) {
    const { args, host, operation } = invocation
    const ns = namespaceArgument(args)
    await catchUpKeys(host, operation, host.collection(ns))
    await host.role.enter(ns, invocation)
    const startedAtMs = host.context.now()
    const min = nonEmptyDocument(args.document('min'))
    const max = nonEmptyDocument(args.document('max'))
    if ((min === null) !== (max === null)) throw new CommandError('BadValue', 'Only one of min or max specified')
    const collection = host.collection(ns)?.snapshot()
    const estimate = args.bool('estimate') ?? false
    const whole = collection === undefined ? null : sizesOf(host, collection)
    if (collection === undefined || whole === null || whole.count === 0)
      return reply(0, 0, startedAtMs, host.context.now())
    if (min === null && estimate) return reply(whole.dataSizeBytes, whole.count, startedAtMs, host.context.now(), true)
    const averageBytes = Math.floor(whole.dataSizeBytes / whole.count)
    const sizeMax = args.number('maxSize') ?? 0
    const objectsMax = args.number('maxObjects') ?? 0
    const range =
      min === null || max === null ? null : rangeOf(collection, nonEmptyDocument(args.document('keyPattern')), min, max)
    const reported = host.role.sizesOf?.(collection, range) ?? null
    if (reported !== null) {
      // A scan would stop at the first document beyond a limit, so this is the largest count
      // reported.
      const countMax = Math.min(
        sizeMax > 0 ? Math.floor(sizeMax / averageBytes) + 1 : Infinity,
        objectsMax > 0 ? objectsMax + 1 : Infinity,
      )
      const nowMs = host.context.now()
      if (reported.count >= countMax)
        return reply(countMax * averageBytes, countMax, startedAtMs, nowMs, estimate).bool('maxReached', true)
      return reply(reported.dataSizeBytes, reported.count, startedAtMs, nowMs, estimate)
    }
    const work = measure(documentsBetween(collection, range), {
      documentBytes: estimate ? averageBytes : null,
      ...{ sizeMax, objectsMax },
    })
    const { size, objects, isLarger } = await readInTurns(invocation, work)
    const writer = reply(size, objects, startedAtMs, host.context.now(), estimate)
    return isLarger ? writer.bool('maxReached', true) : writer
  },
}

interface Measuring {
  /** Counted for each document; null: its size. */
  readonly documentBytes: number | null
  /** 0: no limit. */
  readonly sizeMax: number
  readonly objectsMax: number
}

/** Ends with the first document beyond a limit. */
function* measure(
  documents: Iterable<Uint8Array>,
  { documentBytes, sizeMax, objectsMax }: Measuring,
): SteppedWork<{ size: number; objects: number; isLarger: boolean }> {
  let size = 0
  let objects = 0
  for (const document of documents) {
    size += documentBytes ?? document.length
    objects++
    if ((sizeMax > 0 && size > sizeMax) || (objectsMax > 0 && objects > objectsMax))
      return { size, objects, isLarger: true }
    yield
  }
  return { size, objects, isLarger: false }
}

function nonEmptyDocument(document: Uint8Array | undefined): Uint8Array | null {
  return document === undefined || isEmptyDocument(document) ? null : document
}

/** @param estimate undefined: the reply has no such field */
function reply(size: number, objects: number, startedAtMs: number, nowMs: number, estimate?: boolean): DocumentWriter {
  const writer = new DocumentWriter(192)
    .int64('size', size)
    .int64('numObjects', objects)
    .int64('millis', nowMs - startedAtMs)
  return estimate === undefined ? writer : writer.bool('estimate', estimate)
}

interface IndexRange extends KeyBounds {
  readonly index: Index
}

function rangeOf(collection: Collection, keyPattern: Uint8Array | null, min: Uint8Array, max: Uint8Array): IndexRange {
  const pattern = keyPattern === null ? fieldNames(min).map((name) => [name, null] as const) : patternOf(keyPattern)
  const index = collection.indexes().find((each) => canScan(each, pattern))
  if (index === undefined) throw new CommandError('OperationFailed', "Couldn't find valid index containing key pattern")
  return { index, min, max }
}

function* documentsBetween(collection: Collection, range: IndexRange | null): Generator<Uint8Array> {
  if (range === null) {
    const scan = collection.scan()
    for (let record = scan.next(); record !== null; record = scan.next()) yield record.document
    return
  }
  const { index, min, max } = range
  const descending = index.pattern.map(({ direction }) => direction === -1).slice(0, fieldNames(min).length)
  const cursor = index.seek({
    low: keyStringOfDocument(min, descending),
    lowInclusive: true,
    high: keyStringOfDocument(max, descending),
    highInclusive: false,
  })
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
    const record = collection.get(recordId)
    if (record !== undefined) yield record.document
  }
}

/** Paths with their direction; null: either direction. */
type WantedPattern = readonly (readonly [path: string, direction: number | string | null])[]

function patternOf(keyPattern: Uint8Array): WantedPattern {
  return fieldNames(keyPattern).map((name) => {
    const value = findField(keyPattern, name)!
    return [name, value.type === BsonType.string ? value.asString() : value.asNumber() < 0 ? -1 : 1] as const
  })
}

function canScan(index: Index, wanted: WantedPattern): boolean {
  if (index.multikey || index.sparse || index.partialFilter !== null) return false
  return wanted.every(([path, direction], i) => {
    const field = index.pattern[i]
    return field !== undefined && field.path === path && (direction === null || field.direction === direction)
  })
}

function fieldNames(document: Uint8Array): string[] {
  const names: string[] = []
  for (const it = new FieldIterator(document); it.next();) names.push(it.name())
  return names
}
