/**
 * With access control, a session belongs to its user: its id has a digest of the user's name.
 * Server: logical_session_id_helpers.cpp, initialize_operation_session_info.cpp.
 */
import { ownRemote, type CommandRow } from '@shardlab/actor'
import { clusterResource } from '@shardlab/auth'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findField,
  sameBytes,
  writeInt32,
  type RawValue,
} from '@shardlab/bson'
import type { Connection } from '../connections/connection-table.js'
import type { MemberHost } from '../member-host.js'
import { accessOfConnection } from './authenticate.js'
import type { ConnectionAccess } from './connection-access.js'
import { valuesOf } from './needs.js'

const lists: Readonly<Record<string, readonly string[]>> = {
  endSessions: ['impersonate'],
  refreshSessions: ['impersonate'],
  killSessions: ['impersonate', 'killAnySession'],
}

/**
 * The command with the digest of the user in its ids of sessions. Without a user there are no
 * sessions.
 * @param command name of the row
 * @throws CommandError Unauthorized for the session of another user, and with several users
 */
export function withSessionUser(command: string, body: Uint8Array, access: ConnectionAccess): Uint8Array {
  const spoofing = Object.hasOwn(lists, command) ? lists[command]! : null
  if (spoofing === null && findField(body, 'lsid') === undefined) return body
  if (access.users.length === 0) return without(body, ['lsid', 'txnNumber'])
  const withOwn = spoofing === null ? body : withDigests(command, body, access, spoofing)
  const lsid = findField(withOwn, 'lsid')
  if (lsid?.type !== BsonType.object || !needsDigest(lsid, access, ['impersonate'])) return withOwn
  return inserted(withOwn, lsid, access.digest)
}

/** The command with the digest in each id of its list. */
function withDigests(
  command: string,
  body: Uint8Array,
  access: ConnectionAccess,
  spoofing: readonly string[],
): Uint8Array {
  const writer = new DocumentWriter(body.length + 256)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name !== command || value.type !== BsonType.array) {
      writer.value(name, value)
      continue
    }
    writer.startArray(name)
    elementsOf(value).forEach((each, i) => {
      if (each.type !== BsonType.object || !needsDigest(each, access, spoofing)) return writer.value(String(i), each)
      return writer.startDocument(String(i)).fields(each.slice()).binary('uid', 0, access.digest).end()
    })
    writer.end()
  }
  return writer.finish()
}

/** As {@link withSessionUser}. Commands of Shardlab itself keep the sessions that they name. */
export function withUserOfSession(
  host: MemberHost,
  { name }: Pick<CommandRow<never>, 'name'>,
  connection: Connection,
  body: Uint8Array,
): Uint8Array {
  return connection.remote === ownRemote ? body : withSessionUser(name, body, accessOfConnection(host, connection))
}

/**
 * Whether an id of a session has no digest yet.
 * @throws CommandError Unauthorized for that of another user
 */
function needsDigest(lsid: RawValue, access: ConnectionAccess, spoofing: readonly string[]): boolean {
  const { digest, privileges } = access
  if (findField(lsid.bytes, 'uid', lsid.start) === undefined) return true
  // The last one counts when the session is read.
  const given = valuesOf(lsid.slice(), 'uid')
  const isOwn = given.every((uid) => uid.type === BsonType.binary && sameBytes(uid.asBinary(), digest))
  if (isOwn || spoofing.some((action) => privileges.allows(clusterResource, action))) return false
  throw new CommandError('Unauthorized', 'Unauthorized to set user digest in LogicalSessionId')
}

/** Copies what is before and after the end of the id: it may be beside many documents. */
function inserted(body: Uint8Array, { start, end }: RawValue, digest: Uint8Array): Uint8Array {
  const uid = new DocumentWriter(digest.length + 16).binary('uid', 0, digest).finish().subarray(4, -1)
  const at = end - 1
  const changed = new Uint8Array(body.length + uid.length)
  changed.set(body.subarray(0, at))
  changed.set(uid, at)
  changed.set(body.subarray(at), at + uid.length)
  writeInt32(changed, 0, changed.length)
  writeInt32(changed, start, end - start + uid.length)
  return changed
}

function without(body: Uint8Array, names: readonly string[]): Uint8Array {
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();)
    if (!names.includes(it.name())) writer.value(it.name(), it.value())
  return writer.finish()
}
