/**
 * With access control, a session belongs to its user: its id has a digest of the user's name.
 * Server: logical_session_id_helpers.cpp, initialize_operation_session_info.cpp.
 */
import { ownRemote, type CommandRow } from '@shardlab/actor'
import { clusterResource, userDigest, type UserName } from '@shardlab/auth'
import { BsonType, CommandError, DocumentWriter, elementsOf, FieldIterator, findField, sameBytes } from '@shardlab/bson'
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
  const digest = userDigest(singleUser(access))
  const writer = new DocumentWriter(body.length + 96)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === 'lsid' && value.type === BsonType.object)
      writer.document(name, withDigest(value.slice(), digest, access, ['impersonate']))
    else if (name === command && spoofing !== null && value.type === BsonType.array) {
      writer.startArray(name)
      elementsOf(value).forEach((each, i) => {
        if (each.type === BsonType.object)
          writer.document(String(i), withDigest(each.slice(), digest, access, spoofing))
        else writer.value(String(i), each)
      })
      writer.end()
    } else writer.value(name, value)
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

/** @throws CommandError Unauthorized */
export function singleUser({ users }: ConnectionAccess): UserName {
  const [user, ...others] = users
  if (user === undefined) throw new CommandError('Unauthorized', 'there are no users authenticated')
  if (others.length === 0) return user.name
  throw new CommandError(
    'Unauthorized',
    "logical sessions can't have multiple authenticated users (for more details see: https://docs.mongodb.com/manual/core/authentication/#authentication-methods)",
  )
}

function withDigest(
  lsid: Uint8Array,
  digest: Uint8Array,
  { privileges }: ConnectionAccess,
  spoofing: readonly string[],
): Uint8Array {
  const given = valuesOf(lsid, 'uid')
  if (given.length === 0) return new DocumentWriter(lsid.length + 48).fields(lsid).binary('uid', 0, digest).finish()
  // The last one counts when the session is read.
  const isOwn = given.every((uid) => uid.type === BsonType.binary && sameBytes(uid.asBinary(), digest))
  if (isOwn || spoofing.some((action) => privileges.allows(clusterResource, action))) return lsid
  throw new CommandError('Unauthorized', 'Unauthorized to set user digest in LogicalSessionId')
}

function without(body: Uint8Array, names: readonly string[]): Uint8Array {
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();)
    if (!names.includes(it.name())) writer.value(it.name(), it.value())
  return writer.finish()
}
