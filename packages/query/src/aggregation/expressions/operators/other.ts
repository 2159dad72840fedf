import {
  BsonType,
  boolValue,
  CommandError,
  doubleValue,
  hashValue,
  int64Value,
  isEmptyDocument,
  stringValue,
} from '@shardlab/bson'
import { typeOf, unary } from '../arguments.js'
import type { ExpressionOperator } from '../expression.js'

const rand: ExpressionOperator = {
  name: '$rand',
  manualPage: 'aggregation/rand',
  status: 'complete',
  compile(argument, compiler) {
    if (argument.type !== BsonType.object && argument.type !== BsonType.array)
      throw new CommandError(10065, 'invalid parameter: expected an object ($rand)')
    if (!isEmptyDocument(argument.bytes, argument.start))
      throw new CommandError(3040501, '$rand does not currently accept arguments')
    return { constant: null, evaluate: () => doubleValue(compiler.context.random()) }
  },
}

export const otherExpressions: readonly ExpressionOperator[] = [
  unary('$type', (value) => stringValue(typeOf(value))),
  unary('$isNumber', (value) => boolValue(value?.isNumber() ?? false)),
  unary('$toHashedIndexKey', (value) => int64Value(hashValue(value))),
  rand,
]
