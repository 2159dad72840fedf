import type {
  BalancerRoundEvent,
  CatalogEvent,
  ClusterEvent,
  FaultAppliedEvent,
  FaultHealedEvent,
  JumboEvent,
  LimitEvent,
  LogEvent,
  MemberEvent,
  MergeEvent,
  MigrationEvent,
  RangeDeletedEvent,
  RoutedEvent,
  SplitEvent,
} from '@shardlab/actor'
import type { EventEmitter } from 'eventemitter3'

/** Events of a cluster and what their listeners get. All fields: docs/reference/events.md. */
export interface ClusterEvents {
  routed: [event: RoutedEvent]
  member: [event: MemberEvent]
  limit: [event: LimitEvent]
  catalog: [event: CatalogEvent]
  split: [event: SplitEvent]
  merge: [event: MergeEvent]
  migration: [event: MigrationEvent]
  'range-deleted': [event: RangeDeletedEvent]
  'balancer-round': [event: BalancerRoundEvent]
  jumbo: [event: JumboEvent]
  'fault-applied': [event: FaultAppliedEvent]
  'fault-healed': [event: FaultHealedEvent]
  log: [event: LogEvent]
}

/** Each event goes to the listeners of its type. */
export function relayEvent(emitter: Pick<EventEmitter, 'emit'>, event: ClusterEvent): void {
  emitter.emit(event.type, event)
}
