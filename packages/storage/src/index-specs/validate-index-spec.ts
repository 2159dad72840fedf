/**
 * Server: index_key_validate.cpp, index_catalog_impl.cpp. Manual page:
 * reference/command/createIndexes.
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { compileCollation, formatDocument, formatValue, newestLanguage, type Language } from '@shardlab/query'
import { isIdKey, isSet, type IndexVersion } from './index-spec.js'
import { checkPartialFilter } from './check-partial-filter.js'
import type { Fail } from './fail.js'
import { checkWildcard } from '../wildcard/check-wildcard.js'
import { isWildcardName } from '../wildcard/wildcard-spec.js'

const allowedFields = new Set([
  'v',
  'key',
  'name',
  'ns',
  '_id',
  'unique',
  'sparse',
  'hidden',
  'background',
  'dropDups',
  'expireAfterSeconds',
  'partialFilterExpression',
  'collation',
  'storageEngine',
  'prepareUnique',
  'clustered',
  'originalSpec',
  'weights',
  'default_language',
  'language_override',
  'textIndexVersion',
  '2dsphereIndexVersion',
  'bits',
  'min',
  'max',
  'bucketSize',
  'coarsestIndexedLevel',
  'finestIndexedLevel',
  'wildcardProjection',
  'columnstoreProjection',
])
const allowedIdFields = new Set(['collation', 'name', 'v', 'key', 'ns', '_id'])
const booleanFields = new Set(['background', 'unique', 'sparse', 'dropDups', 'prepareUnique', 'clustered'])
/** Index types of the server that Shardlab does not implement. */
const unsupportedPlugins: ReadonlyMap<string, string> = new Map([
  ['text', "indexes of type 'text' are not supported here"],
  ['2d', "indexes of type '2d' are not supported here"],
  ['2dsphere', "indexes of type '2dsphere' are not supported here"],
  ['2dsphere_bucket', "indexes of type '2dsphere_bucket' are not supported here"],
  ['columnstore', 'Columnstore indexes can no longer be created'],
  ['geoHaystack', 'GeoHaystack indexes cannot be created in version 5.0 and above'],
  ['queryable_encrypted_range', 'EncryptedRange indexes cannot be created'],
])

/** For createIndexes with ignoreUnknownIndexOptions. Server: removeUnknownFields. */
export function withoutUnknownOptions(spec: Uint8Array, language: Language = newestLanguage): Uint8Array {
  const writer = new DocumentWriter(spec.length)
  for (const it = new FieldIterator(spec); it.next();)
    if (isKnown(it.name(), language)) writer.value(it.name(), it.value())
  return writer.finish()
}

function isKnown(name: string, language: Language): boolean {
  return allowedFields.has(name) && language.hasIndexOption(name)
}

export interface IndexRules {
  /** Default: of the newest release. */
  readonly language?: Language
  /** Whether a `partialFilterExpression` may contain $or and $in, as since 6.0. Default true. */
  readonly partialFilterOrAndIn?: boolean
  /** Of specifications without `v`. Default 2. */
  readonly defaultVersion?: IndexVersion
}

/**
 * Validates one element of createIndexes.
 * @returns the stored form: `v` (added if absent), `key` and `name` first, without `ns`; the `_id`
 *   index has its name
 * @throws CommandError with the server's codes and texts: CannotCreateIndex, BadValue,
 *   TypeMismatch, FailedToParse, InvalidIndexSpecificationOption, 16763, 16764, 31303
 */
export function validateIndexSpec(given: Uint8Array, rules: IndexRules = {}): Uint8Array {
  const { language = newestLanguage } = rules
  const spec = language.unknownIndexOptions === 'ignored' ? withoutUnknownOptions(given, language) : given
  const fail = (code: ConstructorParameters<typeof CommandError>[0], message: string): never => {
    throw new CommandError(code, `Error in specification ${formatDocument(spec)} :: caused by :: ${message}`)
  }
  for (const it = new FieldIterator(spec); it.next();) {
    const name = it.name()
    if (!isKnown(name, language))
      fail(
        'InvalidIndexSpecificationOption',
        `The field '${name}' is not valid for an index specification. Specification: ${formatDocument(spec)}`,
      )
  }
  for (const it = new FieldIterator(spec); it.next();) checkOption(spec, it.name(), it.value(), language, fail)
  const key = findField(spec, 'key')?.slice()
  const name = findField(spec, 'name')
  if (key === undefined)
    return fail('FailedToParse', "The 'key' field is a required property of an index specification")
  if (name === undefined)
    return fail('FailedToParse', "The 'name' field is a required property of an index specification")
  if (name.asString() === '') fail('CannotCreateIndex', 'index name cannot be empty')
  if (name.asString().includes('\0')) fail('CannotCreateIndex', 'index name cannot contain NUL bytes')
  if (name.asString() === '*') throw new CommandError('BadValue', "The index name '*' is not valid.")
  checkTimeToLive(spec, key, fail)
  checkHashed(spec, key, language)
  const partialFilter = findField(spec, 'partialFilterExpression')
  if (partialFilter !== undefined) {
    if (isSet(spec, 'sparse')) fail('CannotCreateIndex', 'cannot mix "partialFilterExpression" and "sparse" options')
    checkPartialFilter(partialFilter.slice(), rules.partialFilterOrAndIn ?? true, fail)
  }
  checkWildcard(spec, key, fail)
  if (isSet(spec, 'unique') && isSet(spec, 'prepareUnique'))
    fail(
      'CannotCreateIndex',
      `Invalid index specification ${formatDocument(spec)}; cannot create an index with the 'unique' option and the 'prepareUnique' option`,
    )
  const collation = findField(spec, 'collation')
  if (collation !== undefined && findField(spec, 'v')?.asNumber() === 1)
    fail(
      'CannotCreateIndex',
      `Invalid index specification ${formatDocument(spec)}; cannot create an index with the 'collation' option and v=1`,
    )
  const firstName = new FieldIterator(key)
  if (firstName.next() && firstName.name() === '_id' && !firstName.next() && firstFieldIsNumber(key))
    checkIdSpec(spec, key)
  else if (name.asString() === '_id_') {
    throw new CommandError(
      'BadValue',
      `The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}, found key: ${formatDocument(key)}`,
    )
  }
  return storedForm(spec, key, isIdKey(key) ? '_id_' : name.asString(), rules.defaultVersion ?? 2)
}

