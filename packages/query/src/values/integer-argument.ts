/** Server: BSONElement::parseIntegerElementToLong and similar functions. */
import { BsonType, CommandError, type RawValue } from '@shardlab/bson'
import { exactInteger } from './arithmetic.js'
import { formatField } from './format.js'

/**
 * @param name in front of the value in messages
 * @throws CommandError FailedToParse (9) unless the number is an int64
 */
export function integerArgument(name: string, value: RawValue): bigint {
  const fail = (what: string): never => {
    throw new CommandError('FailedToParse', `${what}: ${formatField(name, value)}`)
  }
  if (!value.isNumber()) return fail('Expected a number in')
  const integer = exactInteger(value)
  if (integer !== null) return integer
  if (value.type === BsonType.decimal128) return fail('Cannot represent as a 64-bit integer')
  const double = value.asNumber()
  if (Number.isNaN(double)) return fail('Expected an integer, but found NaN in')
  return fail(Math.abs(double) >= 2 ** 63 ? 'Cannot represent as a 64-bit integer' : 'Expected an integer')
}

/** @throws CommandError FailedToParse (9) unless it is an int64 of at least 0 */
export function nonNegativeArgument(name: string, value: RawValue): bigint {
  const integer = integerArgument(name, value)
  if (integer < 0n)
    throw new CommandError('FailedToParse', `Expected a non-negative number in: ${formatField(name, value)}`)
  return integer
}

/** @throws CommandError FailedToParse (9) unless it is an int32 of at least 0 */
export function nonNegativeInt32Argument(name: string, value: RawValue): number {
  const integer = integerArgument(name, value)
  if (BigInt.asIntN(32, integer) !== integer)
    throw new CommandError('FailedToParse', `Cannot represent ${formatField(name, value)} in an int`)
  if (integer < 0n)
    throw new CommandError('FailedToParse', `Expected a non-negative number in: ${formatField(name, value)}`)
  return Number(integer)
}

/**
 * Changes errors to BadValue, with a prefix before their messages.
 * @throws CommandError BadValue (2)
 */
export function badValue<Result>(prefix: string, parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    if (error instanceof CommandError) throw new CommandError('BadValue', prefix + error.message)
    throw error
  }
}
