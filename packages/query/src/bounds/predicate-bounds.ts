/** Intervals contain the key of every matching document. Server: index_bounds_builder.cpp. */
import {
  BsonType,
  canonicalType,
  compareValues,
  elementsOf,
  hashedKeyValue,
  isNaNValue,
  nullValue,
  RawValue,
  stringValue,
  undefinedValue,
  type StringComparator,
} from '@shardlab/bson'
import type { ComparisonNode, InNode, PathNode, RegexNode, TypeNode } from '../filter/ast.js'
import { numberTypes } from '../values/type-alias.js'
import { everything, point, union, type Interval } from './interval.js'
import { regexPrefix } from './regex-prefix.js'
import { lowestNumber, typeRange } from './type-range.js'

export interface FieldBounds {
  readonly intervals: readonly Interval[]
  /** The converse holds too: the intervals alone decide the predicate. */
  readonly exact: boolean
  /**
   * May be complemented for `$not`: on single-valued keys the intervals are neither too wide nor
   * too narrow.
   */
  readonly invertible: boolean
}

export interface BoundsRules {
  readonly strings: StringComparator | undefined
  /** Bounds over the hash: only equalities give bounds. */
  readonly hashed: boolean
  /** Equality with null also means undefined, which has its own position among the keys. */
  readonly undefinedMatchesNull: boolean
}

export const unbounded: FieldBounds = { intervals: everything, exact: false, invertible: false }

function bounds(intervals: readonly Interval[], exact: boolean, invertible = exact): FieldBounds {
  return { intervals: intervals.length > 1 ? union(intervals) : intervals, exact, invertible }
}

/** The predicate must be on the key field's own path. */
export function boundsOfPredicate(node: PathNode, rules: BoundsRules): FieldBounds {
  switch (node.kind) {
    case 'comparison':
      return comparisonBounds(node, rules)
    case 'in':
      return inBounds(node, rules)
    case 'regex':
      return rules.hashed || rules.strings !== undefined ? unbounded : regexBounds(node)
    case 'type':
      return rules.hashed ? unbounded : typeBounds(node)
    case 'mod':
      return rules.hashed ? unbounded : bounds([typeRange(BsonType.double)], false)
    default:
      return unbounded
  }
}

/** Whether a collation decides what equals it. Server: CollationIndexKey::isCollatableType. */
export function isCollatable(value: RawValue): boolean {
  return (
    value.type === BsonType.string ||
    value.type === BsonType.symbol ||
    value.type === BsonType.object ||
    value.type === BsonType.array
  )
}

export function comparisonBounds(node: ComparisonNode, rules: BoundsRules): FieldBounds {
  const { value, operator } = node
  if (rules.strings !== undefined && isCollatable(value)) return unbounded
  if (operator === 'eq') return equalityBounds(value, rules)
  if (rules.hashed) return unbounded
  return rangeBounds(operator, value, rules)
}

function equalityBounds(value: RawValue, rules: BoundsRules): FieldBounds {
  if (value.type === BsonType.null) {
    // A missing value has the key null, so the key does not distinguish them.
    return bounds(nullPoints(rules), false, !rules.hashed)
  }
  if (value.type === BsonType.array && !rules.hashed) {
    // An array is indexed by its elements: the keys of a match contain the first element, or the
    // whole array if it is an element itself.
    const first = elementsOf(value)[0] ?? undefinedValue
    return bounds([point(first), point(value)], false, false)
  }
  return bounds([point(keyOf(value, rules))], !rules.hashed)
}

function nullPoints(rules: BoundsRules): Interval[] {
  const values = rules.undefinedMatchesNull ? [undefinedValue, nullValue] : [nullValue]
  return values.map((value) => point(keyOf(value, rules)))
}

function keyOf(value: RawValue, rules: BoundsRules): RawValue {
  return rules.hashed ? hashedKeyValue(value) : value
}

function inBounds(node: InNode, rules: BoundsRules): FieldBounds {
  const parts: FieldBounds[] = []
  for (const value of node.values) {
    if (rules.strings !== undefined && isCollatable(value)) return unbounded
    parts.push(equalityBounds(value, rules))
  }
  if (node.regexes.length > 0 && (rules.hashed || rules.strings !== undefined)) return unbounded
  for (const regex of node.regexes) parts.push(regexBounds(regex))
  const all = (test: (part: FieldBounds) => boolean) => parts.every(test)
  return bounds(
    parts.flatMap((part) => part.intervals),
    all((part) => part.exact),
    all((part) => part.invertible),
  )
}

function rangeBounds(operator: 'lt' | 'lte' | 'gt' | 'gte', value: RawValue, rules: BoundsRules): FieldBounds {
  const inclusive = operator === 'lte' || operator === 'gte'
  const upwards = operator === 'gt' || operator === 'gte'
  switch (value.type) {
    case BsonType.minKey:
      if (upwards) return bounds(everything, false)
      return inclusive ? bounds([point(value)], true) : bounds([], true)
    case BsonType.maxKey:
      if (!upwards) return bounds(everything, false)
      return inclusive ? bounds([point(value)], true) : bounds([], true)
    case BsonType.null:
      return inclusive ? bounds(nullPoints(rules), false, true) : bounds([], true)
    case BsonType.array:
      // Whole arrays are not among the keys.
      return unbounded
    default:
      break
  }
  if (isNaNValue(value)) return inclusive ? bounds([point(value)], true) : bounds([], true)
  const range = typeRange(value.type)
  const low = canonicalType(value.type) === 10 ? lowestNumber : range.low
  const exact = value.type !== BsonType.object
  const interval: Interval = upwards
    ? { low: value, lowInclusive: inclusive, high: range.high, highInclusive: range.highInclusive }
    : { low, lowInclusive: true, high: value, highInclusive: inclusive }
  return bounds(
    compareValues(interval.low, interval.high) === 0 && !(interval.lowInclusive && interval.highInclusive)
      ? []
      : [interval],
    exact,
  )
}

function regexBounds(node: RegexNode): FieldBounds {
  const itself = new RawValue(
    BsonType.regex,
    Buffer.from(`${node.pattern}\0${node.flags}\0`, 'utf8'),
    0,
    Buffer.byteLength(node.pattern) + Buffer.byteLength(node.flags) + 2,
  )
  const prefix = regexPrefix(node.pattern, node.flags)
  if (prefix === null) return bounds([typeRange(BsonType.string), point(itself)], false)
  const high = successor(prefix.text)
  const strings: Interval = {
    low: stringValue(prefix.text),
    lowInclusive: true,
    high: high ?? typeRange(BsonType.string).high,
    highInclusive: false,
  }
  return bounds([strings, point(itself)], prefix.whole)
}

/** The lowest string, by bytes, above all strings with this prefix; null: there is none. */
function successor(text: string): RawValue | null {
  const utf8 = Buffer.from(text, 'utf8')
  let length = utf8.length
  while (length > 0 && utf8[length - 1] === 0xff) length--
  if (length === 0) return null
  const bytes = Buffer.alloc(length + 5)
  bytes.writeInt32LE(length + 1, 0)
  utf8.copy(bytes, 4, 0, length)
  bytes[length + 3] = utf8[length - 1]! + 1
  return new RawValue(BsonType.string, bytes, 0, bytes.length)
}

function typeBounds(node: TypeNode): FieldBounds {
  if (node.types.includes(BsonType.array)) return unbounded
  const allNumbers = numberTypes.every((type) => node.types.includes(type))
  return bounds(node.types.map(typeRange), allNumbers && node.types.length === numberTypes.length)
}
