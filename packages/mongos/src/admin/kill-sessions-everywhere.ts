import { configAddress } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { killSessionsHere, type SessionPredicate } from '@shardlab/member'
import { askAll } from '../reads/ask-all.js'
import { configCommand } from '../routing/primary.js'
import type { MongosInvocation } from '../host/mongos-host.js'

/** Runs on this router, every shard and the config server. Server: kill_sessions_remote.cpp. */
export async function killSessionsEverywhere(
  invocation: MongosInvocation,
  fits: SessionPredicate,
): Promise<DocumentWriter> {
  const { host, operation } = invocation
  killSessionsHere(host, fits, operation)
  await askAll(invocation, [...(await host.shards.ids(operation)), configAddress], () => configCommand(invocation))
  return new DocumentWriter(128)
}
