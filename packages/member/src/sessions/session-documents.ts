/** Server: document_source_list_local_sessions.cpp, document_source_list_sessions.cpp. */
import {
  BsonType,
  CommandError,
  documentsOf,
  DocumentWriter,
  FieldIterator,
  findField,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import { noUserDigest } from './session-patterns.js'

/**
 * Returns `{ _id: { id, uid }, lastUse }` for each session.
 * @param stage name of the stage, for messages
 * @throws CommandError 14 TypeMismatch, 40415 IDLUnknownField, 12 UnsupportedFormat
 */
export function sessionDocuments(host: MemberHost, stage: string, argument: RawValue): Uint8Array[] {
  const { allUsers, users } = parse(stage, argument)
  // Without authentication all sessions are those of the user without a name.
  if (!allUsers && users.length > 0 && !users.some(({ user, db }) => user === '' && db === '')) return []
  return host.sessions
    .list()
    .map(({ id, lastUsedMs }) =>
      new DocumentWriter(128)
        .startDocument('_id')
        .uuid('id', id)
        .binary('uid', 0, noUserDigest)
        .end()
        .date('lastUse', lastUsedMs)
        .finish(),
    )
}

interface User {
  readonly user: string
  readonly db: string
}

function parse(stage: string, argument: RawValue): { readonly allUsers: boolean; readonly users: readonly User[] } {
  let allUsers = false
  let users: User[] = []
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (name === 'allUsers') {
      if (it.type !== BsonType.bool) throw wrongType(stage, name, it.type, 'bool')
      allUsers = it.value().asBool()
    } else if (name === 'users') {
      if (it.type !== BsonType.array) throw wrongType(stage, name, it.type, 'array')
      users = documentsOf(it.value()).map((user) => ({ user: text(stage, user, 'user'), db: text(stage, user, 'db') }))
    } else if (name !== '$_internalPredicate')
      throw new CommandError(40415, `BSON field '${stage}.${name}' is an unknown field.`)
  }
  if (allUsers && users.length > 0)
    throw new CommandError(
      'UnsupportedFormat',
      `${stage} may not specify {allUsers:true} and {users:[...]} at the same time`,
    )
  return { allUsers, users }
}

function text(stage: string, user: Uint8Array, name: string): string {
  const value = findField(user, name)
  if (value === undefined)
    throw new CommandError(40414, `BSON field '${stage}.users.${name}' is missing but a required field`)
  if (value.type !== BsonType.string) throw wrongType(stage, `users.${name}`, value.type, 'string')
  return value.asString()
}

function wrongType(stage: string, name: string, type: number, wanted: string): CommandError {
  return new CommandError(
    'TypeMismatch',
    `BSON field '${stage}.${name}' is the wrong type '${typeName(type)}', expected type '${wanted}'`,
  )
}

const sessionsCollection = 'config.system.sessions'

export function checkSessionsCollection(ns: string): void {
  if (ns !== sessionsCollection)
    throw new CommandError(
      'InvalidNamespace',
      "$listSessions must be run against the 'system.sessions' collection in the 'config' database.",
    )
}