function checkOption(spec: Uint8Array, name: string, value: RawValue, language: Language, fail: Fail): void {
  const mustBe = (type: number, description: string): void => {
    if (value.type !== type)
      fail('TypeMismatch', `The field '${name}' must be ${description}, but got ${typeName(value.type)}`)
  }
  switch (name) {
    case 'key':
      mustBe(BsonType.object, 'an object')
      return checkKeyPattern(value.slice(), language, fail)
    case 'name':
      return mustBe(BsonType.string, 'a string')
    case 'hidden':
      return mustBe(BsonType.bool, 'a bool')
    case 'v': {
      if (!value.isNumber()) fail('TypeMismatch', `The field 'v' must be a number, but got ${typeName(value.type)}`)
      const version = value.asNumber()
      if (!Number.isInteger(version) || Math.abs(version) > 0x7fff_ffff)
        fail('BadValue', `Index version must be representable as a 32-bit integer, but got ${formatValue(value)}`)
      if (version !== 1 && version !== 2)
        fail(
          'CannotCreateIndex',
          `Invalid index specification ${formatDocument(spec)}; cannot create an index with v=${version}`,
        )
      return
    }
    case 'partialFilterExpression':
      return mustBe(BsonType.object, 'an object')
    case 'collation': {
      mustBe(BsonType.object, 'an object')
      if (value.end - value.start <= 5) fail('BadValue', "The field 'collation' cannot be an empty object.")
      compileCollation(value.slice())
      return
    }
    case 'weights':
      fail(
        'CannotCreateIndex',
        `Invalid index specification ${formatDocument(spec)}; the field 'weights' can only be specified with text indexes`,
      )
      return
    case 'wildcardProjection':
      return
    case 'clustered':
      fail('CannotCreateIndex', 'clustered indexes are not supported here')
      return
    default:
      if (booleanFields.has(name) && !value.isNumber() && value.type !== BsonType.bool) {
        fail(
          'TypeMismatch',
          `The field '${name} has value ${name}: ${formatValue(value)}, which is not convertible to bool`,
        )
      }
  }
}

export function checkKeyPattern(key: Uint8Array, language: Language, fail: Fail): void {
  const names = new Set<string>()
  for (const it = new FieldIterator(key); it.next();) {
    if (names.has(it.name()))
      fail(
        'BadValue',
        `The field '${it.name()}' appears multiple times in the index key pattern ${formatDocument(key)}`,
      )
    names.add(it.name())
  }
  if (key.length > 2048) fail('CannotCreateIndex', 'Index key pattern too large.')
  if (names.size === 0) fail('CannotCreateIndex', 'Index keys cannot be empty.')
  let plugin = ''
  for (const it = new FieldIterator(key); it.next();) {
    const value = it.value()
    if (value.type === BsonType.string && plugin === '') plugin = value.asString()
    if (value.isNumber() && isWildcardName(it.name()) && language.has('index', 'wildcard')) plugin ||= 'wildcard'
  }
  const unsupported = unsupportedPlugins.get(plugin)
  if (unsupported !== undefined) fail('CannotCreateIndex', unsupported)
  if (plugin !== '' && plugin !== 'hashed' && plugin !== 'wildcard')
    fail('CannotCreateIndex', `Unknown index plugin '${plugin}'`)
  if (plugin === 'wildcard' && names.size > 1) fail('CannotCreateIndex', 'wildcard indexes do not allow compounding')
  for (const it = new FieldIterator(key); it.next();) {
    const value = it.value()
    if (value.isNumber()) {
      if (value.type !== BsonType.decimal128 && Number.isNaN(value.asNumber()))
        fail('CannotCreateIndex', 'Values in the index key pattern cannot be NaN.')
      if (!value.isTruthy()) fail('CannotCreateIndex', 'Values in the index key pattern cannot be 0.')
    } else if (value.type !== BsonType.string) {
      fail(
        'CannotCreateIndex',
        `Values in v:2 index key pattern cannot be of type ${typeName(value.type)}. Only numbers > 0, numbers < 0, and strings are allowed.`,
      )
    } else if (value.asString() === '') {
      fail('CannotCreateIndex', 'Values in the index key pattern cannot be empty strings')
    } else if (value.asString() !== plugin) {
      fail('CannotCreateIndex', "Can't use more than one index plugin for a single index.")
    } else if (plugin === 'wildcard') {
      fail(
        'CannotCreateIndex',
        "The key pattern value for an 'wildcard' index must be a non-zero number, not a string.",
      )
    }
    checkPath(it.name(), plugin === 'wildcard', fail)
  }
}

