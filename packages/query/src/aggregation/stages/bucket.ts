/** $bucket, which stands for a $group over a $switch, and $bucketAuto. */
import {
  BsonType,
  canonicalType,
  CommandError,
  compareValues,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  firstFieldName,
  nullValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { exactInteger } from '../../values/arithmetic.js'
import { formatValue } from '../../values/format.js'
import { compileExpression } from '../expressions/compile.js'
import { parseField, type GroupField } from './group.js'
import type { CompiledStage, StageContext, StageOperator } from './stage.js'

function isExpression(value: RawValue): boolean {
  if (value.type === BsonType.object) return firstFieldName(value.slice())?.startsWith('$') ?? false
  return value.type === BsonType.string && value.asString().startsWith('$')
}

/** The value of a constant expression; undefined when it is none. */
function constantOf(value: RawValue): RawValue | undefined {
  return compileExpression(value, { nowMs: 0, random: () => 0 }).constant?.value
}

function boundariesOf(argument: RawValue): RawValue[] {
  if (argument.type !== BsonType.array)
    throw new CommandError(40200, `The $bucket 'boundaries' field must be an array, but found type: ${typeName(argument.type)}.`)
  const boundaries = elementsOf(argument)
  const values = boundaries.map((boundary) => {
    const value = constantOf(boundary)
    if (value === undefined)
      throw new CommandError(
        40191,
        `The $bucket 'boundaries' field must be an array of constant values, but found value: ${formatValue(boundary)}.`,
      )
    return value
  })
  if (values.length < 2)
    throw new CommandError(40192, `The $bucket 'boundaries' field must have at least 2 values, but found ${values.length} value(s).`)
  for (let i = 1; i < values.length; i++) {
    const [lower, upper] = [values[i - 1]!, values[i]!]
    if (canonicalType(lower.type) !== canonicalType(upper.type))
      throw new CommandError(
        40193,
        `All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types ${typeName(lower.type)} and ${typeName(upper.type)}.`,
      )
    if (compareValues(lower, upper) >= 0)
      throw new CommandError(
        40194,
        `The 'boundaries' option to $bucket must be sorted, but elements ${i - 1} and ${i} are not in ascending order (${formatValue(lower)} is not less than ${formatValue(upper)}).`,
      )
  }
  return boundaries
}

function checkDefault(fallback: RawValue, boundaries: readonly RawValue[]): void {
  const value = constantOf(fallback)
  if (value === undefined)
    throw new CommandError(40195, `The $bucket 'default' field must be a constant expression, but found: ${formatValue(fallback)}.`)
  const [lowest, highest] = [constantOf(boundaries[0]!), constantOf(boundaries.at(-1)!)]
  if (compareValues(value, lowest) >= 0 && compareValues(value, highest) < 0)
    throw new CommandError(
      40199,
      "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
    )
}

function bucketStages(argument: RawValue): Uint8Array[] {
  if (argument.type !== BsonType.object)
    throw new CommandError(40201, `Argument to $bucket stage must be an object, but found type: ${typeName(argument.type)}.`)
  const given = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (!['groupBy', 'boundaries', 'default', 'output'].includes(it.name()))
      throw new CommandError(40197, `Unrecognized option to $bucket: ${it.name()}.`)
    given.set(it.name(), it.value())
  }
  const groupBy = given.get('groupBy')
  const list = given.get('boundaries')
  if (groupBy !== undefined && !isExpression(groupBy))
    throw new CommandError(
      40202,
      `The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: ${formatValue(groupBy)}.`,
    )
  const boundaries = list === undefined ? [] : boundariesOf(list)
  const output = given.get('output')
  if (output !== undefined && output.type !== BsonType.object)
    throw new CommandError(40196, `The $bucket 'output' field must be an object, but found type: ${typeName(output.type)}.`)
  if (groupBy === undefined || list === undefined)
    throw new CommandError(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
  const fallback = given.get('default')
  if (fallback !== undefined) checkDefault(fallback, boundaries)
  const writer = new DocumentWriter().startDocument('$group').startDocument('_id').startDocument('$switch').startArray('branches')
  for (let i = 0; i + 1 < boundaries.length; i++) {
    writer.startDocument(String(i)).startDocument('case').startArray('$and')
    writer.startDocument('0').startArray('$gte').value('0', groupBy).value('1', boundaries[i]!).end().end()
    writer
      .startDocument('1')
      .startArray('$lt')
      .value('0', groupBy)
      .value('1', boundaries[i + 1]!)
      .end()
      .end()
    writer.end().end().value('then', boundaries[i]!).end()
  }
  writer.end()
  if (fallback !== undefined) writer.value('default', fallback)
  writer.end().end()
  if (output === undefined) writer.startDocument('count').int32('$sum', 1).end()
  else writer.fields(output.bytes, output.start)
  return [writer.end().finish(), new DocumentWriter().startDocument('$sort').int32('_id', 1).end().finish()]
}

function bucketCount(value: RawValue): number {
  if (!value.isNumber())
    throw new CommandError(40241, `The $bucketAuto 'buckets' field must be a numeric value, but found type: ${typeName(value.type)}.`)
  const count = exactInteger(value)
  if (count === null || BigInt.asIntN(32, count) !== count)
    throw new CommandError(
      40242,
      `The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found ${formatValue(value)}.`,
    )
  if (count <= 0n) throw new CommandError(40243, `The $bucketAuto 'buckets' field must be greater than 0, but found: ${count}.`)
  return Number(count)
}

function compileBucketAuto(argument: RawValue, context: StageContext): CompiledStage {
  if (argument.type !== BsonType.object)
    throw new CommandError(40240, `The argument to $bucketAuto must be an object, but found type: ${typeName(argument.type)}.`)
  let groupBy: RawValue | null = null
  let buckets: number | null = null
  let fields: GroupField[] | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const value = it.value()
    if (it.name() === 'groupBy') {
      if (!isExpression(value))
        throw new CommandError(
          40239,
          `The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: ${formatValue(value)}.`,
        )
      groupBy = value
    } else if (it.name() === 'buckets') buckets = bucketCount(value)
    else if (it.name() === 'output') {
      if (value.type !== BsonType.object)
        throw new CommandError(40244, `The $bucketAuto 'output' field must be an object, but found type: ${typeName(value.type)}.`)
      fields = []
      for (const out = new FieldIterator(value.bytes, value.start); out.next();)
        fields.push(parseField(out.name(), out.value(), context, false))
    } else throw new CommandError(40245, `Unrecognized option to $bucketAuto: ${it.name()}.`)
  }
  if (groupBy === null || buckets === null) throw new CommandError(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified.")
  const key = compileExpression(groupBy, context.evaluation)
  const count = buckets
  return {
    name: '$bucketAuto',
    open(next) {
      const entries: { key: RawValue; document: Uint8Array }[] = []
      let heldBytes = 0
      return {
        satisfied: false,
        push(document) {
          heldBytes += document.length
          if (heldBytes > context.memoryLimitBytes)
            throw new CommandError(
              'QueryExceededMemoryLimitNoDiskUseAllowed',
              `Sort exceeded memory limit of ${context.memoryLimitBytes} bytes, but did not opt in to external sorting. Aborting operation. Pass allowDiskUse:true to opt in.`,
            )
          entries.push({ key: key.evaluateOn(document) ?? nullValue, document })
        },
        end() {
          const { strings } = context.evaluation
          const order = (a: { key: RawValue }, b: { key: RawValue }) => compareValues(a.key, b.key, strings)
          entries.sort(order)
          const size = Math.max(1, Math.round(entries.length / count))
          let from = 0
          for (let bucket = 0; bucket < count && from < entries.length && !next.satisfied; bucket++) {
            let to = bucket === count - 1 ? entries.length : Math.min(entries.length, from + size)
            // Equal values never fall into two buckets.
            while (to < entries.length && order(entries[to - 1]!, entries[to]!) === 0) to++
            next.push(
              bucketDocument(
                entries[from]!.key,
                (entries[to] ?? entries[to - 1]!).key,
                entries.slice(from, to).map((entry) => entry.document),
                fields,
                context,
              ),
            )
            from = to
          }
          next.end()
        },
      }
    },
  }
}

function bucketDocument(
  min: RawValue,
  max: RawValue,
  documents: readonly Uint8Array[],
  fields: readonly GroupField[] | null,
  context: StageContext,
): Uint8Array {
  const writer = new DocumentWriter().startDocument('_id').value('min', min).value('max', max).end()
  if (fields === null) return writer.int32('count', documents.length).finish()
  for (const { name, operator, argument, expression } of fields) {
    const accumulator = operator.create(context.evaluation.strings, argument)
    for (const document of documents) accumulator.add(expression.evaluateOn(document))
    writer.value(name, accumulator.result())
  }
  return writer.finish()
}

function rewritten(): CompiledStage {
  throw new Error('a stage that stands for others is never compiled itself')
}

export const bucketStagesRows: readonly StageOperator[] = [
  { name: '$bucket', manualPage: 'aggregation/bucket', status: 'complete', sharded: 'group', compile: rewritten, rewrite: bucketStages },
  {
    name: '$bucketAuto',
    manualPage: 'aggregation/bucketAuto',
    status: 'partial',
    note: 'no granularity; a sharded collection sends all documents to the merger',
    sharded: 'merger',
    compile: compileBucketAuto,
  },
]
