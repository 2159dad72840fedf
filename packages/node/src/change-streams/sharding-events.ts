/**
 * Events about sharding. They are no-ops in the oplog whose `o2` begins with the name of the event.
 * Server: sharding_util, `notifyChangeStreamsOn…` of several coordinators.
 */
import { DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import type { NodeHost } from '../host/node-host.js'
import { fieldOf, type Operation } from './operation.js'

export type ShardingEvent = 'shardCollection' | 'refineCollectionShardKey' | 'reshardCollection'
/** Until 6.0 `o2` has the name of these events in its field `type`. */
export type ProgressEvent = 'migrateChunkToNewShard' | 'reshardBegin' | 'reshardDoneCatchUp'
type Signal = ShardingEvent | ProgressEvent | 'migrateLastChunkFromShard'

const progressEvents: ReadonlySet<string> = new Set(['migrateChunkToNewShard', 'reshardBegin', 'reshardDoneCatchUp'])
const signals: ReadonlySet<string> = new Set([
  ...progressEvents,
  'shardCollection',
  'refineCollectionShardKey',
  'reshardCollection',
  'migrateLastChunkFromShard',
])

/** Null: change streams never show the no-op. */
export function signalOf(
  operation: Operation,
): { readonly name: Signal; readonly object: RawValue; readonly hasType: boolean } | null {
  const object = fieldOf(operation, 'o2')
  if (object === undefined) return null
  const it = new FieldIterator(object.bytes, object.start)
  if (!it.next()) return null
  const first = it.name()
  if (signals.has(first)) return { name: first as Signal, object, hasType: false }
  if (first !== 'type' && first !== 'reshardingUUID') return null
  const type = findField(object.bytes, 'type', object.start)?.asString() ?? ''
  return progressEvents.has(type) ? { name: type as Signal, object, hasType: true } : null
}

/**
 * Appends the no-op of an event. Call {@link NodeHost.flush} afterwards.
 * @param description of the event
 */
export function announceSharding(
  node: NodeHost,
  { ns, uuid }: { readonly ns: string; readonly uuid: Uint8Array },
  event: ShardingEvent,
  description: Uint8Array,
): void {
  const object = new DocumentWriter(256).startDocument('msg').string(event, ns).end().finish()
  const o2 = new DocumentWriter(description.length + 128).string(event, ns).fields(description).finish()
  node.apply({ op: 'n', ns, uuid, object, id: null, session: null, o2 })
}
