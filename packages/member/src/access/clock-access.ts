import { ownRemote, type ClientCommand } from '@shardlab/actor'
import type { MemberHost } from '../member-host.js'

/**
 * With access control a client without user does not advance the cluster's time, which never goes
 * back. Server: vector_clock.cpp, couldBeUnauthenticated.
 */
export function mayAdvanceClock(
  { hasAccessControl, connections }: MemberHost,
  { connectionId, remote }: Pick<ClientCommand, 'connectionId' | 'remote'>,
): boolean {
  if (!hasAccessControl || remote === ownRemote) return true
  return (connections.find(connectionId)?.access?.users.length ?? 0) > 0
}
