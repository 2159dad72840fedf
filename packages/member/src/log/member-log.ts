/** The ids are those of the server's NETWORK and COMMAND lines. */
import type { CommandError, RawValue } from '@shardlab/bson'
import { checkClientMetadata } from '../connections/client-metadata.js'
import { killOfConnection } from '../operations/end-with-client.js'
import type { RunningOperation } from '../operations/running-operation.js'
import { namespaceOf } from '../statistics/member-statistics.js'
import type { MemberHost } from '../member-host.js'

/** Larger commands are truncated: maxLogSizeKB. */
const loggedCommandBytesMax = 10_240

/** Called with every command of a client; logs the first one of a connection. */
export function noteConnected(host: MemberHost, connectionId: number, remote: string): void {
  if (host.connections.find(connectionId) !== undefined) return
  host.connections.of(connectionId, remote)
  if (host.logBuffer.quiet) return
  host.logBuffer.add(host.context.now(), 'I', 'NETWORK', 22943, 'listener', 'Connection accepted', {
    remote,
    connectionId,
    connectionCount: host.connections.current,
  })
}

export function noteDisconnected(host: MemberHost, connectionId: number): void {
  const connection = host.connections.find(connectionId)
  if (connection === undefined) return
  killOfConnection(host, connectionId)
  host.connections.close(connectionId)
  if (host.logBuffer.quiet) return
  host.logBuffer.add(host.context.now(), 'I', 'NETWORK', 22944, `conn${connectionId}`, 'Connection ended', {
    remote: connection.remote,
    connectionId,
    connectionCount: host.connections.current,
  })
}

/**
 * Stores and logs the `client` document of hello.
 * @throws CommandError 186 ClientMetadataCannotBeMutated, and those of {@link checkClientMetadata}
 */
export function noteMetadata(host: MemberHost, connectionId: number, value: RawValue): void {
  if (host.behaviours.clientMetadata === 'unknown') return
  host.connections.checkIsNew(connectionId)
  checkClientMetadata(value, host)
  const metadata = value.slice()
  const { remote } = host.connections.noteMetadata(connectionId, metadata)
  host.logBuffer.add(host.context.now(), 'I', 'NETWORK', 51800, `conn${connectionId}`, 'client metadata', {
    remote,
    client: `conn${connectionId}`,
    doc: metadata,
  })
}

/** Called after the reply. @param perCollection whether latencies are also counted by collection */
export function finishOperation(
  host: MemberHost,
  operation: RunningOperation,
  error: CommandError | null,
  perCollection: boolean,
): void {
  host.operations.end(operation)
  const durationMs = host.context.steadyNow() - operation.startedSteadyMs
  const ns = perCollection
    ? (operation.args?.namedCollection(operation.db) ?? namespaceOf(operation.db, operation.body))
    : null
  host.statistics.commandEnds(operation.command, ns, durationMs, error)
  if (operation.command === 'hello' || operation.command === 'isMaster' || !host.logBuffer.wantsSlow(durationMs)) return
  const body = operation.describedBody
  host.logBuffer.add(host.context.now(), 'I', 'COMMAND', 51803, `conn${operation.connectionId}`, 'Slow query', {
    type: 'command',
    ns: namespaceOf(operation.db, operation.body) ?? `${operation.db}.$cmd`,
    command: body.length > loggedCommandBytesMax ? operation.command : body,
    ...(error === null ? {} : { ok: 0, errMsg: error.message, errName: error.codeName, errCode: error.code }),
    remote: operation.remote,
    durationMillis: durationMs,
  })
}
