import type { ClusterEvent } from '@shardlab/actor'
import type { EventEmitter } from 'eventemitter3'

/** Events of a cluster by their type, and what their listeners get. All fields: docs/reference/events.md. */
export type ClusterEvents = { [Type in ClusterEvent['type']]: [event: Extract<ClusterEvent, { type: Type }>] }

/** Each event goes to the listeners of its type. */
export function relayEvent(emitter: Pick<EventEmitter, 'emit'>, event: ClusterEvent): void {
  emitter.emit(event.type, event)
}
