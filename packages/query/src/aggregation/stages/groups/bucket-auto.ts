/** Buckets with about the same number of documents. Server: `document_source_bucket_auto.cpp`. */
import {
  BsonType,
  CommandError,
  compareValues,
  DocumentWriter,
  FieldIterator,
  nullValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { exactInteger, toNumber } from '../../../values/arithmetic.js'
import { formatEvaluated, formatValue } from '../../../values/format.js'
import { ValueList } from '../../../values/value-store.js'
import { RunSorter } from '../../../sort/run-sorter.js'
import { compileExpression, type DocumentExpression } from '../../expressions/compile.js'
import { granularityRounder, type GranularityRounder } from './granularity.js'
import { isExpression } from './bucket.js'
import { parseField } from './group.js'
import type { GroupField } from './groups.js'
import { sortMemoryError } from '../order.js'
import type { CompiledStage, StageContext, StageOperator } from '../stage.js'

interface Specification {
  readonly key: DocumentExpression
  readonly buckets: number
  /** Empty: the default, a `count`. */
  readonly fields: readonly GroupField[]
  readonly rounder: GranularityRounder | null
}

interface Entry {
  readonly key: RawValue
  readonly document: Uint8Array
  readonly position: number
}

/**
 * These get the documents in the order of the input; other accumulators in the order of the keys.
 */
const positional: ReadonlySet<string> = new Set(['$first', '$firstN', '$last', '$lastN', '$mergeObjects', '$push'])

function bucketCount(value: RawValue): number {
  if (!value.isNumber())
    throw new CommandError(
      40241,
      `The $bucketAuto 'buckets' field must be a numeric value, but found type: ${typeName(value.type)}`,
    )
  const count = exactInteger(value)
  if (count === null || BigInt.asIntN(32, count) !== count)
    throw new CommandError(
      40242,
      `The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found ${formatEvaluated(value)}`,
    )
  if (count <= 0n)
    throw new CommandError(40243, `The $bucketAuto 'buckets' field must be greater than 0, but found: ${count}`)
  return Number(count)
}

function outputFields(value: RawValue, context: StageContext): GroupField[] {
  if (value.type !== BsonType.object)
    throw new CommandError(
      40244,
      `The $bucketAuto 'output' field must be an object, but found type: ${typeName(value.type)}`,
    )
  const fields: GroupField[] = []
  for (const out = new FieldIterator(value.bytes, value.start); out.next();) {
    const field = parseField(out.name(), out.value(), context, false)
    if (field.readsGroupKey) throw new CommandError(4544714, "Can't refer to the group key in $bucketAuto")
    fields.push(field)
  }
  return fields
}

function roundingOf(value: RawValue): GranularityRounder {
  if (value.type !== BsonType.string)
    throw new CommandError(
      40261,
      `The $bucketAuto 'granularity' field must be a string, but found type: ${typeName(value.type)}`,
    )
  return granularityRounder(value.asString())
}

function parse(argument: RawValue, context: StageContext): Specification {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      40240,
      `The argument to $bucketAuto must be an object, but found type: ${typeName(argument.type)}`,
    )
  let groupBy: RawValue | null = null
  let buckets: number | null = null
  let fields: readonly GroupField[] = []
  let rounder: GranularityRounder | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const value = it.value()
    if (it.name() === 'groupBy') {
      if (!isExpression(value))
        throw new CommandError(
          40239,
          `The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: ${formatValue(value)}`,
        )
      groupBy = value
    } else if (it.name() === 'buckets') buckets = bucketCount(value)
    else if (it.name() === 'output') fields = outputFields(value, context)
    else if (it.name() === 'granularity') rounder = roundingOf(value)
    else throw new CommandError(40245, `Unrecognized option to $bucketAuto: ${it.name()}`)
  }
  if (groupBy === null || buckets === null)
    throw new CommandError(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
  return { key: compileExpression(groupBy, context.evaluation), buckets, fields, rounder }
}

