import type { ClusterEvent } from '@shardlab/actor'
import type { EventEmitter } from 'eventemitter3'

/** Listeners' arguments by type of event. Fields: docs/reference/events.md. */
export type ClusterEvents = { [Type in ClusterEvent['type']]: [event: Extract<ClusterEvent, { type: Type }>] }

export function relayEvent(emitter: Pick<EventEmitter, 'emit'>, event: ClusterEvent): void {
  emitter.emit(event.type, event)
}
