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
  /** Given away and not deleted yet. */
  readonly orphans: number
  readonly chunks: number
  /** Since the sample before. */
  readonly operations: number
  readonly draining: boolean
}

export interface Sample {
  readonly atMs: number
  readonly shards: Readonly<Record<string, ShardSample>>
  /** Since the sample before. */
  readonly succeeded: number
  readonly failed: number
  readonly jumboChunks: number
  /** By collection, in key order. */
  readonly chunks: Readonly<Record<string, readonly ChunkSample[]>>
}

export interface ChunkSample {
  /** The lower bound as a text that sorts like the keys, and as relaxed Extended JSON. */
  readonly min: string
  readonly minText: string
  readonly shard: string
}

export interface Decision {
  readonly atMs: number
  readonly kind: 'migration' | 'split' | 'merge' | 'jumbo' | 'timeline' | 'fault' | 'balancer'
  readonly text: string
}

export interface FailedStep {
  readonly atMs: number
  readonly step: string
  readonly error: string
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
  /** 0: no move; null: the last round still moved something. */
  readonly convergedAtMs: number | null
  readonly jumboChunks: number
  /** Documents: the maximum, and at the end. */
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
  /** The shard with the most operations; null: no operations. */
  readonly hottest: { readonly shard: string; readonly share: number } | null
  /** At the end; operations since the start. */
  readonly shards: Readonly<Record<string, ShardSample>>
  readonly failedSteps: readonly FailedStep[]
  readonly failedExpectations: readonly FailedExpectation[]
  readonly traceHash: string
}

export interface VariantRun {
  readonly result: VariantResult
  readonly samples: readonly Sample[]
  readonly decisions: readonly Decision[]
  /** Real time. */
  readonly tookMs: number
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
