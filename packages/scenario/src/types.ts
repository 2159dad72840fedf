/**
 * What simulating gives. Times are milliseconds since the beginning of the scenario, sizes bytes,
 * rates a second.
 */
import type { FailedExpectation } from './file/expectation.js'

/** How unequal shards are: 1 and 0 when they are equal. Shards that drain do not count. */
export interface Imbalance {
  /** The largest over the mean. */
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
  /** Of the documents that are the shard's own. */
  readonly bytes: number
  /** Documents that it has given away and not deleted yet. */
  readonly orphans: number
  readonly chunks: number
  /** That asked this shard since the sample before. */
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
  /** Who owns what: for each collection its chunks in key order. */
  readonly chunks: Readonly<Record<string, readonly ChunkSample[]>>
}

export interface ChunkSample {
  /** The lower bound: a text that sorts as the keys do, and as relaxed Extended JSON. */
  readonly min: string
  readonly minText: string
  readonly shard: string
}

/** Something that was decided or happened, and why. */
export interface Decision {
  readonly atMs: number
  readonly kind: 'migration' | 'split' | 'merge' | 'jumbo' | 'timeline' | 'fault' | 'balancer'
  readonly text: string
}

/** A step of the timeline that could not be done. */
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
    /** Of bytes, largest to mean. */
    readonly first: number
    readonly worst: number
    readonly last: number
    readonly bytes: ImbalanceOverTime
    readonly chunks: ImbalanceOverTime
    /** Null: there were too few operations to tell. */
    readonly operations: ImbalanceOverTime | null
  }
  readonly migrations: {
    readonly total: number
    /** `other`: by a command, or by a shard that made a chunk at the end of the key space. */
    readonly byReason: Readonly<
      Record<'draining' | 'zoneViolation' | 'chunksImbalance' | 'defragment' | 'other', number>
    >
    readonly aborted: number
    /** Of a chunk, told by its lower bound, that had moved before. */
    readonly repeated: number
    /** Of those, to a shard that the chunk had left. */
    readonly returned: number
  }
  readonly splits: number
  readonly merges: number
  readonly bytesMoved: number
  /**
   * What would have sufficed: the sum over collections and shards of what more left a shard than
   * came.
   */
  readonly bytesMovedLeast: number
  /**
   * When the last chunk moved, 0 when none did; null: the last round still wanted to move
   * something.
   */
  readonly convergedAtMs: number | null
  readonly jumboChunks: number
  /** Documents on shards that do not own them any more: how many at most, and at the end. */
  readonly orphans: { readonly worst: number; readonly last: number }
  /**
   * While a migration commits, whoever asks for the collection at its donor waits: how long at
   * most, and in all.
   */
  readonly criticalSections: { readonly longestMs: number; readonly totalMs: number }
  readonly operations: {
    readonly total: number
    readonly failed: number
    /** Times in which operations got their answer; null in mode `metadata`, which has none. */
    readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number } | null
    /** Code of the error to number of operations; 0: the router went away. */
    readonly errors: Readonly<Record<string, number>>
    /** Shares of what routers sent to shards. */
    readonly routed: { readonly targeted: number; readonly multi: number; readonly broadcast: number }
  }
  /**
   * The shard that most operations asked, and which share of the operations did; null: there were
   * none.
   */
  readonly hottest: { readonly shard: string; readonly share: number } | null
  /** At the end; operations from the beginning. */
  readonly shards: Readonly<Record<string, ShardSample>>
  readonly failedSteps: readonly FailedStep[]
  readonly failedExpectations: readonly FailedExpectation[]
  readonly traceHash: string
}

/** A variant's result and how it came about. */
export interface VariantRun {
  readonly result: VariantResult
  readonly samples: readonly Sample[]
  readonly decisions: readonly Decision[]
  /** Real time that the run took. */
  readonly tookMs: number
  /**
   * It was stopped before its end; its result is that of the time until then, and its expectations
   * have not been looked at.
   */
  readonly interrupted?: true
}

/** What `shardlab simulate --json` prints. */
export interface ScenarioReport {
  readonly version: 1
  readonly scenario: string
  readonly seed: number
  readonly variants: readonly (VariantResult & Pick<VariantRun, 'interrupted'>)[]
}

export interface SimulationProgress {
  /** The one that has got on. */
  readonly variant: string
  /** Of all variants, from 0 to 1. */
  readonly share: number
}
