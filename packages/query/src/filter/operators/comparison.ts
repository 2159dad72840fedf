/**
 * $eq and the others compare values of the same canonical type only, except for null, MinKey and
 * MaxKey.
 */
import {
  BsonType,
  canonicalType,
  CommandError,
  compareValues,
  isNaNValue,
  RawValue,
  readDouble,
  readInt32,
  type StringComparator,
} from '@shardlab/bson'
import type { ValueTest } from '../../path/walk.js'
import type { ComparisonNode, ComparisonOperator } from '../ast.js'
import type { FilterCompiler, LeafCompiler, PathOperator } from '../operator.js'

export function comparisonNode(path: string, operator: ComparisonOperator, value: RawValue): ComparisonNode {
  if (value.type === BsonType.undefined) throw new CommandError('BadValue', 'cannot compare to undefined')
  if (value.type === BsonType.regex && operator !== 'eq') {
    throw new CommandError('BadValue', `Can't have RegEx as arg to predicate over field '${path}'.`)
  }
  return { kind: 'comparison', path, operator, value }
}

function row(name: string, operator: ComparisonOperator): PathOperator {
  return {
    name,
    manualPage: `query/${name.slice(1)}`,
    status: 'complete',
    parse: (path, argument) => comparisonNode(path, operator, argument),
  }
}

export const comparisonOperators: readonly PathOperator[] = [
  row('$eq', 'eq'),
  row('$lt', 'lt'),
  row('$lte', 'lte'),
  row('$gt', 'gt'),
  row('$gte', 'gte'),
  {
    name: '$ne',
    manualPage: 'query/ne',
    status: 'complete',
    parse(path, argument) {
      if (argument.type === BsonType.regex) throw new CommandError('BadValue', "Can't have regex as arg to $ne.")
      return { kind: 'not', child: comparisonNode(path, 'eq', argument) }
    },
  },
]

/** `order`: of the stored value relative to the argument. */
const accepts: Readonly<Record<ComparisonOperator, (order: number) => boolean>> = {
  eq: (order) => order === 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
}

const never: ValueTest = () => false

export const compileComparison: LeafCompiler<ComparisonNode> = (node, compiler) => ({
  test: comparisonTest(node.operator, node.value, compiler),
  leafArrays: 'elements',
})

type Equality = Pick<FilterCompiler, 'strings' | 'undefinedMatchesNull'>

export function comparisonTest(operator: ComparisonOperator, value: RawValue, equality: Equality): ValueTest {
  const includesEqual = operator !== 'lt' && operator !== 'gt'
  const { strings } = equality
  switch (value.type) {
    case BsonType.null:
      if (!includesEqual) return never
      return equality.undefinedMatchesNull
        ? (type) => type === BsonType.null || type === 0 || type === BsonType.undefined
        : (type) => type === BsonType.null || type === 0
    case BsonType.minKey:
      if (operator === 'gt') return (type) => type !== BsonType.minKey
      return operator === 'gte' ? () => true : includesEqual ? (type) => type === BsonType.minKey : never
    case BsonType.maxKey:
      if (operator === 'lt') return (type) => type !== BsonType.maxKey
      return operator === 'lte' ? () => true : includesEqual ? (type) => type === BsonType.maxKey : never
    case BsonType.int32:
    case BsonType.double:
      return numberTest(operator, value)
    case BsonType.objectId:
      return operator === 'eq' ? sameBytes(value) : general(operator, value, strings)
    case BsonType.string:
      return operator === 'eq' && strings === undefined ? sameString(value) : general(operator, value, strings)
    default:
      return general(operator, value, strings)
  }
}

function general(operator: ComparisonOperator, value: RawValue, strings: StringComparator | undefined): ValueTest {
  const accept = accepts[operator]
  const canonical = canonicalType(value.type)
  if (canonical !== 10) {
    return (type, bytes, start, end) =>
      type !== 0 &&
      canonicalType(type) === canonical &&
      accept(compareValues(new RawValue(type, bytes, start, end), value, strings))
  }
  if (isNaNValue(value)) return nanTest(operator)
  return (type, bytes, start, end) => {
    if (type === 0 || canonicalType(type) !== 10) return false
    const stored = new RawValue(type, bytes, start, end)
    return !isNaNValue(stored) && accept(compareValues(stored, value))
  }
}

/** NaN equals NaN and has no order with other numbers. */
function nanTest(operator: ComparisonOperator): ValueTest {
  if (operator === 'lt' || operator === 'gt') return never
  return (type, bytes, start, end) =>
    (type === BsonType.double || type === BsonType.decimal128) && isNaNValue(new RawValue(type, bytes, start, end))
}

function numberTest(operator: ComparisonOperator, value: RawValue): ValueTest {
  const number = value.asNumber()
  if (Number.isNaN(number)) return nanTest(operator)
  const other = general(operator, value, undefined)
  // One closure per operator stays monomorphic and small.
  switch (operator) {
    case 'eq':
      return (type, bytes, start, end) =>
        type === BsonType.int32
          ? readInt32(bytes, start) === number
          : type === BsonType.double
            ? readDouble(bytes, start) === number
            : other(type, bytes, start, end)
    case 'lt':
      return (type, bytes, start, end) =>
        type === BsonType.int32
          ? readInt32(bytes, start) < number
          : type === BsonType.double
            ? readDouble(bytes, start) < number
            : other(type, bytes, start, end)
    case 'lte':
      return (type, bytes, start, end) =>
        type === BsonType.int32
          ? readInt32(bytes, start) <= number
          : type === BsonType.double
            ? readDouble(bytes, start) <= number
            : other(type, bytes, start, end)
    case 'gt':
      return (type, bytes, start, end) =>
        type === BsonType.int32
          ? readInt32(bytes, start) > number
          : type === BsonType.double
            ? readDouble(bytes, start) > number
            : other(type, bytes, start, end)
    case 'gte':
      return (type, bytes, start, end) =>
        type === BsonType.int32
          ? readInt32(bytes, start) >= number
          : type === BsonType.double
            ? readDouble(bytes, start) >= number
            : other(type, bytes, start, end)
  }
}

function bytesTest(value: RawValue, types: (type: number) => boolean): ValueTest {
  const wanted = value.slice()
  const length = wanted.length
  return (type, bytes, start, end) => {
    if (!types(type) || end - start !== length) return false
    for (let i = length - 1; i >= 0; i--) if (bytes[start + i] !== wanted[i]) return false
    return true
  }
}

function sameBytes(value: RawValue): ValueTest {
  return bytesTest(value, (type) => type === BsonType.objectId)
}

function sameString(value: RawValue): ValueTest {
  return bytesTest(value, (type) => type === BsonType.string || type === BsonType.symbol)
}
