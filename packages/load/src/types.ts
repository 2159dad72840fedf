export const engineNames = ['driver', 'wire'] as const
export type EngineName = (typeof engineNames)[number]

export interface Expectation {
  readonly text: string
  readonly metric: string
  /** An operation, a routing class or, for `share`, a shard; null: all operations. */
  readonly scope: string | null
  readonly operator: string
  /** Microseconds for latencies, a fraction for percentages. */
  readonly value: number
}

/** A number, or a linear change over the measured time. */
export type Ramp = number | { readonly from: number; readonly to: number }

export interface LoadOptions {
  /** Any server that speaks MongoDB's protocol. */
  readonly uri: string
  /**
   * Name of a built-in workload (`a` … `f`, `route-mix`, `transactions`, …) or path of a workload
   * file. Default `a`.
   */
  readonly workload?: string
  readonly engine?: EngineName
  /** Operations per second over all lanes: an open loop. Absent: a closed loop. */
  readonly rate?: Ramp
  /** Most operations in flight over all lanes. Default 16, in an open loop 256. */
  readonly concurrency?: Ramp
  /** Measured time. Default 10 unless `operations` is given. */
  readonly durationSecs?: number
  readonly operations?: number
  /** Operations before the measurement. Default 1; 0: none. */
  readonly warmUpSecs?: number
  /** Overrides the workload's number. */
  readonly records?: number
  readonly seed?: number
  readonly distribution?: string
  readonly fieldCount?: number
  readonly fieldLength?: number
  /** Of the built-in workloads with transactions: records that each reads, updates. Default 2. */
  readonly transactionReads?: number
  readonly transactionWrites?: number
  /** `database.collection`; default `shardlab_load.records`. */
  readonly ns?: string
  /** `_id:1`, `_id:hashed`, `customer:1,_id:1` or `none`. Only used if the server is a mongos. */
  readonly shardKey?: string
  /** Drops the collection before loading. Otherwise a collection with documents is refused. */
  readonly drop?: boolean
  /** Worker threads of the engine. Default: driver 0 (the caller's thread), wire 1. */
  readonly threads?: number
  /** Lanes on other machines instead of threads; `threads` must be their number. */
  readonly generators?: GeneratorPool
  /** Wire engine: operations in flight on a connection. Default 1. */
  readonly pipeline?: number
  /** Reads everything back at the end. Default true. */
  readonly check?: boolean
  /**
   * `crash shard02 at 10s for 5s`: applied to a Shardlab cluster during the measured operations.
   */
  readonly faults?: readonly string[]
  /**
   * `shards=1..16`, `mongos=1..4`, `concurrency=1..64`, `rate=1000..8000`; the first two need
   * `startCluster`.
   */
  readonly sweep?: string
  readonly startCluster?: StartCluster
  /** A name that no report can have is refused before anything is written. */
  readonly expectations?: readonly Expectation[]
  /** Called about four times a second. */
  readonly onProgress?: (progress: Progress) => void
  /**
   * Aborted: no further operation starts; the measurements so far are checked and reported. Before
   * the first measured operation the run rejects with an InterruptedError.
   */
  readonly stop?: AbortSignal
  /** Aborted: the report is made at once, without the operations in flight and the end check. */
  readonly hurry?: AbortSignal
}

/** Plays lanes elsewhere, with `serveGenerator`. Options, messages and results are plain data. */
export interface GeneratorPool {
  /**
   * Opens the generator of a lane. If it dies, the pool opens another one for the same options, and
   * messages come from that one.
   */
  open(options: unknown, onMessage: (message: unknown) => void): OpenGenerator
}

export interface OpenGenerator {
  readonly result: Promise<unknown>
  post(message: unknown): void
}

export interface ClusterSize {
  readonly shards?: number
  readonly mongos?: number
}

export type StartCluster = (size: ClusterSize) => Promise<{ readonly uri: string; stop(): Promise<void> }>

export interface Progress {
  readonly phase: 'load' | 'warm-up' | 'run' | 'check'
  /** Operations or documents in this phase; `total` is null if unknown. */
  readonly done: number
  readonly total: number | null
  readonly perSecond: number
  readonly errors: number
  /** Over the last quarter of a second, from the intended start; null without operations. */
  readonly p99Us: number | null
  /** The step of the sweep, `shards=4`. */
  readonly step: string | null
}

/** Microseconds. */
export interface LatencySummary {
  readonly min: number
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly p9999: number
  readonly max: number
}

export interface Latency {
  readonly count: number
  readonly errors: number
  /** From the intended start to the reply. */
  readonly intended: LatencySummary
  /** From sending to the reply. */
  readonly service: LatencySummary
  /** Of `intended`: HdrHistogram, compressed, base64. */
  readonly histogram: string
}

/**
 * `targeted`: one shard, by the key; `multi`: several shards, by the key; `broadcast`: all shards
 * with chunks; `unrouted`: the server is not a mongos; `unknown`: a mongos that does not show its
 * chunks; `criticalSection`: those of the others that overlapped the critical section of a
 * migration of their key.
 */
export const routingClasses = ['targeted', 'multi', 'broadcast', 'unrouted', 'unknown', 'criticalSection'] as const
export type RoutingClass = (typeof routingClasses)[number]

export interface Mark {
  readonly atSecs: number
  /** null: an instant. */
  readonly untilSecs: number | null
  readonly text: string
}

