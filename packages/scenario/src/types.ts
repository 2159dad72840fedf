/** Times are milliseconds since the start of the scenario, sizes bytes, rates per second. */
import type { FailedExpectation } from './file/expectation.js'

/** 1 and 0 if shards are equal. Draining shards do not count. */
export interface Imbalance {
  /** Largest value divided by the mean. */
  readonly maxToMean: number
  /** Standard deviation. */
  readonly deviation: number
}

export interface ImbalanceOverTime {
  readonly first: Imbalance
  readonly worst: Imbalance
  readonly last: Imbalance
}

export interface ShardSample {
  /** Of owned documents. */
  readonly bytes: number
  /** Given away and not deleted yet, or received and not owned yet. */
  readonly orphans: number
  /**
   * Of all documents: owned, orphaned, and in temporary collections. In mode `metadata` with
   * their indexes.
   */
  readonly diskBytes: number
  readonly chunks: number
  /** Since the sample before. */
  readonly operations: number
  readonly draining: boolean
  readonly zones: readonly string[]
}

/** Maxima of a run, at whatever instant. */
export interface ShardPeak {
  readonly bytes: number
  readonly diskBytes: number
  readonly orphans: number
}

/** At the end; operations since the start. */
export interface ShardResult extends ShardSample {
  /** It has left the cluster: sizes and chunks are 0. */
  readonly removed: boolean
  readonly peak: ShardPeak
  /** Transferred by migrations. */
  readonly sentBytes: number
  readonly receivedBytes: number
}

/** A shard that the timeline removed. */
export interface DrainResult {
  readonly beganMs: number
  /** null: it was not empty at the end. */
  readonly removedMs: number | null
  /** That left it since. */
  readonly bytes: number
  readonly migrations: number
  /** Number of balancing periods, such as nights, in which chunks left it. */
  readonly windows: number
}

/** The work of the balancer in the time in which it was allowed to work. */
export interface BalancingResult {
  /** Periods without interruption, such as nights. */
  readonly windows: number
  readonly openMs: number
  /** Moved in the busiest period. */
  readonly bytesInBusiest: number
  /** Moved in an open hour of the periods in which something moved. */
  readonly bytesPerHour: number
}

/** A resharding as the cluster carried it out, and the headroom that the manual demands. */
export interface ReshardingResult {
  readonly ns: string
  /** The new one, as relaxed Extended JSON. */
  readonly key: string
  readonly beganMs: number
  /** null: not at the end. */
  readonly endedMs: number | null
  readonly isAborted: boolean
  /** Copied by all shards. */
  readonly bytes: number
  /** null: cloning had not ended at the end. */
  readonly cloneMs: number | null
  /** Writes were blocked, in the last part reads too. */
  readonly blockedMs: number
  /** By shard: the largest size of its part of the temporary collection. */
  readonly receivedBytes: Readonly<Record<string, number>>
}

/** For a resharding at the end of the scenario, by the manual's rule and the bandwidth. */
export interface ReshardingNeeds {
  readonly bytes: number
  /** Estimated. */
  readonly indexBytes: number
  /** That are not draining. */
  readonly shards: number
  /** Free on the disk of each of these shards. */
  readonly freeBytesPerShard: number
  /** With an even distribution under the new key. */
  readonly leastMs: number
}

export interface Sample {
  readonly atMs: number
  readonly shards: Readonly<Record<string, ShardSample>>
  /** Since the sample before. */
  readonly succeeded: number
  readonly failed: number
  /** By migrations that were committed since the sample before. */
  readonly bytesMoved: number
  readonly jumboChunks: number
  /** Of the member of a set that is furthest behind its primary, in whole seconds. */
  readonly lagMs: number
  /** By collection, in key order. */
  readonly chunks: Readonly<Record<string, readonly ChunkSample[]>>
}

export interface ChunkSample {
  /** The lower bound as a text that sorts like the keys, and as relaxed Extended JSON. */
  readonly key: string
  readonly min: string
  readonly shard: string
}

export interface Decision {
  readonly atMs: number
  readonly kind: 'replication' | 'migration' | 'split' | 'merge' | 'jumbo' | 'timeline' | 'fault' | 'balancer'
  readonly text: string
}

export interface FailedStep {
  readonly atMs: number
  readonly step: string
  readonly error: string
}

/** One operation of the application, at the end of the scenario. */
export interface ShapeResult {
  readonly ns: string
  readonly name: string
  /** `find { tenant, order: range }`. */
  readonly operation: string
  /** Of the operations of its workload. */
  readonly share: number
  /** Shares of its operations, by the router's own targeting of samples. */
  readonly kinds: {
    readonly targeted: number
    readonly multi: number
    readonly broadcast: number
    readonly refused: number
  }
  /** Mean number of shards of an operation that is not refused. */
  readonly shards: number
  /** Why most of them are routed so. */
  readonly because: string
}

