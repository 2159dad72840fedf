import type { RolledBackNamespace } from '@shardlab/actor'
import type { Effect, MemberState, OpTime, StepDownReason, TimedOpTime } from '@shardlab/replication'

export type ElectionEffect = Extract<Effect, { kind: 'election' }>

/** What the protocol of a set makes its member do. */
export interface ProtocolHooks {
  /** Server parameter writePeriodicNoops. */
  writesPeriodicNoops(): boolean
  /** The state that other members and clients see has changed. */
  stateChanged(from: MemberState, to: MemberState): void
  /** This member is primary and its first entry is written: serve writes. */
  beginWrites(): void
  /** Ends all work of the primary: after this resolves, it changes nothing more. */
  endWrites(): Promise<void>
  /** The reply of hello has changed. */
  topologyChanged(): void
  committed(point: TimedOpTime): void
  elected(result: ElectionEffect): void
  /** A timer of the protocol has run, such as those of heartbeats. */
  woken(): void
  /** This member was primary in that term. */
  steppedDown(term: number, reason: StepDownReason): void
  /** Entries after this position were removed. */
  rolledBack(to: OpTime, entries: number, namespaces: readonly RolledBackNamespace[]): void
  /** This member and the source have no entry in common. */
  rollbackFailed(source: string): void
}
