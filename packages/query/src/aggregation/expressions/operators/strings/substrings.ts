import { BsonType, CommandError, int32Value, nullValue, RawValue, stringValue } from '@shardlab/bson'
import { exactInteger, truncateToInt64 } from '../../../../values/arithmetic.js'
import { arrayValue } from '../../../../values/build.js'
import { formatEvaluated } from '../../../../values/format.js'
import { checkValueBytes, valueBytesMax } from '../../../../values/limits.js'
import { isNullish, namedOperator, operator, typeOf } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'
import { newestLanguage } from '../../../../language/language.js'
import { coerced } from './string.js'

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** The bytes may end inside a character. */
function bytesAsString(bytes: Buffer): RawValue {
  const value = Buffer.alloc(bytes.length + 5)
  value.writeInt32LE(bytes.length + 1)
  value.set(bytes, 4)
  return new RawValue(BsonType.string, value, 0, value.length)
}

/** @param name of the operator in errors */
function substrBytes(name: '$substr' | '$substrBytes', keepsCharacters: boolean): ExpressionOperator {
  return operator(name, 3, 3, ([value, from, count]) => {
    const bytes = Buffer.from(coerced(value))
    if (!from?.isNumber())
      throw new CommandError(16034, `${name}:  starting index must be a numeric type (is BSON type ${typeOf(from)})`)
    if (!count?.isNumber())
      throw new CommandError(16035, `${name}:  length must be a numeric type (is BSON type ${typeOf(count)})`)
    const start = Number(truncateToInt64(from) ?? 0n)
    const length = Number(truncateToInt64(count) ?? 0n)
    // A negative length means the rest of the string.
    const end = length < 0 ? bytes.length : Math.min(bytes.length, start + length)
    if (!keepsCharacters)
      return bytesAsString(start < 0 || start >= bytes.length ? bytes.subarray(0, 0) : bytes.subarray(start, end))
    if (start < 0) throw new CommandError(50752, `${name}:  starting index must be non-negative (got: ${start})`)
    if (isContinuation(bytes[start]))
      throw new CommandError(28656, `${name}:  Invalid range, starting index is a UTF-8 continuation byte.`)
    if (isContinuation(bytes[end]))
      throw new CommandError(28657, `${name}:  Invalid range, ending index is in the middle of a UTF-8 character.`)
    return stringValue(bytes.toString('utf8', Math.min(start, bytes.length), end))
  })
}

const checkedSubstr = substrBytes('$substrBytes', true)
const bareSubstr = substrBytes('$substr', false)

const substr: ExpressionOperator = {
  ...bareSubstr,
  compile(argument, compiler) {
    const { language = newestLanguage } = compiler.context
    return (language.substrKeepsCharacters ? checkedSubstr : bareSubstr).compile(argument, compiler)
  },
}

function int32Operand(value: RawValue | undefined, what: string, codes: { type: number; range: number }): number {
  if (!value?.isNumber())
    throw new CommandError(codes.type, `$substrCP: ${what} must be a numeric type (is BSON type ${typeOf(value)})`)
  const integer = exactInteger(value)
  if (integer === null || BigInt.asIntN(32, integer) !== integer)
    throw new CommandError(
      codes.range,
      `$substrCP: ${what} cannot be represented as a 32-bit integral value: ${formatEvaluated(value)}`,
    )
  return Number(integer)
}

function substrCP([value, from, count]: readonly (RawValue | undefined)[]): RawValue {
  const text = coerced(value)
  const start = int32Operand(from, 'starting index', { type: 34450, range: 34451 })
  const length = int32Operand(count, 'length', { type: 34452, range: 34453 })
  if (length < 0) throw new CommandError(34454, '$substrCP: length must be a nonnegative integer.')
  if (start < 0) throw new CommandError(34455, '$substrCP: the starting index must be nonnegative integer.')
  return stringValue(
    Array.from(text)
      .slice(start, start + length)
      .join(''),
  )
}

/** The third and fourth operand of $indexOfCP, $indexOfBytes and $indexOfArray. */
export function searchRange(
  name: string,
  [, , from, to]: readonly (RawValue | undefined)[],
  given: number,
  length: number,
): { start: number; end: number } {
  const bound = (value: RawValue | undefined, which: string) => {
    const integer = value === undefined ? null : exactInteger(value)
    if (integer === null || BigInt.asIntN(32, integer) !== integer)
      throw new CommandError(
        40096,
        `${name}requires an integral ${which} index, found a value of type: ${typeOf(value)}, with value: ${formatEvaluated(value)}`,
      )
    if (integer < 0n) throw new CommandError(40097, `${name} requires a nonnegative ${which} index, found: ${integer}`)
    return Number(integer)
  }
  const start = given > 2 ? bound(from, 'starting') : 0
  return { start, end: given > 3 ? Math.min(length, bound(to, 'ending')) : length }
}

function indexOf<Unit>(
  name: string,
  codes: { first: number; second: number },
  unitsOf: (text: string) => ArrayLike<Unit>,
): ExpressionOperator {
  return operator(name, 2, 4, (operands) => {
    const [text, token] = operands
    if (text === undefined || text.isNullish()) return nullValue
    if (text.type !== BsonType.string)
      throw new CommandError(codes.first, `${name} requires a string as the first argument, found: ${typeOf(text)}`)
    if (token?.type !== BsonType.string)
      throw new CommandError(codes.second, `${name} requires a string as the second argument, found: ${typeOf(token)}`)
    const haystack = unitsOf(text.asString())
    const needle = unitsOf(token.asString())
    const { start, end } = searchRange(name, operands, operands.length, haystack.length)
    for (let at = start; at + needle.length <= end; at++) {
      let k = 0
      while (k < needle.length && haystack[at + k] === needle[k]) k++
      if (k === needle.length) return int32Value(at)
    }
    return int32Value(-1)
  })
}

