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
    const empty =
      (argument.type === BsonType.object || argument.type === BsonType.array) &&
      isEmptyDocument(argument.bytes, argument.start)
    if (!empty) throw new CommandError(3040501, '$rand does not currently accept arguments')
    return { constant: null, evaluate: () => doubleValue(compiler.context.random()) }
  },
}

export const otherExpressions: readonly ExpressionOperator[] = [
  unary('$type', (value) => stringValue(typeOf(value))),
  unary('$isNumber', (value) => boolValue(value?.isNumber() ?? false)),
  unary('$toHashedIndexKey', (value) => int64Value(hashValue(value))),
  rand,
]
