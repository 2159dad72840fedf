import { BsonType, CommandError, elementsOf, isNumberType, RawValue, readInt32 } from '@shardlab/bson'
import { exactInteger, truncateToInt64 } from '../../values/arithmetic.js'
import { formatField } from '../../values/format.js'
import { badValue, nonNegativeArgument, nonNegativeInt32Argument } from '../../values/integer-argument.js'
import type { BitsNode, ModNode } from '../ast.js'
import type { LeafCompiler, PathOperator } from '../operator.js'

function parseMod(path: string, argument: RawValue): ModNode {
  const bad = (why: string): never => {
    throw new CommandError('BadValue', why)
  }
  if (argument.type !== BsonType.array) return bad('malformed mod, needs to be an array')
  const [divisor, remainder, ...rest] = elementsOf(argument)
  if (divisor === undefined || remainder === undefined) return bad('malformed mod, not enough elements')
  if (rest.length > 0) return bad('malformed mod, too many elements')
  if (!divisor.isNumber()) return bad('malformed mod, divisor not a number')
  const by = truncateToInt64(divisor)
  if (by === null)
    return bad('malformed mod, divisor value is invalid :: caused by :: Unable to coerce NaN/Inf to integral type')
  if (!remainder.isNumber()) return bad('malformed mod, remainder not a number')
  const rest64 = truncateToInt64(remainder)
  if (rest64 === null)
    return bad('malformed mod, remainder value is invalid :: caused by :: Unable to coerce NaN/Inf to integral type')
  if (by === 0n) return bad('divisor cannot be 0')
  return { kind: 'mod', path, divisor: by, remainder: rest64 }
}

function parseBits(path: string, name: string, mode: BitsNode['mode'], argument: RawValue): BitsNode {
  const positions: number[] = []
  if (argument.type === BsonType.array) {
    elementsOf(argument).forEach((element, i) =>
      positions.push(badValue('Failed to parse bit position. ', () => nonNegativeInt32Argument(String(i), element))),
    )
  } else if (argument.isNumber()) {
    const mask = nonNegativeArgument(name, argument)
    for (let bit = 0; bit < 63; bit++) if ((mask >> BigInt(bit)) & 1n) positions.push(bit)
  } else if (argument.type === BsonType.binary) {
    const length = readInt32(argument.bytes, argument.start)
    for (let bit = 0; bit < length * 8; bit++)
      if ((argument.bytes[argument.start + 5 + (bit >> 3)]! >> (bit & 7)) & 1) positions.push(bit)
  } else {
    throw new CommandError(
      'BadValue',
      `${name} takes an Array, a number, or a BinData but received: ${formatField(name, argument)}`,
    )
  }
  return { kind: 'bits', path, mode, positions }
}

function bitsRow(name: string, mode: BitsNode['mode']): PathOperator {
  return {
    name,
    manualPage: `query/${name.slice(1)}`,
    status: 'complete',
    parse: (path, argument) => parseBits(path, name, mode, argument),
  }
}

export const evaluationOperators: readonly PathOperator[] = [
  { name: '$mod', manualPage: 'query/mod', status: 'complete', parse: parseMod },
  bitsRow('$bitsAllSet', 'allSet'),
  bitsRow('$bitsAllClear', 'allClear'),
  bitsRow('$bitsAnySet', 'anySet'),
  bitsRow('$bitsAnyClear', 'anyClear'),
]

export const compileMod: LeafCompiler<ModNode> = ({ divisor, remainder }) => {
  const smallDivisor = Number(divisor)
  const smallRemainder = Number(remainder)
  return {
    leafArrays: 'elements',
    test(type, bytes, start, end) {
      // A remainder of 0 has the sign of the dividend in JavaScript, but -0 === 0.
      if (type === BsonType.int32) return readInt32(bytes, start) % smallDivisor === smallRemainder
      if (!isNumberType(type)) return false
      const value = truncateToInt64(new RawValue(type, bytes, start, end))
      return value !== null && value % divisor === remainder
    },
  }
}

export const compileBits: LeafCompiler<BitsNode> = ({ mode, positions }) => {
  const wantSet = mode === 'allSet' || mode === 'anySet'
  const all = mode === 'allSet' || mode === 'allClear'
  return {
    leafArrays: 'elements',
    test(type, bytes, start, end) {
      let isSet: (bit: number) => boolean
      if (type === BsonType.binary) {
        const bits = readInt32(bytes, start) * 8
        isSet = (bit) => bit < bits && ((bytes[start + 5 + (bit >> 3)]! >> (bit & 7)) & 1) === 1
      } else if (isNumberType(type)) {
        const value = exactInteger(new RawValue(type, bytes, start, end))
        if (value === null) return false
        isSet = (bit) => ((value >> BigInt(Math.min(bit, 63))) & 1n) === 1n
      } else return false
      const matches = (bit: number) => isSet(bit) === wantSet
      return all ? positions.every(matches) : positions.some(matches)
    },
  }
}
