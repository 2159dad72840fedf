/** Manual: reference/command/collMod. Server: coll_mod.cpp (parseCollModRequest). */
import { checkFields } from '@shardlab/actor'
import {
  CommandError,
  compareDocuments,
  DocumentWriter,
  findField,
  isEmptyDocument,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { fieldsIn } from '@shardlab/member'
import { isIdKey, type Collection, type Index } from '@shardlab/storage'
import type { Access, NodeInvocation } from '../host/node-host.js'

const indexFields = {
  name: 'string',
  keyPattern: 'object',
  expireAfterSeconds: 'number',
  hidden: 'bool',
  unique: 'bool',
  prepareUnique: 'bool',
} as const

export interface IndexChange {
  readonly index: Index
  /** `{ name, … }` with the changed fields of the specification; null: nothing changes. */
  readonly specification: Uint8Array | null
  readonly makesUnique: boolean
  /** `…_old` and `…_new`. */
  readonly reply: Uint8Array
}

/**
 * @throws CommandError 72 InvalidOptions, 2 BadValue, 27 IndexNotFound, 181
 * AmbiguousIndexKeyPattern, 6011800
 */
export function indexChange(invocation: NodeInvocation, access: Access, collection: Collection): IndexChange {
  const { host, args } = invocation
  const request = args.document('index')!
  const { language, prepareUniqueIndexes } = host.behaviours
  const owner = 'collMod.index'
  const fields = fieldsIn(language, owner, indexFields)
  checkFields(owner, request, fields, language.unknownFields[owner] === 'ignored' ? 'ignored' : 'refused')
  const given = (name: string): RawValue | undefined =>
    Object.hasOwn(fields, name) ? givenField(request, name) : undefined
  const seconds = given('expireAfterSeconds')
  const hidden = given('hidden')
  const unique = given('unique')
  const prepareUnique = given('prepareUnique')
  if (seconds === undefined && hidden === undefined && unique === undefined && prepareUnique === undefined) {
    throw new CommandError(
      'InvalidOptions',
      !Object.hasOwn(fields, 'hidden')
        ? 'no expireAfterSeconds field'
        : prepareUniqueIndexes
          ? 'no expireAfterSeconds, hidden, unique, or prepareUnique field'
          : 'no expireAfterSeconds or hidden field',
    )
  }
  const index = requestedIndex(collection, request)
  if (hidden !== undefined && collection.clustered && isIdKey(index.key))
    throw new CommandError(6011800, "The 'hidden' option is not supported for a clusteredIndex")
  const change = new DocumentWriter(128).string('name', index.name)
  const reply = new DocumentWriter(128)
  let changes = 0
  if (seconds !== undefined) {
    const old = findField(index.spec, 'expireAfterSeconds')
    checkTimeToLive(index, old !== undefined, prepareUniqueIndexes)
    const value = Math.trunc(seconds.asNumber())
    if (value < 0)
      throw new CommandError('InvalidOptions', "TTL index 'expireAfterSeconds' option cannot be less than 0")
    if (value > 0x7fff_ffff) {
      throw new CommandError(
        'InvalidOptions',
        `TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number`,
      )
    }
    change.int32('expireAfterSeconds', value)
    changes++
    if (old !== undefined) reply.int64('expireAfterSeconds_old', Math.trunc(old.asNumber()))
    reply.int64('expireAfterSeconds_new', value)
  }
  if (unique !== undefined) checkUnique(index, unique.isTruthy())
  if (hidden !== undefined && hidden.isTruthy() !== index.hidden) {
    if (hidden.isTruthy()) checkHiding(invocation, access, collection, index)
    change.bool('hidden', hidden.isTruthy())
    changes++
    reply.bool('hidden_old', index.hidden).bool('hidden_new', hidden.isTruthy())
  } else if (hidden !== undefined && isIdKey(index.key)) throw new CommandError('BadValue', "can't hide _id index")
  const makesUnique = unique !== undefined && !index.unique
  if (makesUnique) reply.bool('unique_new', true)
  const prepared = findField(index.spec, 'prepareUnique')?.isTruthy() ?? false
  if (prepareUnique !== undefined && prepareUnique.isTruthy() !== prepared && !index.unique) {
    if (changes > 0 || makesUnique)
      throw new CommandError('InvalidOptions', 'prepareUnique cannot be combined with any other modification.')
    change.bool('prepareUnique', prepareUnique.isTruthy())
    changes++
    reply.bool('prepareUnique_old', prepared).bool('prepareUnique_new', prepareUnique.isTruthy())
  }
  return { index, specification: changes > 0 ? change.finish() : null, makesUnique, reply: reply.finish() }
}

/** undefined: absent or null */
function givenField(request: Uint8Array, name: string): RawValue | undefined {
  const value = findField(request, name)
  return value?.isNullish() === true ? undefined : value
}

function requestedIndex(collection: Collection, request: Uint8Array): Index {
  const name = givenField(request, 'name')?.asString()
  const key = givenField(request, 'keyPattern')?.slice()
  if (name !== undefined && key !== undefined)
    throw new CommandError('InvalidOptions', 'Cannot specify both key pattern and name.')
  const notFound = (what: string): CommandError =>
    new CommandError('IndexNotFound', `cannot find index ${what} for ns ${collection.ns}`)
  if (name !== undefined) {
    const index = collection.index(name)
    if (index === undefined) throw notFound(name)
    return index
  }
  if (key === undefined || isEmptyDocument(key))
    throw new CommandError('InvalidOptions', 'Must specify either index name or key pattern.')
  const found = collection.indexes().filter((index) => compareDocuments(index.key, key) === 0)
  if (found.length === 0) throw notFound(formatDocument(key))
  if (found.length > 1) {
    throw new CommandError(
      'AmbiguousIndexKeyPattern',
      `index keyPattern ${formatDocument(key)} matches ${found.length} indexes, must use index name. Conflicting indexes:${formatDocument(found[0]!.spec)}, ${formatDocument(found[1]!.spec)}`,
    )
  }
  return found[0]!
}

/** Until 5.0 collMod cannot turn an index into a TTL index. */
function checkTimeToLive(index: Index, has: boolean, mayAdd: boolean): void {
  if (has) return
  if (!mayAdd) throw new CommandError('InvalidOptions', 'no expireAfterSeconds field to update')
  if (isIdKey(index.key)) throw new CommandError('InvalidOptions', 'the _id field does not support TTL indexes')
  if (index.pattern.length !== 1)
    throw new CommandError(
      'InvalidOptions',
      'TTL indexes are single-field indexes, compound indexes do not support TTL',
    )
}

function checkUnique(index: Index, unique: boolean): void {
  if (!unique) throw new CommandError('BadValue', 'Cannot make index non-unique')
  if (!index.unique && findField(index.spec, 'prepareUnique')?.isTruthy() !== true)
    throw new CommandError(
      'InvalidOptions',
      "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.",
    )
}

function checkHiding({ host }: NodeInvocation, access: Access, collection: Collection, index: Index): void {
  if (collection.ns.slice(collection.ns.indexOf('.') + 1).startsWith('system.'))
    throw new CommandError('BadValue', "Can't hide index on system collection")
  if (isIdKey(index.key)) throw new CommandError('BadValue', "can't hide _id index")
  if (
    host.behaviours.hidingShardKeyIndexIsRefused &&
    host.role.indexRules?.isLast(access, collection, index, new Set()) === true
  )
    throw new CommandError('InvalidOptions', "Can't hide the only compatible index for this collection's shard key")
}
