/**
 * Events about sharding. They are no-ops in the oplog whose `o2` begins with the name of the event.
 * Server: sharding_util, `notifyChangeStreamsOn…` of several coordinators.
 */
import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import type { NodeHost } from '../host/node-host.js'
import { fieldOf, type Operation } from './operation.js'

export type ShardingEvent = 'shardCollection' | 'refineCollectionShardKey' | 'reshardCollection'

const signals: ReadonlySet<string> = new Set(['shardCollection', 'refineCollectionShardKey', 'reshardCollection'])

/** Null: change streams do not show the no-op. */
export function signalOf(operation: Operation): { readonly name: ShardingEvent; readonly object: RawValue } | null {
  const object = fieldOf(operation, 'o2')
  if (object === undefined) return null
  const it = new FieldIterator(object.bytes, object.start)
  return it.next() && signals.has(it.name()) ? { name: it.name() as ShardingEvent, object } : null
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
