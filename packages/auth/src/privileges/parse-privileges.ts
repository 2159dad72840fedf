/**
 * Privileges in commands and in documents of roles. Server: `privilege_parser.cpp`, and since 7.0
 * `parsed_privilege.idl` with Privilege::resolvePrivilegeWithTenant.
 */
import { BsonType, CommandError, elementsOf, findField, typeName, type RawValue } from '@shardlab/bson'
import { formatField } from '@shardlab/query'
import type { AccessRules } from '../rules/access-rules.js'
import { anyAction } from './action-type-table.js'
import { mergePrivileges, privilege, type Privilege } from './privilege.js'
import { anyResource, bucketsResource, clusterResource, namespacePattern, type ResourcePattern } from './resource.js'

/**
 * @param array an array, as the command's row has checked
 * @throws CommandError FailedToParse, BadValue, TypeMismatch, IDLFailedToParse (40414)
 */
export function parsePrivileges(array: RawValue, rules: AccessRules): Privilege[] {
  const unknown: string[] = []
  const privileges = elementsOf(array).map((element) => {
    if (element.type !== BsonType.object)
      throw new CommandError('FailedToParse', 'Elements in privilege arrays must be objects')
    return parsePrivilege(element.slice(), rules, unknown)
  })
  if (unknown.length > 0)
    throw new CommandError('FailedToParse', `Unrecognized action privilege strings: ${unknown.join(',')}`)
  return mergePrivileges(privileges)
}

/** @param unknown receives the names of actions that the emulated release lacks */
function parsePrivilege(document: Uint8Array, rules: AccessRules, unknown: string[]): Privilege {
  const { resource, names } = rules.has('resourceConflicts')
    ? parseGenerated(document, rules)
    : parseHandwritten(document, rules)
  return privilege(resource, knownActions(names, rules, unknown))
}

/** Names after `anyAction` are not looked at. */
function knownActions(names: readonly string[], rules: AccessRules, unknown: string[]): string[] {
  const known: string[] = []
  for (const name of names) {
    if (name === anyAction) return [anyAction]
    ;(rules.isAction(name) ? known : unknown).push(name)
  }
  return known
}

interface ParsedPrivilege {
  readonly resource: ResourcePattern
  readonly names: readonly string[]
}

/** Of 2.6 to 6.0: types first, then missing and wrong fields. */
function parseHandwritten(document: Uint8Array, rules: AccessRules): ParsedPrivilege {
  const actions = findField(document, 'actions')
  const names = actions === undefined ? [] : handwrittenActions(actions)
  const value = findField(document, 'resource')
  const resource = value === undefined ? null : resourceFields(value, rules)
  if (names.length === 0) throw new CommandError('FailedToParse', 'missing actions field')
  if (resource === null) throw new CommandError('FailedToParse', 'missing resource field')
  return { resource: handwrittenResource(resource), names }
}

function handwrittenActions(value: RawValue): string[] {
  if (value.type !== BsonType.array) throw wrongField('actions', 'vector array', value)
  return elementsOf(value).map((element, i) => {
    if (element.type === BsonType.string) return element.asString()
    const { message } = wrongField(String(i), 'string', element)
    throw new CommandError('FailedToParse', `error parsing element ${i} of field actions :: caused by :: ${message}`)
  })
}

interface ResourceFields {
  readonly any: boolean | undefined
  readonly cluster: boolean | undefined
  readonly db: string | undefined
  readonly collection: string | undefined
  readonly buckets: string | undefined
}

function resourceFields(value: RawValue, rules: AccessRules): ResourceFields {
  if (value.type !== BsonType.object && value.type !== BsonType.array)
    throw wrongField('resource', 'Object/Array', value)
  const document = value.slice()
  return {
    any: flag(document, 'anyResource'),
    cluster: flag(document, 'cluster'),
    db: text(document, 'db'),
    collection: text(document, 'collection'),
    buckets: rules.has('systemBuckets') ? text(document, 'system_buckets') : undefined,
  }
}

/** Server: ParsedResource::isValid. */
function handwrittenResource({ any, cluster, db, collection, buckets }: ResourceFields): ResourcePattern {
  const fail = (message: string): never => {
    throw new CommandError('FailedToParse', message)
  }
  if (buckets === undefined && (db === undefined) !== (collection === undefined))
    fail('resource must set both db and collection or neither, but not exactly one.')
  const isNamespace = db !== undefined || collection !== undefined || buckets !== undefined
  const kinds = [any !== undefined, cluster !== undefined, isNamespace]
  if (kinds.filter(Boolean).length !== 1 || (buckets !== undefined && collection !== undefined))
    fail('resource must have exactly db and collection set, or have only cluster set  or have only anyResource set')
  if (any === false) fail('anyResource must be true when specified')
  if (cluster === false) fail('cluster must be true when specified')
  if (db !== undefined && db !== '' && !isDatabaseName(db)) fail(`${db} is not a valid database name`)
  if (collection !== undefined && collection !== '' && !isCollectionName(db ?? '', collection))
    fail(`${collection} is not a valid collection name`)
  if (any) return anyResource
  if (cluster) return clusterResource
  return buckets !== undefined ? bucketsResource(db ?? '', buckets) : namespacePattern(db!, collection!)
}

