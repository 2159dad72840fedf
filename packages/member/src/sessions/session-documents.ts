/** Server: document_source_list_local_sessions.cpp, document_source_list_sessions.cpp. */
import {
  BsonType,
  CommandError,
  documentsOf,
  DocumentWriter,
  FieldIterator,
  findField,
  sameBytes,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { userDigest, type UserName } from '@shardlab/auth'
import type { MemberHost } from '../member-host.js'
import { noUserDigest } from './session-patterns.js'

/**
 * Returns `{ _id: { id, uid }, lastUse }` for each session.
 * @param stage name of the stage, for messages
 * @param own users of the client; null: access control is off
 * @throws CommandError 14 TypeMismatch, 40415 IDLUnknownField, 12 UnsupportedFormat
 */
export function sessionDocuments(
  host: MemberHost,
  stage: string,
  argument: RawValue,
  own: readonly UserName[] | null,
): Uint8Array[] {
  const { allUsers, users } = parse(stage, argument)
  const wanted = allUsers ? null : wantedDigests(users, own)
  return host.sessions
    .list()
    .map((session) => ({ ...session, uid: session.uid.length === 0 ? noUserDigest : session.uid }))
    .filter(({ uid }) => wanted === null || wanted.some((digest) => sameBytes(digest, uid)))
    .map(({ id, uid, lastUsedMs }) =>
      new DocumentWriter(128)
        .startDocument('_id')
        .uuid('id', id)
        .binary('uid', 0, uid)
        .end()
        .date('lastUse', lastUsedMs)
        .finish(),
    )
}

/** Null: of all users. Without authentication sessions are those of the user without a name. */
function wantedDigests(users: readonly User[], own: readonly UserName[] | null): readonly Uint8Array[] | null {
  const digestOf = ({ user, db }: User) => (user === '' && db === '' ? noUserDigest : userDigest({ user, db }))
  if (users.length > 0) return users.map(digestOf)
  return own === null ? null : own.map(userDigest)
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
