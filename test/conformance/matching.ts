/**
 * The format's flexible comparison of expected and actual values. Numbers compare by value whatever
 * their type; a document at the root may have more fields than expected, nested ones may not; `$$`
 * operators define the rest.
 */
import { isDeepStrictEqual } from 'node:util'
import { BSON, Binary, Long, type Document } from 'mongodb'

/** Look-ups of the special operators. */
export interface MatchContext {
  /**
   * The value of an entity.
   * @throws Error when it does not exist
   */
  readonly entity: (name: string) => unknown
  /** The lsid of a session entity, also of one that has ended. */
  readonly lsid: (name: string) => unknown
}

/** An expected value that was not found, with its path. */
export class Mismatch extends Error {
  constructor(path: string, expected: unknown, actual: unknown) {
    super(`${path || 'the value'}: expected ${show(expected)}, got ${show(actual)}`)
  }
}

/** A value as one line of relaxed Extended JSON, truncated if long. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  let text: string
  try {
    text = BSON.EJSON.stringify(value, { relaxed: true })
  } catch {
    text = String(value)
  }
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}

/**
 * Compares at the root, where documents, and documents in an array, may have more fields than
 * expected.
 * @throws Mismatch
 */
export function matchRoot(actual: unknown, expected: unknown, context: MatchContext, path = ''): void {
  match(actual, expected, context, path, true)
}

/**
 * Compares where documents must have exactly the expected fields.
 * @throws Mismatch
 */
export function matchNested(actual: unknown, expected: unknown, context: MatchContext, path = ''): void {
  match(actual, expected, context, path, false)
}

function match(found: unknown, expected: unknown, context: MatchContext, path: string, isRoot: boolean): void {
  // The driver keeps the order of a sort in a map.
  const actual: unknown = found instanceof Map ? Object.fromEntries(found) : found
  const special = operatorOf(expected)
  if (special !== null) return matchOperator(special, (expected as Document)[special], actual, context, path, isRoot)
  if (Array.isArray(expected)) return matchArray(actual, expected, context, path, isRoot)
  if (isPlain(expected)) return matchDocument(actual, expected, context, path, isRoot)
  if (!sameScalar(actual, expected)) throw new Mismatch(path, expected, actual)
}

function matchArray(actual: unknown, expected: unknown[], context: MatchContext, path: string, isRoot: boolean): void {
  if (!Array.isArray(actual) || actual.length !== expected.length) throw new Mismatch(path, expected, actual)
  expected.forEach((each, i) => match(actual[i], each, context, `${path}[${i}]`, isRoot))
}

function matchDocument(
  actual: unknown,
  expected: Document,
  context: MatchContext,
  path: string,
  isRoot: boolean,
): void {
  if (!isDocument(actual)) throw new Mismatch(path, expected, actual)
  for (const [name, value] of Object.entries(expected)) {
    const at = path === '' ? name : `${path}.${name}`
    const found = Object.hasOwn(actual, name) ? actual[name] : readable(actual, name)
    // The driver's results have null or undefined where the format omits a field.
    const special = operatorOf(value)
    if (special === '$$exists') {
      if ((found !== undefined) !== value['$$exists']) throw new Mismatch(at, value, found)
    } else if (special === '$$unsetOrMatches' && (found === undefined || (isRoot && found === null))) continue
    else match(found, value, context, at, false)
  }
  if (isRoot) return
  const extra = Object.keys(actual).find((name) => !Object.hasOwn(expected, name) && actual[name] !== undefined)
  if (extra !== undefined) throw new Mismatch(path === '' ? extra : `${path}.${extra}`, undefined, actual[extra])
}

/** The driver's results have getters on their prototypes. */
function readable(actual: Document, name: string): unknown {
  return name in actual && !(name in Object.prototype) ? actual[name] : undefined
}