/** Since 7.0: the types of all fields first, then the resource, then the number of actions. */
function parseGenerated(document: Uint8Array, rules: AccessRules): ParsedPrivilege {
  const value = required(document, 'resource')
  const names = elementsOf(typed(required(document, 'actions'), 'actions', BsonType.array)).map((element, i) =>
    typed(element, `actions.${i}`, BsonType.string).asString(),
  )
  const resource = generatedResource(value, rules)
  if (names.length === 0) throw new CommandError('BadValue', "'actions' field of privilege resource must not be empty")
  return { resource, names }
}

function generatedResource(value: RawValue, rules: AccessRules): ResourcePattern {
  const document = typed(value, 'resource', BsonType.object).slice()
  const fields = new Map<string, RawValue>()
  for (const name of ['cluster', 'anyResource', 'db', 'collection', 'system_buckets']) {
    const field = findField(document, name)
    if (field !== undefined && !field.isNullish()) fields.set(name, field)
  }
  for (const name of ['cluster', 'anyResource']) {
    const field = fields.get(name)
    if (field === undefined) continue
    if (field.type !== BsonType.bool && !field.isNumber()) throw wrongType(`resource.${name}`, field, boolTypes)
    if (!field.isTruthy()) throw new CommandError('BadValue', `resource: {${name}: false} must be true`)
    const other = [...fields.keys()].find((each) => each !== name)
    if (other !== undefined) throw conflict(`resource: {${name}: true}`, other)
    return name === 'cluster' ? clusterResource : anyResource
  }
  const [db, collection, buckets] = ['db', 'collection', 'system_buckets'].map((name) =>
    fields.has(name) ? typed(fields.get(name)!, `resource.${name}`, BsonType.string).asString() : undefined,
  )
  if (collection !== undefined && buckets !== undefined)
    throw conflict("resource: {collection: '...'}", 'system_buckets')
  if (collection !== undefined) {
    if (db === undefined)
      throw new CommandError('BadValue', "resource {collection: '...'} must include 'db' field as well")
    if (collection !== '' && !isCollectionName(db, collection))
      throw new CommandError('BadValue', `'${collection}' is not a valid collection name`)
    return namespacePattern(db, collection)
  }
  if (buckets !== undefined && rules.has('systemBuckets')) return bucketsResource(db ?? '', buckets)
  throw new CommandError('BadValue', "resource pattern must contain 'collection' or 'systemBuckets' specifier")
}

function conflict(resource: string, found: string): CommandError {
  return new CommandError('BadValue', `${resource} conflicts with resource type '${found}'`)
}

const boolTypes = '[bool, long, int, decimal, double]'

function wrongType(path: string, value: RawValue, expected: string): CommandError {
  const plural = expected.startsWith('[') ? 'types' : 'type'
  return new CommandError(
    'TypeMismatch',
    `BSON field '${path}' is the wrong type '${typeName(value.type)}', expected ${plural} '${expected}'`,
  )
}

function typed(value: RawValue, path: string, type: number): RawValue {
  if (value.type !== type) throw wrongType(path, value, typeName(type))
  return value
}

function required(document: Uint8Array, name: string): RawValue {
  const value = findField(document, name)
  if (value === undefined) throw missing(name)
  return value
}

function missing(name: string): CommandError {
  return new CommandError('IDLFailedToParse', `BSON field '${name}' is missing but a required field`)
}

/** Server: FieldParser. */
function wrongField(name: string, expected: string, value: RawValue): CommandError {
  return new CommandError(
    'FailedToParse',
    `wrong type for '${name}' field, expected ${expected}, found ${formatField(name, value)}`,
  )
}

function flag(document: Uint8Array, name: string): boolean | undefined {
  const value = findField(document, name)
  if (value === undefined) return undefined
  if (value.type !== BsonType.bool) throw wrongField(name, 'boolean', value)
  return value.asBool()
}

function text(document: Uint8Array, name: string): string | undefined {
  const value = findField(document, name)
  if (value === undefined) return undefined
  if (value.type !== BsonType.string) throw wrongField(name, 'string', value)
  return value.asString()
}

/** With `$`, as in `$external`. */
export function isDatabaseName(db: string): boolean {
  return db.length > 0 && db.length < 64 && !/[/\\. "\0]/.test(db)
}

/** The server creates `local.oplog.$main` itself. */
function isCollectionName(db: string, collection: string): boolean {
  if (db === 'local' && collection === 'oplog.$main') return true
  return collection !== '' && !collection.startsWith('.') && !/[$\0]/.test(collection)
}
