/**
 * Tells change streams about migrations and reshardings. Call {@link NodeHost.flush} afterwards.
 * Server: migration_util.cpp, resharding_donor_service.cpp, resharding_recipient_service.cpp.
 */
import { DocumentWriter } from '@shardlab/bson'
import type { NodeHost } from '../host/node-host.js'

interface Place {
  readonly ns: string
  readonly uuid: Uint8Array
}

/** Before the first chunk moves to a shard. */
export function announceNewShard(node: NodeHost, place: Place, from: string, to: string): void {
  const { shardingProgressEntries: form } = node.behaviours
  if (form === 'none') return
  const o2 =
    form === 'type'
      ? new DocumentWriter(128).string('type', 'migrateChunkToNewShard').string('from', from).string('to', to)
      : new DocumentWriter(128)
          .string('migrateChunkToNewShard', place.ns)
          .string('fromShardId', from)
          .string('toShardId', to)
  append(node, place, o2, `Migrating chunk from shard ${from} to shard ${to} with no chunks for this collection`)
}

/** After the last chunk has left the shard. */
export function announceLastChunk(node: NodeHost, place: Place, shard: string): void {
  if (!node.behaviours.lastChunkEntries) return
  const o2 = new DocumentWriter(128).string('migrateLastChunkFromShard', place.ns).string('shardId', shard)
  append(node, place, o2, `Migrate the last chunk for ${place.ns} off shard ${shard}`)
}

/** On a donor, when it begins to record changes. */
export function announceReshardBegin(node: NodeHost, place: Place, reshardingUuid: Uint8Array): void {
  const o2 = reshardingObject(node, 'reshardBegin', place, reshardingUuid)
  append(node, place, o2, 'Created temporary resharding collection', true)
}

/** On a recipient, when it has all changes. @param place the temporary collection */
export function announceReshardDoneCatchUp(node: NodeHost, place: Place): void {
  const o2 = reshardingObject(node, 'reshardDoneCatchUp', place, place.uuid)
  const message = 'The temporary resharding collection now has a strictly consistent view of the data'
  append(node, place, o2, message, true)
}

function reshardingObject(
  { behaviours }: NodeHost,
  event: 'reshardBegin' | 'reshardDoneCatchUp',
  { ns }: Place,
  reshardingUuid: Uint8Array,
): DocumentWriter {
  const writer = new DocumentWriter(128)
  return behaviours.shardingProgressEntries === 'type'
    ? writer.uuid('reshardingUUID', reshardingUuid).string('type', event)
    : writer.string(event, ns).uuid('reshardingUUID', reshardingUuid)
}

function append(node: NodeHost, { ns, uuid }: Place, o2: DocumentWriter, message: string, fromMigrate = false): void {
  const object = new DocumentWriter(128).string('msg', message).finish()
  node.apply({ op: 'n', ns, uuid, object, id: null, session: null, o2: o2.finish(), fromMigrate })
}
