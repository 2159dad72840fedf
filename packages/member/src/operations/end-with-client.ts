/**
 * Reads end with the client that waits for them; writes continue. Server:
 * `markKillOnClientDisconnect` of operation_context.h. A router that is interrupted closes its
 * connections to the shards, so that reads end there, too.
 */
import { CommandError } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { RunningOperation } from './running-operation.js'

function clientDisconnect(): CommandError {
  return new CommandError('ClientDisconnect', 'operation was interrupted because a client disconnected')
}

/** Called when a client has closed its connection. */
export function killOfConnection(host: MemberHost, connectionId: number): void {
  if (!host.behaviours.readsEndWithTheirClient) return
  for (const operation of host.operations)
    if (operation.connectionId === connectionId && isRead(host, operation)) operation.interrupt(clientDisconnect())
}

/** Called when a router's operation was killed: nothing awaits what it asked for. */
export function killOfRouter(host: MemberHost, operationKey: number): void {
  for (const operation of host.operations)
    if (operation.requesterKey === operationKey && (operation.command === 'getMore' || isRead(host, operation)))
      operation.interrupt(clientDisconnect())
}

function isRead({ commandRows }: MemberHost, { command, args }: RunningOperation): boolean {
  const ends = commandRows.find(({ name }) => name === command)?.endsWithClient
  return typeof ends === 'function' ? args !== null && ends(args) : ends === true
}