export interface TransactionsResult {
  readonly committed: number
  /** Gave up: an error that is not transient, or two minutes of retries. */
  readonly failed: number
  /** Runs that did not commit, by error code; 112: a write conflict. */
  readonly aborts: Readonly<Record<string, number>>
  /** By `commitTypes` of the routers, without zeros. */
  readonly commitPaths: Readonly<Record<string, number>>
  /** Mean number of shards of a commit. */
  readonly participants: number
}

/** Of all sets: the shards and the config server. */
export interface ReplicationResult {
  /** Won. */
  readonly elections: number
  /** Including dry runs. */
  readonly failedElections: number
  readonly stepDowns: number
  readonly rollbacks: number
  /** Removed by rollbacks. */
  readonly rolledBackEntries: number
  readonly longestWithoutPrimaryMs: number
  /** At a sample, in whole seconds: of the member that was furthest behind its primary. */
  readonly worstLagMs: number
}

export interface VariantResult {
  readonly name: string
  readonly emulate: string
  readonly mode: 'documents' | 'metadata'
  readonly durationMs: number
  readonly imbalance: {
    /** Largest shard divided by the mean, in bytes. */
    readonly first: number
    readonly worst: number
    readonly last: number
    readonly bytes: ImbalanceOverTime
    readonly chunks: ImbalanceOverTime
    /** null: too few operations. */
    readonly operations: ImbalanceOverTime | null
    /** Of bytes, among the shards of each zone. */
    readonly zones: Readonly<Record<string, ImbalanceOverTime>>
  }
  readonly migrations: {
    readonly total: number
    /** `other`: by a command, or by a shard that created a chunk at the end of the key space. */
    readonly byReason: Readonly<
      Record<'draining' | 'zoneViolation' | 'chunksImbalance' | 'defragment' | 'other', number>
    >
    readonly aborted: number
    /** Moves of a chunk that had moved before, identified by its lower bound. */
    readonly repeated: number
    /** Of those, moves to a shard on which the chunk had been. */
    readonly returned: number
  }
  readonly splits: number
  readonly merges: number
  readonly bytesMoved: number
  /**
   * The minimum: over collections and shards, the sum of bytes that left a shard minus those that
   * arrived.
   */
  readonly bytesMovedLeast: number
  /** 0: no move; null: the last round still moved something, or something blocked it. */
  readonly convergedAtMs: number | null
  /** Sentences: why the last round left a collection uneven. */
  readonly blocked: readonly string[]
  readonly balancing: BalancingResult
  readonly reshardings: readonly ReshardingResult[]
  /** By collection; empty in mode `documents`. */
  readonly reshardingNeeds: Readonly<Record<string, ReshardingNeeds>>
  /** By shard. */
  readonly drains: Readonly<Record<string, DrainResult>>
  readonly jumboChunks: number
  /**
   * Documents of all shards, as their range deletions count them: the maximum at whatever instant,
   * and at the end.
   */
  readonly orphans: { readonly worst: number; readonly last: number }
  /** Time during which migrations blocked access to the collection on their donor. */
  readonly criticalSections: { readonly longestMs: number; readonly totalMs: number }
  readonly operations: {
    readonly total: number
    readonly failed: number
    /** null in mode `metadata`. */
    readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number } | null
    /** By error code; 0: the router went away. */
    readonly errors: Readonly<Record<string, number>>
    readonly routed: { readonly targeted: number; readonly multi: number; readonly broadcast: number }
  }
  /** null: the application runs none. */
  readonly transactions: TransactionsResult | null
  /** null: sets have one member. */
  readonly replication: ReplicationResult | null
  readonly shapes: readonly ShapeResult[]
  /** The shard with the most operations; null: no operations. */
  readonly hottest: { readonly shard: string; readonly share: number } | null
  /** Every shard that was in the cluster. */
  readonly shards: Readonly<Record<string, ShardResult>>
  readonly failedSteps: readonly FailedStep[]
  readonly failedExpectations: readonly FailedExpectation[]
  readonly traceHash: string
}

/** The key space of a collection at the end. */
export interface KeyMap {
  /** Of the chunks of the last sample. */
  readonly bytes: readonly number[]
  /** Keys as {@link ChunkSample.key}. */
  readonly zones: readonly { readonly fromKey: string; readonly toKey: string; readonly zone: string }[]
}

export interface VariantRun {
  readonly result: VariantResult
  readonly samples: readonly Sample[]
  readonly decisions: readonly Decision[]
  /** By collection. */
  readonly maps: Readonly<Record<string, KeyMap>>
  /** When the balancer was allowed to work. */
  readonly periods: readonly { readonly fromMs: number; readonly toMs: number }[]
  /** By the clock of the machine, milliseconds since the epoch. */
  readonly real: { readonly fromMs: number; readonly toMs: number }
  /** Stopped early: the result covers the time until then, and expectations were not checked. */
  readonly interrupted?: true
}

/** The output of `shardlab simulate --json`. */
export interface ScenarioReport {
  readonly version: 1
  readonly scenario: string
  readonly seed: number
  readonly variants: readonly (VariantResult & Pick<VariantRun, 'interrupted'>)[]
}

export interface SimulationProgress {
  readonly variant: string
  /** Over all variants, 0 to 1. */
  readonly share: number
}
