/** Since 6.3. On ints and longs; the result is a long if one operand is. */
import { BsonType, CommandError, int32Value, int64Value, nullValue, type RawValue } from '@shardlab/bson'
import { operator, typeOf, unary } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'

const isInteger = (value: RawValue) => value.type === BsonType.int32 || value.type === BsonType.int64

function checkInteger(name: string, value: RawValue): void {
  if (!isInteger(value)) throw new CommandError('TypeMismatch', `${name} only supports int and long operands.`)
}

function bitwise(name: string, identity: bigint, combine: (a: bigint, b: bigint) => bigint): ExpressionOperator {
  return operator(name, 0, Infinity, (operands) => {
    let result = identity
    let isLong = false
    for (const operand of operands) {
      if (operand === undefined || operand.isNullish()) return nullValue
      checkInteger(name, operand)
      isLong ||= operand.type === BsonType.int64
      result = combine(result, operand.asBigInt())
    }
    return isLong ? int64Value(result) : int32Value(Number(result))
  })
}

const not = unary('$bitNot', (value) => {
  if (value === undefined || value.isNullish()) return nullValue
  if (!value.isNumber()) throw new CommandError(28765, `$bitNot only supports numeric types, not ${typeOf(value)}`)
  if (!isInteger(value))
    throw new CommandError('TypeMismatch', `$bitNot only supports int and long, not: ${typeOf(value)}.`)
  return value.type === BsonType.int64 ? int64Value(~value.asBigInt()) : int32Value(Number(~value.asBigInt()))
})

export const bitExpressions: readonly ExpressionOperator[] = [
  bitwise('$bitAnd', -1n, (a, b) => a & b),
  bitwise('$bitOr', 0n, (a, b) => a | b),
  bitwise('$bitXor', 0n, (a, b) => a ^ b),
  not,
]
