/**
 * An int32 that overflows becomes an int64; an int64 that overflows is an error; a missing value is
 * 0.
 */
import { BsonType, CommandError, FieldIterator, int32Value, int64Value, typeName, type RawValue } from '@shardlab/bson'
import { addNumbers, multiplyNumbers, type OverflowRule } from '../../values/arithmetic.js'
import { identical } from '../../values/build.js'
import { formatField, formatValue } from '../../values/format.js'
import { keepValue, modifier, type LeafContext, type Modifier } from '../modifier.js'

type Combine = (a: RawValue, b: RawValue, overflow: OverflowRule) => RawValue | null

function arithmetic(name: string, verb: string, combine: Combine, missing: (argument: RawValue) => RawValue): Modifier {
  return modifier(name, true, (path, argument) => {
    if (!argument.isNumber())
      throw new CommandError(
        'TypeMismatch',
        `Cannot ${verb} with non-numeric argument: {${formatField(path, argument)}}`,
      )
    return (existing, context) => {
      if (existing === undefined) return missing(argument)
      if (!existing.isNumber()) throw nonNumeric(name, existing, context)
      const result = combine(existing, argument, 'fail')
      if (result === null)
        throw new CommandError(
          'BadValue',
          `Failed to apply ${name} operations to current value (${typedText(existing)}) for document {${context.documentId()}}`,
        )
      return identical(result, existing) ? keepValue : result
    }
  })
}

function nonNumeric(name: string, existing: RawValue, context: LeafContext): CommandError {
  return new CommandError(
    'TypeMismatch',
    `Cannot apply ${name} to a value of non-numeric type. {${context.documentId()}} has the field '${context.path.split('.').at(-1)}' of non-numeric type ${typeName(existing.type)}`,
  )
}

function typedText(value: RawValue): string {
  const type =
    value.type === BsonType.int64
      ? 'NumberLong'
      : value.type === BsonType.int32
        ? 'NumberInt'
        : value.type === BsonType.double
          ? 'NumberDouble'
          : 'NumberDecimal'
  return `(${type})${formatValue(value)}`
}

function isInteger(value: RawValue): boolean {
  return value.type === BsonType.int32 || value.type === BsonType.int64
}

const bit = modifier('$bit', true, (_path, argument) => {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      'BadValue',
      `The $bit modifier is not compatible with a ${typeName(argument.type)}. You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}`,
    )
  const steps: { operation: string; operand: RawValue }[] = []
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const operation = it.name()
    const operand = it.value()
    if (!['and', 'or', 'xor'].includes(operation))
      throw new CommandError(
        'BadValue',
        `The $bit modifier only supports 'and', 'or', and 'xor', not '${operation}' which is an unknown operator: {${formatField(operation, operand)}}`,
      )
    if (!isInteger(operand))
      throw new CommandError(
        'BadValue',
        `The $bit modifier field must be an Integer(32/64 bit); a '${typeName(operand.type)}' is not supported here: {${formatField(operation, operand)}}`,
      )
    steps.push({ operation, operand })
  }
  if (steps.length === 0)
    throw new CommandError(
      'BadValue',
      `You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}`,
    )
  return (existing, context) => {
    if (existing !== undefined && !isInteger(existing))
      throw new CommandError(
        'BadValue',
        `Cannot apply $bit to a value of non-integral type.${context.documentId()} has the field ${context.path.split('.').at(-1)} of non-integer type ${typeName(existing.type)}`,
      )
    let value = existing ?? int32Value(0)
    for (const { operation, operand } of steps) {
      const a = value.asBigInt()
      const b = operand.asBigInt()
      const result = operation === 'and' ? a & b : operation === 'or' ? a | b : a ^ b
      value =
        value.type === BsonType.int64 || operand.type === BsonType.int64
          ? int64Value(result)
          : int32Value(Number(result))
    }
    return existing !== undefined && identical(value, existing) ? keepValue : value
  }
})

export const arithmeticModifiers: readonly Modifier[] = [
  arithmetic('$inc', 'increment', addNumbers, (argument) => argument),
  arithmetic('$mul', 'multiply', multiplyNumbers, (argument) => multiplyNumbers(argument, int32Value(0), 'double')!),
  bit,
]