function matchOperator(
  name: string,
  argument: unknown,
  actual: unknown,
  context: MatchContext,
  path: string,
  isRoot: boolean,
): void {
  const wrong = () => new Mismatch(path, { [name]: argument }, actual)
  switch (name) {
    case '$$exists':
      if ((actual !== undefined) !== argument) throw wrong()
      return
    case '$$unsetOrMatches':
      if (actual !== undefined && actual !== null) match(actual, argument, context, path, isRoot)
      else if (actual === null && argument !== null && !isRoot) throw wrong()
      return
    case '$$type':
      if (![argument].flat().some((type) => isOfType(actual, String(type)))) throw wrong()
      return
    case '$$matchesEntity':
      return match(actual, context.entity(String(argument)), context, path, isRoot)
    case '$$matchesHexBytes': {
      const bytes = actual instanceof Binary ? actual.buffer : actual
      if (!(bytes instanceof Uint8Array) || Buffer.from(bytes).toString('hex') !== String(argument).toLowerCase())
        throw wrong()
      return
    }
    case '$$sessionLsid':
      if (!sameScalar(actual, context.lsid(String(argument)))) throw wrong()
      return
    case '$$lte':
      if (!isNumber(actual) || Number(actual) > Number(argument)) throw wrong()
      return
    case '$$matchAsDocument': {
      if (typeof actual !== 'string') throw wrong()
      return match(BSON.EJSON.parse(actual, { relaxed: true }), argument, context, path, false)
    }
    case '$$matchAsRoot':
      return match(actual, argument, context, path, true)
    default:
      throw new Error(`the runner does not know the operator ${name}`)
  }
}

/** The name of the operator in a document of one `$$…` field; null for any other value. */
function operatorOf(value: unknown): string | null {
  if (!isPlain(value)) return null
  const names = Object.keys(value)
  return names.length === 1 && names[0]!.startsWith('$$') ? names[0]! : null
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether it is a document, not a BSON value such as an ObjectId. */
function isPlain(value: unknown): value is Document {
  return isDocument(value) && !('_bsontype' in value) && !(value instanceof Date) && !(value instanceof RegExp)
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'bigint' || ['Int32', 'Long', 'Double'].includes(bsonType(value))

const bsonType = (value: unknown): string =>
  typeof value === 'object' && value !== null && '_bsontype' in value ? String(value._bsontype) : ''

function sameScalar(actual: unknown, expected: unknown): boolean {
  if (isNumber(expected)) return isNumber(actual) && Number(actual) === Number(expected)
  if (expected === null) return actual === null
  if (typeof expected !== 'object') return actual === expected
  if (typeof actual !== 'object' || actual === null) return false
  return isDeepStrictEqual(canonical(actual), canonical(expected))
}

const canonical = (value: unknown): unknown => JSON.parse(BSON.EJSON.stringify({ value }, { relaxed: false }))

/**
 * Whether the value has the type with this alias. The driver converts numbers to JavaScript's, so
 * only the value distinguishes an int from a long.
 */
function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'double':
      return typeof value === 'number' || bsonType(value) === 'Double'
    case 'int':
      return bsonType(value) === 'Int32' || (Number.isInteger(value) && Math.abs(value as number) < 2 ** 31)
    case 'long':
      return value instanceof Long || typeof value === 'bigint' || Number.isInteger(value)
    case 'number':
      return isNumber(value) || bsonType(value) === 'Decimal128'
    case 'string':
      return typeof value === 'string'
    case 'bool':
      return typeof value === 'boolean'
    case 'object':
      return isPlain(value)
    case 'array':
      return Array.isArray(value)
    case 'date':
      return value instanceof Date
    case 'null':
      return value === null
    case 'undefined':
      return value === undefined
    case 'regex':
      return value instanceof RegExp || bsonType(value) === 'BSONRegExp'
    case 'binData':
      return value instanceof Uint8Array || bsonType(value) === 'Binary'
    case 'objectId':
      return bsonType(value) === 'ObjectId'
    default: {
      const name =
        { decimal: 'Decimal128', timestamp: 'Timestamp', dbPointer: 'DBRef', symbol: 'BSONSymbol' }[type] ?? type
      return bsonType(value).toLowerCase() === name.toLowerCase()
    }
  }
}
