/**
 * Results of a simulation. Times are milliseconds since the start of the scenario, sizes bytes,
 * rates per second.
 */
import type { FailedExpectation } from './file/expectation.js'

/** Inequality of shards: 1 and 0 if they are equal. Draining shards do not count. */
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
  /** Bytes of the documents that the shard owns. */
  readonly bytes: number
  /** Documents given away and not deleted yet. */
  readonly orphans: number
  readonly chunks: number
  /** Operations that targeted this shard since the sample before. */
  readonly operations: number
  readonly draining: boolean
}

/** The cluster at one instant. */
export interface Sample {
  readonly atMs: number
  readonly shards: Readonly<Record<string, ShardSample>>
  /** Operations that ended since the sample before. */
  readonly succeeded: number
  readonly failed: number
  readonly jumboChunks: number
  /** Chunks with their owners, by collection, in key order. */
  readonly chunks: Readonly<Record<string, readonly ChunkSample[]>>
}

export interface ChunkSample {
  /** The lower bound as a text that sorts like the keys, and as relaxed Extended JSON. */
  readonly min: string
  readonly minText: string
  readonly shard: string
}

/** A decision or event, with its reason. */
export interface Decision {
  readonly atMs: number
  readonly kind: 'migration' | 'split' | 'merge' | 'jumbo' | 'timeline' | 'fault' | 'balancer'
  readonly text: string
}

/** A step of the timeline that failed. */
export interface FailedStep {
  readonly atMs: number
  readonly step: string
  /** One sentence. */
  readonly error: string
}

export interface VariantResult {
  readonly name: string
  readonly emulate: string
  readonly mode: 'documents' | 'metadata'
  readonly durationMs: number
  readonly imbalance: {
    /** Ratio of the largest shard to the mean, by bytes. */
    readonly first: number
    readonly worst: number
    readonly last: number
    readonly bytes: ImbalanceOverTime
    readonly chunks: ImbalanceOverTime
    /** Null: too few operations. */
    readonly operations: ImbalanceOverTime | null
  }
  readonly migrations: {
    readonly total: number
    /** `other`: by a command, or by a shard that created a chunk at the end of the key space. */
    readonly byReason: Readonly<
      Record<'draining' | 'zoneViolation' | 'chunksImbalance' | 'defragment' | 'other', number>
    >
    readonly aborted: number
    /** Moves of a chunk, identified by its lower bound, that had moved before. */
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
  /** Time of the last move, 0: none; null: the last round still moved something. */
  readonly convergedAtMs: number | null
  readonly jumboChunks: number
  /** Orphaned documents: the maximum, and at the end. */
  readonly orphans: { readonly worst: number; readonly last: number }
  /**
   * Time during which migrations blocked access to the collection at their donor: the longest, and
   * in total.
   */
  readonly criticalSections: { readonly longestMs: number; readonly totalMs: number }
  readonly operations: {
    readonly total: number
    readonly failed: number
    /** Latencies of operations; null in mode `metadata`. */
    readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number } | null
    /** Number of operations by error code; 0: the router went away. */
    readonly errors: Readonly<Record<string, number>>
    /** Shares of routed operations. */
    readonly routed: { readonly targeted: number; readonly multi: number; readonly broadcast: number }
  }
  /** The shard with the most operations, and its share; null: no operations. */
  readonly hottest: { readonly shard: string; readonly share: number } | null
  /** At the end; operations since the start. */
  readonly shards: Readonly<Record<string, ShardSample>>
  readonly failedSteps: readonly FailedStep[]
  readonly failedExpectations: readonly FailedExpectation[]
  readonly traceHash: string
}

/** The result of a variant, with its history. */
export interface VariantRun {
  readonly result: VariantResult
  readonly samples: readonly Sample[]
  readonly decisions: readonly Decision[]
  /** Real duration of the run. */
  readonly tookMs: number
  /**
   * The run was stopped early: the result covers the time until then, and expectations were not
   * checked.
   */
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
  /** The variant that progressed. */
  readonly variant: string
  /** Progress over all variants, from 0 to 1. */
  readonly share: number
}
