import { configAddress, unversioned } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { killSessionsHere, type SessionPredicate } from '@shardlab/member'
import { askAll } from '../reads/ask-all.js'
import { configCommand } from '../routing/primary.js'
import type { MongosInvocation } from '../host/mongos-host.js'

/**
 * Runs on this router, every shard and the config server. Server: kill_sessions_remote.cpp.
 * @param body for the other members; null: the client's command
 */
export async function killSessionsEverywhere(
  invocation: MongosInvocation,
  fits: SessionPredicate,
  body: Uint8Array | null = null,
): Promise<DocumentWriter> {
  const { host, operation } = invocation
  killSessionsHere(host, fits, operation)
  await askAll(invocation, [...(await host.shards.ids(operation)), configAddress], () =>
    body === null ? configCommand(invocation) : unversioned('admin', body),
  )
  return new DocumentWriter(128)
}
