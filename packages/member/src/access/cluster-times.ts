/** Cluster times of clients. Server: vector_clock.cpp, SignedComponentFormat. */
import {
  ownRemote,
  writeTimes,
  type ClientCommand,
  type CommandRow,
  type TimeCheck,
  type TimestampPair,
} from '@shardlab/actor'
import type { DocumentWriter } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { ConnectionAccess } from './connection-access.js'

type TimesHost = Pick<MemberHost, 'clock' | 'connections' | 'timeKeys'>
type Sender = Pick<ClientCommand, 'connectionId' | 'remote'>

function accessOf({ connections }: TimesHost, { connectionId }: Sender): ConnectionAccess | null {
  return connections.find(connectionId)?.access ?? null
}

function isTrusted(host: TimesHost, client: Sender): boolean {
  return client.remote === ownRemote || accessOf(host, client)?.advancesClock === true
}

/** How the time of a command is checked. Null: the client may send any time. */
export function timeCheckOf(
  host: TimesHost,
  client: Sender,
  row: Pick<CommandRow<never>, 'privileges'>,
): TimeCheck | null {
  const { timeKeys } = host
  if (timeKeys === null || isTrusted(host, client)) return null
  return (time, signature) => {
    const mayBeUnsigned = row.privileges === 'none' && (accessOf(host, client)?.users.length ?? 0) === 0
    if (mayBeUnsigned && signature.hash.every((byte) => byte === 0)) return false
    timeKeys.signer.check(time, signature)
    return true
  }
}

/** Adds the times to a reply. A client that needs a signature gets no times if there is no key. */
export function writeTimesFor(
  host: TimesHost,
  client: Sender,
  writer: DocumentWriter,
  operationTime: TimestampPair,
): DocumentWriter {
  const { clock, timeKeys } = host
  if (timeKeys === null || isTrusted(host, client)) return writeTimes(writer, clock.time, operationTime)
  const signature = timeKeys.signer.sign(clock.time)
  return signature === null ? writer : writeTimes(writer, clock.time, operationTime, signature)
}
