/** Rewritten to a $group over a $switch and a $sort. */
import {
  BsonType,
  canonicalType,
  CommandError,
  compareValues,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  firstFieldName,
  typeName,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import type { EvaluationContext } from '../../../context.js'
import { formatValue } from '../../../values/format.js'
import { compileExpression } from '../../expressions/compile.js'
import type { CompiledStage, StageOperator } from '../stage.js'

/** Whether `groupBy` is valid: a path or an expression object. */
export function isExpression(value: RawValue): boolean {
  if (value.type === BsonType.object) return firstFieldName(value.slice())?.startsWith('$') ?? false
  return value.type === BsonType.string && value.asString().startsWith('$')
}

/** Undefined: not a constant. */
function constantOf(value: RawValue): RawValue | undefined {
  return compileExpression(value, { now: () => 0, random: () => 0 }).constant?.value
}

function boundariesOf(argument: RawValue, strings: StringComparator | undefined): RawValue[] {
  if (argument.type !== BsonType.array)
    throw new CommandError(
      40200,
      `The $bucket 'boundaries' field must be an array, but found type: ${typeName(argument.type)}.`,
    )
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
    throw new CommandError(
      40192,
      `The $bucket 'boundaries' field must have at least 2 values, but found ${values.length} value(s).`,
    )
  for (let i = 1; i < values.length; i++) {
    const [lower, upper] = [values[i - 1]!, values[i]!]
    if (canonicalType(lower.type) !== canonicalType(upper.type))
      throw new CommandError(
        40193,
        `All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types ${typeName(lower.type)} and ${typeName(upper.type)}.`,
      )
    if (compareValues(lower, upper, strings) >= 0)
      throw new CommandError(
        40194,
        `The 'boundaries' option to $bucket must be sorted, but elements ${i - 1} and ${i} are not in ascending order (${formatValue(lower)} is not less than ${formatValue(upper)}).`,
      )
  }
  return boundaries
}

function checkDefault(
  fallback: RawValue,
  boundaries: readonly RawValue[],
  strings: StringComparator | undefined,
): void {
  const value = constantOf(fallback)
  if (value === undefined)
    throw new CommandError(
      40195,
      `The $bucket 'default' field must be a constant expression, but found: ${formatValue(fallback)}.`,
    )
  const [lowest, highest] = [constantOf(boundaries[0]!), constantOf(boundaries.at(-1)!)]
  if (compareValues(value, lowest, strings) >= 0 && compareValues(value, highest, strings) < 0)
    throw new CommandError(
      40199,
      "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
    )
}

function bucketStages(argument: RawValue, { strings }: Pick<EvaluationContext, 'strings'>): Uint8Array[] {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      40201,
      `Argument to $bucket stage must be an object, but found type: ${typeName(argument.type)}.`,
    )
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
  const boundaries = list === undefined ? [] : boundariesOf(list, strings)
  const output = given.get('output')
  if (output !== undefined && output.type !== BsonType.object)
    throw new CommandError(
      40196,
      `The $bucket 'output' field must be an object, but found type: ${typeName(output.type)}.`,
    )
  if (groupBy === undefined || list === undefined)
    throw new CommandError(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
  const fallback = given.get('default')
  if (fallback !== undefined) checkDefault(fallback, boundaries, strings)
  const writer = new DocumentWriter()
    .startDocument('$group')
    .startDocument('_id')
    .startDocument('$switch')
    .startArray('branches')
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

function rewritten(): CompiledStage {
  throw new Error('a stage that stands for others is never compiled itself')
}

export const bucketStage: StageOperator = {
  name: '$bucket',
  manualPage: 'aggregation/bucket',
  status: 'complete',
  sharded: 'group',
  compile: rewritten,
  rewrite: bucketStages,
}