function checkRoundable(key: RawValue | undefined): void {
  const what = "$bucketAuto can specify a 'granularity' with"
  if (key?.isNumber() !== true)
    throw new CommandError(
      40258,
      `${what} numeric boundaries only, but found a value with type: ${typeName(key?.type)}`,
    )
  const number = toNumber(key)
  if (Number.isNaN(number)) throw new CommandError(40259, `${what} numeric boundaries only, but found a NaN`)
  if (number < 0) throw new CommandError(40260, `${what} non-negative numbers only, but found a negative number`)
}

function compileBucketAuto(argument: RawValue, context: StageContext): CompiledStage {
  const { key, buckets, fields, rounder } = parse(argument, context)
  const { strings } = context.evaluation
  const order = (a: RawValue, b: RawValue) => compareValues(a, b, strings)
  return {
    name: '$bucketAuto',
    open(next, rest) {
      const sorter = new RunSorter<Entry>((a, b) => order(a.key, b.key))
      let position = 0
      let heldBytes = 0
      return {
        satisfied: false,
        push(document) {
          heldBytes += document.length
          if (heldBytes > context.memoryLimitBytes) throw sortMemoryError(context.memoryLimitBytes)
          const value = key.evaluateOn(document)
          if (rounder !== null) checkRoundable(value)
          sorter.add({ key: value ?? nullValue, document, position: position++ })
        },
        end: () => rest.emit(next, bucketsOf(sorter)),
      }
    },
  }

  /** Null after each document until all are in order. */
  function* bucketsOf(sorter: RunSorter<Entry>): Generator<Uint8Array | null, void> {
    const entries: Entry[] = []
    for (let entry = sorter.next(); entry !== undefined; entry = sorter.next()) {
      entries.push(entry)
      yield null
    }
    const size = Math.max(1, Math.round(entries.length / buckets))
    let from = 0
    let previousMax: RawValue | null = null
    for (let bucket = 1; bucket <= buckets && from < entries.length; bucket++) {
      let to = bucket === buckets ? entries.length : Math.min(entries.length, from + size)
      const boundary: RawValue | undefined = rounder?.up(entries[to - 1]!.key)
      // Equal values stay in one bucket, and so do values below its rounded boundary.
      while (
        to < entries.length &&
        (order(entries[to - 1]!.key, entries[to]!.key) === 0 ||
          (boundary !== undefined && order(boundary, entries[to]!.key) > 0))
      )
        to++
      const following = entries[to]?.key
      let min = entries[from]!.key
      let max: RawValue
      if (rounder === null) max = following ?? entries[to - 1]!.key
      else {
        min = previousMax ?? rounder.down(min)
        // A bucket of zeros ends where the next begins: zero rounds to itself.
        max = toNumber(boundary!) === 0 && following !== undefined ? rounder.down(following) : boundary!
      }
      yield bucketDocument(min, max, entries.slice(from, to), fields)
      previousMax = max
      from = to
    }
  }
}

function bucketDocument(
  min: RawValue,
  max: RawValue,
  sorted: readonly Entry[],
  fields: readonly GroupField[],
): Uint8Array {
  const writer = new DocumentWriter().startDocument('_id').value('min', min).value('max', max).end()
  if (fields.length === 0) return writer.int32('count', sorted.length).finish()
  const asGiven = fields.some((field) => positional.has(field.accumulator))
    ? sorted.toSorted((a, b) => a.position - b.position)
    : sorted
  for (const { name, accumulator, create, expression } of fields) {
    const state = create(new ValueList(), undefined)
    for (const { document } of positional.has(accumulator) ? asGiven : sorted)
      state.add(expression.evaluateOn(document))
    writer.value(name, state.result())
  }
  return writer.finish()
}

export const bucketAutoStage: StageOperator = {
  name: '$bucketAuto',
  manualPage: 'aggregation/bucketAuto',
  status: 'complete',
  sharded: 'merger',
  spills: () => true,
  compile: compileBucketAuto,
}
