import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  FieldIterator,
  int32Value,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import { arrayValue } from '../../../../values/build.js'
import { formatEvaluated } from '../../../../values/format.js'
import { operator, typeOf, unary } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'

/** The last value of a name wins, at the position of the first. */
function mergeObjects(operands: readonly (RawValue | undefined)[]): RawValue {
  const fields = new Map<string, RawValue>()
  for (const operand of operands) {
    if (operand === undefined || operand.isNullish()) continue
    if (operand.type !== BsonType.object)
      throw new CommandError(
        40400,
        `$mergeObjects requires object inputs, but input ${formatEvaluated(operand)} is of type ${typeOf(operand)}`,
      )
    for (const it = new FieldIterator(operand.bytes, operand.start); it.next();) fields.set(it.name(), it.value())
  }
  const writer = new DocumentWriter()
  for (const [name, value] of fields) writer.value(name, value)
  return documentValue(writer.finish())
}

function objectToArray(value: RawValue | undefined): RawValue {
  if (value === undefined || value.isNullish()) return nullValue
  if (value.type !== BsonType.object)
    throw new CommandError(40390, `$objectToArray requires a document input, found: ${typeOf(value)}`)
  const pairs: RawValue[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();)
    pairs.push(documentValue(new DocumentWriter().string('k', it.name()).value('v', it.value()).finish()))
  return arrayValue(pairs)
}

function bsonSize(value: RawValue | undefined): RawValue {
  if (value === undefined || value.isNullish()) return nullValue
  if (value.type !== BsonType.object)
    throw new CommandError(31393, `$bsonSize requires a document input, found: ${typeOf(value)}`)
  return int32Value(value.end - value.start)
}

export const objectExpressions: readonly ExpressionOperator[] = [
  unary('$bsonSize', bsonSize),
  unary('$objectToArray', objectToArray),
  operator('$mergeObjects', 0, Infinity, mergeObjects),
]