function checkPath(path: string, isWildcard: boolean, fail: Fail): void {
  if (path === '') fail('CannotCreateIndex', 'Index keys cannot be an empty field.')
  if (path === '_fts') fail('CannotCreateIndex', "Index key contains an illegal field name: '_fts'")
  path.split('.').forEach((part, i, parts) => {
    if (isWildcard && part === '$**' && i === parts.length - 1) return
    if (part === '') fail('CannotCreateIndex', 'Index keys cannot contain an empty field.')
    const mayBeReference = i > 0 && (part === '$db' || part === '$id' || part === '$ref')
    if (part.startsWith('$') && !mayBeReference)
      fail('CannotCreateIndex', "Index key contains an illegal field name: field name starts with '$'.")
  })
}

function checkTimeToLive(spec: Uint8Array, key: Uint8Array, fail: Fail): void {
  const seconds = findField(spec, 'expireAfterSeconds')
  if (seconds === undefined) return
  const suffix = `. Index spec: ${formatDocument(spec)}`
  if (!seconds.isNumber())
    fail(
      'CannotCreateIndex',
      `TTL index 'expireAfterSeconds' option must be numeric, but received a type of '${typeName(seconds.type)}'${suffix}`,
    )
  if (seconds.asNumber() < 0)
    fail('CannotCreateIndex', `TTL index 'expireAfterSeconds' option cannot be less than 0${suffix}`)
  if (seconds.asNumber() > 0x7fff_ffff) {
    fail(
      'CannotCreateIndex',
      `TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number${suffix}`,
    )
  }
  const fields = new FieldIterator(key)
  fields.next()
  if (fields.next())
    fail('CannotCreateIndex', `TTL indexes are single-field indexes, compound indexes do not support TTL${suffix}`)
}

function checkHashed(spec: Uint8Array, key: Uint8Array, language: Language): void {
  let hashed = 0
  let fields = 0
  for (const it = new FieldIterator(key); it.next(); fields++) if (it.type === BsonType.string) hashed++
  if (hashed > 0 && fields > 1 && !language.has('index', 'compoundHashed'))
    throw new CommandError(16763, 'Currently only single field hashed index supported.')
  if (hashed > 1)
    throw new CommandError(
      31303,
      `A maximum of one index field is allowed to be hashed but found ${hashed} for 'key' ${formatDocument(key)}`,
    )
  if (hashed === 1 && isSet(spec, 'unique'))
    throw new CommandError(16764, 'Currently hashed indexes cannot guarantee uniqueness. Use a regular index.')
}

function checkIdSpec(spec: Uint8Array, key: Uint8Array): void {
  for (const it = new FieldIterator(spec); it.next();) {
    if (!allowedIdFields.has(it.name())) {
      throw new CommandError(
        'InvalidIndexSpecificationOption',
        `The field '${it.name()}' is not valid for an _id index specification. Specification: ${formatDocument(spec)}`,
      )
    }
  }
  if (!isIdKey(key))
    throw new CommandError(
      'BadValue',
      `The field 'key' for an _id index must be {_id: 1}, but got ${formatDocument(key)}`,
    )
}

function storedForm(spec: Uint8Array, key: Uint8Array, name: string, defaultVersion: IndexVersion): Uint8Array {
  const version = findField(spec, 'v')
  const collation = findField(spec, 'collation')
  const compiled = collation === undefined ? null : compileCollation(collation.slice())
  const writer = new DocumentWriter(spec.length + 32).int32('v', version?.asNumber() ?? defaultVersion)
  writer.document('key', key).string('name', name)
  for (const it = new FieldIterator(spec); it.next();) {
    const field = it.name()
    // A NaN delay expires nothing. Neither does the greatest delay, which is stored instead as an
    // integer.
    if (field === 'expireAfterSeconds' && Number.isNaN(it.value().asNumber())) writer.int32(field, 0x7fff_ffff)
    else if (!['v', 'key', 'name', 'ns', '_id', 'collation'].includes(field)) writer.value(field, it.value())
  }
  if (compiled !== null) writer.document('collation', compiled.document)
  return writer.finish()
}

function firstFieldIsNumber(key: Uint8Array): boolean {
  const it = new FieldIterator(key)
  return it.next() && it.value().isNumber()
}
