/**
 * The live stream of a cluster: numbered deltas, of which the first ones are a snapshot. Plain data
 * that JSON and BSON can hold. docs/reference/live-stream.md describes it for readers.
 */
import type { ClusterEvent, OperationsEvent } from '@shardlab/actor'

/** What does not change while the cluster runs. */
export interface ClusterFacts {
  readonly id: string
  readonly uri: string
  readonly topology: 'sharded' | 'replica-set' | 'standalone'
  /** The emulated version, such as `7.0`. */
  readonly emulate: string
  readonly clock: 'real' | 'manual'
}

export interface LiveMember {
  /** Its name, such as `shard01` or `shard01-2`. */
  readonly address: string
  /** The name of its replica set; its address, if it is the only member. */
  readonly set: string
  readonly role: string
  readonly state: 'starting' | 'running' | 'stopped' | 'crashed'
  /** Of a set of several members, such as `PRIMARY`; null: not known, or the only member. */
  readonly setState: string | null
  /** `host:port`; only a name for a member that clients cannot reach. */
  readonly endpoint: string
  /** The process of `shardlab host` that runs it; null: that of the cluster. */
  readonly machine: string | null
}

export interface LiveShard {
  readonly id: string
  readonly draining: boolean
  readonly zones: readonly string[]
}

/** Keys are hexadecimal digits: their order as texts is the order of the shard key. */
export interface LiveZone {
  readonly zone: string
  readonly fromKey: string
  readonly toKey: string
  /** Bounds as relaxed Extended JSON. */
  readonly min: string
  readonly max: string
}

export interface LiveCollection {
  readonly ns: string
  /** The shard key as relaxed Extended JSON. */
  readonly shardKey: string
  /** Moved as a whole: tracked by the catalog, but not sharded. */
  readonly unsplittable: boolean
  /** false: the balancer is switched off for it. */
  readonly balanced: boolean
  /** In the order of their keys. */
  readonly zones: readonly LiveZone[]
}

/** A chunk ends where the next one begins, and the last one at MaxKey. */
export interface LiveChunk {
  readonly key: string
  /** The lower bound as relaxed Extended JSON. */
  readonly min: string
  readonly shard: string
  /** Absent: false. */
  readonly jumbo?: true
}

/** A migration that has begun and not ended. */
export interface LiveMigration {
  readonly id: string
  readonly ns: string
  readonly from: string
  readonly to: string
  readonly min: string
  readonly max: string
  /** Empty: the collection is unknown. */
  readonly fromKey: string
  readonly toKey: string
  readonly stage: 'started' | 'cloned' | 'critical-section'
  readonly documents: number
  readonly bytes: number
}

export interface LiveFault {
  readonly id: string
  /** In the grammar of faults: `crash shard02 for 5s`. */
  readonly fault: string
  readonly verb: string
  readonly state: 'scheduled' | 'waiting' | 'active' | 'exhausted'
  readonly members: readonly string[]
  readonly beginsAtMs: number
  /** null: never. */
  readonly healsAtMs: number | null
}

export interface LiveBalancer {
  /** `invalid`: the settings cannot be read, and no round runs. */
  readonly mode: 'full' | 'autoSplitOnly' | 'off' | 'invalid'
  /** In minutes of the day; `stop` may be before `start`. null: always. */
  readonly activeWindow: { readonly start: number; readonly stop: number } | null
}

export interface LiveCatalog {
  /** Since when it can be read; 0: it has not been read yet. Milliseconds since the epoch. */
  readonly readAtMs: number
  /** Why it can no longer be read; null: it can. */
  readonly error: string | null
}

/** A manual clock. */
export interface LiveClock {
  readonly nowMs: number
  /** Seconds of the cluster in one of reality, while pages play it; null: it stands still. */
  readonly speed: number | null
  /** When the present long step ends; null: no such step is under way. */
  readonly untilMs: number | null
}

export type Delta =
  /**
   * All earlier state is void. Deltas up to `ready` build the state of one moment.
   * `recordedSinceMs`: of what happened before, nothing is known.
   */
  | { readonly type: 'snapshot'; readonly cluster: ClusterFacts; readonly recordedSinceMs: number }
  | { readonly type: 'ready' }
  | { readonly type: 'member'; readonly member: LiveMember }
  | { readonly type: 'member-removed'; readonly address: string }
  | { readonly type: 'shard'; readonly shard: LiveShard }
  | { readonly type: 'shard-removed'; readonly id: string }
  /** Its chunks are not changed. */
  | { readonly type: 'collection'; readonly collection: LiveCollection }
  /** Its chunks are gone, too. */
  | { readonly type: 'collection-removed'; readonly ns: string }
  /** Replaces the chunks that begin in `[from, to)`; null: up to the end. */
  | {
      readonly type: 'chunks'
      readonly ns: string
      readonly from: string
      readonly to: string | null
      readonly chunks: readonly LiveChunk[]
    }
  | { readonly type: 'migration'; readonly migration: LiveMigration }
  | { readonly type: 'migration-ended'; readonly id: string }
  /** Replaces the list. */
  | { readonly type: 'faults'; readonly faults: readonly LiveFault[] }
  | { readonly type: 'balancer'; readonly balancer: LiveBalancer }
  | { readonly type: 'catalog'; readonly catalog: LiveCatalog }
  /** Of a manual clock alone. */
  | { readonly type: 'clock'; readonly clock: LiveClock }
  /** Sums and samples of the operations of a router. */
  | { readonly type: 'operations'; readonly operations: OperationsEvent }
  /** For the history. The changes of the state are in deltas of their own. */
  | { readonly type: 'event'; readonly event: StreamedEvent }

/** Logs are those of the levels `warn` and `error`. */
export type StreamedEvent = Exclude<ClusterEvent, { type: 'routed' | 'operations' | 'collection-size' }>

/**
 * A delta as a reader receives it. Numbers begin with 1 and are consecutive; only a snapshot may
 * follow a gap.
 */
export type NumberedDelta = Delta & { readonly number: number }
