import { checkMerge, parseMergeArguments, readRole, readUser, roleKey, userKey } from '@shardlab/auth'
import { BsonType, CommandError, findField, typeName } from '@shardlab/bson'
import { accessRulesOf } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import type { StoredUsers } from './stored-users.js'
import type { UserWriter } from './write-users.js'

/**
 * Without `drop`, users and roles that exist stay as they are. Server: processUsers, processRoles.
 * @throws CommandError BadValue, or for a document that is no user or role; those before it are
 *   merged
 */
export function mergeUsers(host: NodeHost, store: StoredUsers, writer: UserWriter, body: Uint8Array): void {
  const rules = accessRulesOf(host.behaviours)
  const args = parseMergeArguments(body, rules)
  checkMerge(args)
  const { usersFrom, rolesFrom, db, drops } = args
  if (usersFrom !== '')
    merge({
      ...{ documents: documentsOf(host, usersFrom), field: 'user', db, drops, existing: store.all() },
      keyOf: ({ name }) => userKey(name),
      read: readUser,
      store: (user) => writer.storeUser(user),
      remove: (user) => writer.deleteUser(user),
    })
  if (rolesFrom !== '')
    merge({
      ...{ documents: documentsOf(host, rolesFrom), field: 'role', db, drops, existing: store.graph.roles },
      keyOf: ({ name }) => roleKey(name),
      read: (document) => readRole(document, rules),
      store: (role) => writer.storeRole(role),
      remove: ({ name }) => writer.deleteRole(name),
    })
}

interface Merge<Entry> {
  readonly documents: readonly Uint8Array[]
  /** Of the name in a document. */
  readonly field: 'user' | 'role'
  readonly db: string
  readonly drops: boolean
  readonly existing: Iterable<Entry>
  readonly keyOf: (entry: Entry) => string
  readonly read: (document: Uint8Array) => Entry
  readonly store: (entry: Entry) => void
  readonly remove: (entry: Entry) => void
}

/** Of several documents with one name the first one counts. */
function merge<Entry extends { readonly name: { readonly db: string } }>(of: Merge<Entry>): void {
  const { db, drops, keyOf } = of
  const existing = new Map([...of.existing].map((entry) => [keyOf(entry), entry]))
  const seen = new Set<string>()
  for (const document of of.documents) {
    const dbOf = textOf(document, 'db')
    textOf(document, of.field)
    if (db !== '' && dbOf !== db) continue
    const entry = of.read(document)
    const key = keyOf(entry)
    if (!seen.has(key) && (drops || !existing.has(key))) of.store(entry)
    seen.add(key)
  }
  if (!drops) return
  for (const [key, entry] of existing) if (!seen.has(key) && (db === '' || entry.name.db === db)) of.remove(entry)
}

/** @throws CommandError NoSuchKey, TypeMismatch */
function textOf(document: Uint8Array, name: string): string {
  const value = findField(document, name)
  if (value === undefined) throw new CommandError('NoSuchKey', `Missing expected field "${name}"`)
  if (value.type === BsonType.string) return value.asString()
  throw new CommandError('TypeMismatch', `"${name}" had the wrong type. Expected string, found ${typeName(value.type)}`)
}

/** Copies: the collection is read while others are written. */
const documentsOf = (host: NodeHost, ns: string): Uint8Array[] =>
  [...(host.collection(ns)?.scan() ?? [])].map(({ document }) => new Uint8Array(document))
