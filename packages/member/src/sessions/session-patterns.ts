/** Server: kill_sessions_common.cpp. Manual: reference/command/killAllSessionsByPattern. */
import { userDigest, type UserName } from '@shardlab/auth'
import {
  BsonType,
  CommandError,
  documentsOf,
  FieldIterator,
  findField,
  sameBytes,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { SessionCatalog, sessionParts, type SessionKey } from './session-catalog.js'

/** User digest of sessions without authentication: SHA-256 of the empty string. */
export const noUserDigest = new Uint8Array(
  Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex'),
)

export type SessionPredicate = (session: SessionKey) => boolean

const every: SessionPredicate = () => true

/** Sessions of these users. */
function sessionsOf(digests: readonly Uint8Array[]): SessionPredicate {
  return (session) => {
    const { uid } = sessionParts(session)
    return digests.some((digest) => sameBytes(uid.length === 0 ? noUserDigest : uid, digest))
  }
}

/**
 * For killSessions; an empty list selects all sessions, with access control those of the users.
 * @param users of the client; null: access control is off
 * @throws CommandError 14, 40414
 */
export function sessionsNamed(
  command: string,
  target: RawValue,
  users: readonly UserName[] | null = null,
): SessionPredicate {
  const documents = sessionDocumentsArgument(command, target)
  if (documents.length === 0) return users === null ? every : sessionsOf(users.map(userDigest))
  const keys = new Set(documents.map((lsid) => SessionCatalog.parse(lsid).key))
  return (session) => keys.has(session)
}

/**
 * For killAllSessions: sessions of `{ user, db }`; an empty list selects all.
 * @throws CommandError 14, 40414
 */
export function sessionsOfUsers(command: string, target: RawValue): SessionPredicate {
  const documents = sessionDocumentsArgument(command, target)
  if (documents.length === 0) return every
  for (const document of documents) {
    for (const name of ['user', 'db'])
      if (findField(document, name)?.type !== BsonType.string)
        throw new CommandError(40414, `BSON field '${command}.${command}.${name}' is missing but a required field`)
  }
  const name = (document: Uint8Array, field: string) => findField(document, field)!.asString()
  return sessionsOf(documents.map((each) => userDigest({ user: name(each, 'user'), db: name(each, 'db') })))
}

/**
 * For killAllSessionsByPattern: sessions that match one of `{ lsid | uid }`.
 * @throws CommandError 14, 40414, 40415
 */
export function sessionsByPattern(command: string, target: RawValue): SessionPredicate {
  const documents = sessionDocumentsArgument(command, target)
  if (documents.length === 0) return every
  const predicates = documents.map((document) => patternPredicate(command, document))
  return (session) => predicates.some((fits) => fits(session))
}

function patternPredicate(command: string, document: Uint8Array): SessionPredicate {
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    if (name !== 'lsid' && name !== 'uid' && name !== 'users' && name !== 'roles')
      throw new CommandError(40415, `BSON field '${command}.${command}.${name}' is an unknown field.`)
  }
  const lsid = findField(document, 'lsid')
  if (lsid?.type === BsonType.object) {
    const { key } = SessionCatalog.parse(lsid.slice())
    return (session) => session === key
  }
  const uid = findField(document, 'uid')
  if (uid === undefined) return every
  const digest = uid.type === BsonType.binary ? uid.slice().subarray(5) : new Uint8Array(0)
  return sessionsOf([digest])
}

/** @throws CommandError 14 TypeMismatch */
export function sessionDocumentsArgument(command: string, target: RawValue): Uint8Array[] {
  if (target.type !== BsonType.array)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '${command}.${command}' is the wrong type '${typeName(target.type)}', expected type 'array'`,
    )
  for (const it = new FieldIterator(target.bytes, target.start); it.next();) {
    if (it.type !== BsonType.object)
      throw new CommandError(
        'TypeMismatch',
        `BSON field '${command}.${command}.${it.name()}' is the wrong type '${typeName(it.type)}', expected type 'object'`,
      )
  }
  return documentsOf(target)
}
