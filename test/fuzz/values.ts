/**
 * Random values: every BSON type, numbers at the limits, names with a meaning, and any depth of
 * nesting.
 */
import type { Random } from '@shardlab/actor'
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
  type Document,
} from '@shardlab/bson'
import {
  accumulatorOperators,
  expressionOperators,
  pathOperators,
  rootOperators,
  stageOperators,
  updateModifiers,
  windowFunctions,
} from '@shardlab/query'

/** Names with a dollar that have a meaning. */
export const operatorNames: readonly string[] = [
  ...new Set(
    [
      pathOperators,
      rootOperators,
      updateModifiers,
      expressionOperators,
      accumulatorOperators,
      windowFunctions,
      stageOperators,
    ].flatMap((table) => [...table.keys()]),
  ),
]

const fieldNames = [
  '_id',
  'a',
  'b',
  'c',
  'a.b',
  'a.0',
  'a.$',
  'a.$[]',
  'a.$[x]',
  '0',
  '',
  '.',
  'a.',
  '.a',
  'a..b',
  '$',
  '$$',
  '$a',
  'x',
  'é',
  '__proto__',
  'constructor',
]
const strings = [
  '',
  'a',
  'x',
  '$a',
  '$$ROOT',
  '$$NOW',
  '$$x',
  '$',
  '$$',
  '$a.b',
  'a.b',
  'é😀',
  'true',
  'hashed',
  '2d',
  'text',
  '%Y-%m-%d',
  'UTC',
  'int',
  'majority',
  '(',
  '[a-',
  '\n',
]
const integers = [0, 1, -1, 2, 3, 10, 100, 255, 65_536, 2 ** 31 - 1, -(2 ** 31)]
const longs = ['0', '1', '-1', '4294967296', '9007199254740993', '9223372036854775807', '-9223372036854775808']
const doubles = [0, -0, 0.5, 1e-320, 1.5, -2.5, 1e15, 2 ** 53, 2 ** 63, 1e300, Infinity, -Infinity, NaN]
const decimals = ['0', '-0', '1', '0.1', '1E+6144', '1E-6176', 'NaN', 'Infinity', '-Infinity', '9223372036854775808']

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!
}

/** True once in `n` times. */
export const once = (random: Random, n: number): boolean => random.below(n) === 0

/** A field's name, more often than not one with a meaning. */
export function randomName(random: Random): string {
  return once(random, 3) ? pick(random, operatorNames) : pick(random, fieldNames)
}

/** Any value. `depth`: how many more levels it may have. */
export function randomValue(random: Random, depth = 3): unknown {
  if (depth > 0 && once(random, 3))
    return once(random, 2) ? randomDocument(random, depth - 1) : randomArray(random, depth - 1)
  const makers: readonly (() => unknown)[] = [
    () => pick(random, integers),
    () => new Int32(pick(random, integers)),
    () => Long.fromString(pick(random, longs)),
    () => new Double(pick(random, doubles)),
    () => Decimal128.fromString(pick(random, decimals)),
    () => pick(random, strings),
    () => 'long '.repeat(random.below(400)),
    () => once(random, 2),
    () => null,
    () => new Date(pick(random, [0, 1, -1, 1e12, -8.64e15, 8.64e15])),
    () => new ObjectId(Buffer.from(random.bytes(12)).toString('hex')),
    () => new Binary(random.bytes(random.below(20)), pick(random, [0, 2, 3, 4, 5, 6, 128])),
    () => new UUID(Buffer.from(random.bytes(16)).toString('hex')),
    () => new BSONRegExp(pick(random, ['a', '(', '^', 'a*b', '[', '(a+)+$']), pick(random, ['', 'i', 'imsx'])),
    () => new Timestamp({ t: random.below(2 ** 31), i: random.below(10) }),
    () => new MinKey(),
    () => new MaxKey(),
    () => new Code('1', once(random, 2) ? undefined : { a: 1 }),
    () => new BSONSymbol('a'),
    () => new DBRef('c', new ObjectId('0'.repeat(24))),
  ]
  return pick(random, makers)()
}

export function randomDocument(random: Random, depth = 3): Document {
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [randomName(random), randomValue(random, depth)]),
  )
}

function randomArray(random: Random, depth: number): unknown[] {
  return Array.from({ length: random.below(4) }, () => randomValue(random, depth))
}

/** One value nested in up to 220 documents and arrays: the server accepts 200. */
export function deeplyNested(random: Random): unknown {
  const levels = 1 + random.below(220)
  const name = randomName(random)
  const asArrays = once(random, 3)
  let value = randomValue(random, 0)
  for (let i = 0; i < levels; i++) value = asArrays ? [value] : { [name]: value }
  return value
}
