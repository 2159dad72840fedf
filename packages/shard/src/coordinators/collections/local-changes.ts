/** Server: sharding DDL participant commands (_shardsvr…Participant). */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { findField, sameBytes } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { buildIndex, createCollection, dropLocalCollection, dropLocalDatabase, idIndexVersionOf } from '@shardlab/node'
import type { ShardHandlers } from '../../host/handlers.js'
import type { ShardHost, Placements, ReceivingRanges } from '../../host/host.js'
import type { DdlCoordinators } from '../ddl-coordinators.js'
import { renameParticipant } from './rename-collection.js'

interface ParticipantHost extends ShardHost {
  readonly ddl: Pick<DdlCoordinators, 'receivedMoves'>
  readonly placements: Placements
  readonly migrations: ReceivingRanges
}

export const localChangeHandlers: ShardHandlers<
  | 'shard.create-local-collection'
  | 'shard.drop-local-collection'
  | 'shard.rename-local-collection'
  | 'shard.drop-local-database',
  ParticipantHost
> = {
  'shard.create-local-collection': createLocalCollection,
  'shard.drop-local-collection': dropLocal,
  'shard.rename-local-collection': renameLocal,
  'shard.drop-local-database': dropDatabase,
}

async function createLocalCollection(
  { node, placements, ddl }: ParticipantHost,
  { ns, uuid, options, indexes, move }: RequestOf<'shard.create-local-collection'>,
): Promise<ReplyOf<'shard.create-local-collection'>> {
  if (move !== null) ddl.receivedMoves.admit(databaseNameOf(ns), move)
  const stale = node.collection(ns)
  // A leftover of an earlier collection of this name has another UUID and no owner.
  if (stale !== undefined && !sameBytes(stale.uuid, uuid)) dropLocalCollection(node, ns, true)
  const collection =
    node.collection(ns) ??
    createCollection(node, ns, options, { uuid, idIndexVersion: idIndexVersionOf(indexes), fromMigrate: true })
  for (const spec of indexes) {
    if (collection.index(findField(spec, 'name')!.asString()) === undefined) buildIndex(node, collection, spec, true)
  }
  placements.forgetCollection(ns)
  await node.flushToMajority()
  return { error: null }
}

async function dropLocal(
  host: ParticipantHost,
  { ns }: RequestOf<'shard.drop-local-collection'>,
): Promise<ReplyOf<'shard.drop-local-collection'>> {
  const indexCount = dropLocalCopy(host, ns)
  await host.node.flushToMajority()
  return { existed: indexCount !== null, indexCount: indexCount ?? 0 }
}

/**
 * The caller flushes the node.
 * @returns how many indexes it had; null: it did not exist
 */
export function dropLocalCopy(
  { node, placements, migrations }: Pick<ParticipantHost, 'node' | 'placements' | 'migrations'>,
  ns: string,
): number | null {
  migrations.abortReceiving((each) => each === ns)
  const indexCount = dropLocalCollection(node, ns, true)
  placements.forgetCollection(ns)
  return indexCount
}

async function renameLocal(
  { node, placements }: ParticipantHost,
  request: RequestOf<'shard.rename-local-collection'>,
): Promise<ReplyOf<'shard.rename-local-collection'>> {
  renameParticipant(node, request)
  placements.forgetCollection(request.ns)
  placements.forgetCollection(request.to)
  await node.flushToMajority()
  return {}
}

async function dropDatabase(
  { node, placements, migrations }: ParticipantHost,
  { db }: RequestOf<'shard.drop-local-database'>,
): Promise<ReplyOf<'shard.drop-local-database'>> {
  migrations.abortReceiving((ns) => ns.startsWith(`${db}.`))
  dropLocalDatabase(node, db, true)
  placements.forgetDatabase(db)
  await node.flushToMajority()
  return {}
}