function split([text, separator]: readonly (RawValue | undefined)[]): RawValue {
  if (text === undefined || separator === undefined || text.isNullish() || separator.isNullish()) return nullValue
  if (text.type !== BsonType.string)
    throw new CommandError(
      40085,
      `$split requires an expression that evaluates to a string as a first argument, found: ${typeOf(text)}`,
    )
  if (separator.type !== BsonType.string)
    throw new CommandError(
      40086,
      `$split requires an expression that evaluates to a string as a second argument, found: ${typeOf(separator)}`,
    )
  if (separator.asString() === '') throw new CommandError(40087, '$split requires a non-empty separator')
  return arrayValue(text.asString().split(separator.asString()).map(stringValue))
}

const upper = (text: string) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase())

function compareIgnoringCase([left, right]: readonly (RawValue | undefined)[]): RawValue {
  return int32Value(Math.sign(Buffer.compare(Buffer.from(upper(coerced(left))), Buffer.from(upper(coerced(right))))))
}

/** Trimmed by default. */
const whitespace = new Set(
  [
    0x00, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
    0x2007, 0x2008, 0x2009, 0x200a,
  ].map((code) => String.fromCharCode(code)),
)

function trim(name: string, left: boolean, right: boolean): ExpressionOperator {
  return namedOperator(
    name,
    {
      fields: ['input', 'chars'],
      required: { input: [50695, `${name} requires an 'input' field`] },
      notObject: (type) => new CommandError(50696, `${name} only supports an object as an argument, found ${type}`),
      unknown: (field) => new CommandError(50694, `${name} found an unknown argument: ${field}`),
    },
    ([input, chars], [, charsGiven]) => {
      if (input === undefined || input.isNullish()) return nullValue
      if (input.type !== BsonType.string)
        throw new CommandError(
          50699,
          `${name} requires its input to be a string, got ${formatEvaluated(input)} (of type ${typeOf(input)}) instead.`,
        )
      if (charsGiven && isNullish(chars)) return nullValue
      if (chars !== undefined && chars.type !== BsonType.string)
        throw new CommandError(
          50700,
          `${name} requires 'chars' to be a string, got ${formatEvaluated(chars)} (of type ${typeOf(chars)}) instead.`,
        )
      const away = chars === undefined ? whitespace : new Set(chars.asString())
      const points = Array.from(input.asString())
      let start = 0
      let end = points.length
      if (left) while (start < end && away.has(points[start]!)) start++
      if (right) while (end > start && away.has(points[end - 1]!)) end--
      return stringValue(points.slice(start, end).join(''))
    },
  )
}

function replace(name: string, replaceIn: (text: string, find: string, by: string) => string): ExpressionOperator {
  return namedOperator(
    name,
    {
      fields: ['input', 'find', 'replacement'],
      required: {
        input: [51749, `${name} requires 'input' to be specified`],
        find: [51748, `${name} requires 'find' to be specified`],
        replacement: [51747, `${name} requires 'replacement' to be specified`],
      },
      notObject: (type) => new CommandError(51751, `${name} requires an object as an argument, found: ${type}`),
      unknown: (field) => new CommandError(51750, `${name} found an unknown argument: ${field}`),
    },
    (values) => {
      const texts = ['input', 'find', 'replacement'].map((field, index) => {
        const value = values[index]
        if (value === undefined || value.isNullish()) return null
        if (value.type !== BsonType.string)
          throw new CommandError(
            51746 - index,
            `${name} requires that '${field}' be a string, found: ${formatEvaluated(value)}`,
          )
        return value.asString()
      })
      const [input, find, by] = texts
      return typeof input !== 'string' || typeof find !== 'string' || typeof by !== 'string'
        ? nullValue
        : stringValue(replaceIn(input, find, by))
    },
  )
}

function replaceAll(text: string, find: string, by: string): string {
  const countMax = find === '' ? text.length + 1 : Math.floor(text.length / find.length)
  if (text.length + countMax * by.length > valueBytesMax) {
    const count = find === '' ? countMax : text.split(find).length - 1
    checkValueBytes('$replaceAll', text.length + count * (by.length - find.length))
  }
  return text.replaceAll(find, () => by)
}

export const substringExpressions: readonly ExpressionOperator[] = [
  operator('$substrCP', 3, 3, substrCP),
  checkedSubstr,
  substr,
  indexOf('$indexOfBytes', { first: 40091, second: 40092 }, (text) => Buffer.from(text)),
  indexOf('$indexOfCP', { first: 40093, second: 40094 }, (text) => Array.from(text)),
  operator('$split', 2, 2, split),
  operator('$strcasecmp', 2, 2, compareIgnoringCase),
  trim('$trim', true, true),
  trim('$ltrim', true, false),
  trim('$rtrim', false, true),
  replace('$replaceOne', (text, find, by) => text.replace(find, () => by)),
  replace('$replaceAll', replaceAll),
]