export interface ShardShare {
  /** A broadcast counts for every shard. */
  readonly operations: number
  /** Of all shards' operations, 0 to 1. */
  readonly share: number
  readonly chunks: number
  /**
   * From the intended start, of successful operations that went to this shard alone; null: none.
   */
  readonly latencyUs: LatencySummary | null
  /** Increase of its `serverStatus.opcounters`; null: not available. */
  readonly opcounters: Readonly<Record<string, number>> | null
}

export interface EndCheckReport {
  /**
   * true: no document was lost, unexpected, doubled, stale or corrupt, and no read was wrong; null:
   * not checked.
   */
  readonly ok: boolean | null
  /** Why the check was skipped; null: it was not. */
  readonly leftOut: 'not asked for' | 'interrupted' | null
  readonly documents: number
  /** Acknowledged or loaded documents that are missing. */
  readonly lost: number
  /** Documents that this run did not write. */
  readonly unexpected: number
  /** Documents returned twice. */
  readonly doubled: number
  /** Fields whose acknowledged write was lost. */
  readonly stale: number
  /** Fields with a value that was never written. */
  readonly corrupt: number
  /** Transactions of which only a part is there. */
  readonly torn: number
  /** Reads during the run that missed a loaded record. */
  readonly wrongReads: number
  /** Writes with unknown outcome; both results are valid. */
  readonly unknownOutcomes: number
  /** Up to ten findings as sentences. */
  readonly examples: readonly string[]
}

export interface TransactionsReport {
  readonly committed: number
  /** Runs of a transaction that ended without a commit. */
  readonly aborts: { readonly total: number; readonly byCode: Readonly<Record<string, number>> }
  /** Runs of a transaction after its first, by the driver's `withTransaction`. */
  readonly retries: number
  /** Of `commitTransaction`; null: no commit succeeded. */
  readonly commitLatencyUs: LatencySummary | null
  /** Increase of the routers' `commitTypes` without zeros; null: no mongos, or not available. */
  readonly commitPaths: Readonly<Record<string, number>> | null
}

export interface TimelinePoint {
  /** Seconds since the first measured operation. */
  readonly atSecs: number
  readonly operations: number
  readonly errors: number
  readonly p50Us: number
  readonly p99Us: number
  readonly maxUs: number
}

export interface Measured {
  /** Of the run, to name it in notes and comparisons. A sweep has one for each step. */
  readonly id: string
  /** `Shardlab (an emulator) as MongoDB 7.0.14`, `MongoDB 7.0.14`. */
  readonly server: string
  readonly isEmulator: boolean
  readonly topology: 'sharded' | 'replica set' | 'single'
  readonly shards: number
  readonly mongoses: number
  readonly uri: string
  readonly client: {
    readonly cpu: string
    readonly cores: number
    readonly memoryBytes: number
    readonly platform: string
    readonly node: string
  }
  readonly engine: EngineName
  readonly threads: number
  readonly startedAt: string
  /** What the figures do not show. */
  readonly caveat: string
  /** Information that the server did not provide: one sentence each, without a full stop. */
  readonly notLearned: readonly string[]
  /** Generators that died; what they had measured is in no figure. */
  readonly lostGenerators: readonly LostGenerator[]
}

export interface LostGenerator {
  /** From 1. */
  readonly generator: number
  /** When the run learned it, in seconds since the first measured operation. */
  readonly atSecs: number
  /** Measured operations that it had reported; it may have run more since. */
  readonly operations: number
  readonly errors: number
  /** Another one has continued its part; otherwise the part ended there. */
  readonly isReplaced: boolean
  /** A clause. */
  readonly why: string
}

export interface WorkloadReport {
  readonly name: string
  readonly ns: string
  readonly shardKey: string
  readonly records: number
  readonly seed: number
  readonly loop: 'open' | 'closed'
  readonly rate: Ramp | null
  readonly concurrency: Ramp
  readonly pipeline: number
  /** `rate` and `concurrency` above are those of the first phase. null: no phases. */
  readonly phases: readonly { readonly name: string; readonly rate: Ramp | null; readonly concurrency: Ramp }[] | null
  /** By operation, 0 to 1. */
  readonly mix: Readonly<Record<string, number>>
}

export interface LoadReport {
  readonly shardlabLoad: 1
  readonly measured: Measured
  readonly workload: WorkloadReport
  /** Measured, including failed ones. */
  readonly operations: number
  readonly errors: {
    readonly total: number
    readonly byCode: Readonly<Record<string, Readonly<Record<string, number>>>>
  }
  readonly retries: number
  /** Successful operations per second. */
  readonly throughput: number
  readonly durationSecs: number
  /** All figures cover only what was done until the early stop. */
  readonly interrupted: boolean
  /**
   * Open loop: operations that were due before the end but did not start because the concurrency
   * was exhausted. No latency includes their waiting time.
   */
  readonly notBegun: number
  readonly latencyUs: {
    readonly all: Latency
    /** No other histogram includes failed operations. null: none failed. */
    readonly failed: LatencySummary | null
    readonly byOperation: Readonly<Record<string, Latency>>
    readonly byRoutingClass: Readonly<Partial<Record<RoutingClass, Latency>>>
  }
  readonly routing: { readonly derivedFrom: string; readonly placementChanged: boolean }
  readonly perShard: Readonly<Record<string, ShardShare>>
  readonly hottestShard: string | null
  /** null: the workload has no transactions. */
  readonly transactions: TransactionsReport | null
  readonly timeline: readonly TimelinePoint[]
  readonly marks: readonly Mark[]
  readonly endCheck: EndCheckReport
  /** A report per step; the other fields are those of the last step. null: no sweep. */
  readonly sweep: {
    readonly of: string
    readonly steps: readonly { readonly value: number; readonly report: LoadReport }[]
  } | null
}
