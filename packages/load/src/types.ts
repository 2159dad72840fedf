/** What goes in and what comes out of a load test. Everything here is plain data. */
import type { Expectation } from './report/expect.js'

export const engineNames = ['driver', 'wire'] as const
export type EngineName = (typeof engineNames)[number]

/** A number, or a straight line from one number to another over the measured time. */
export type Ramp = number | { readonly from: number; readonly to: number }

export interface LoadOptions {
  /** Connection string of anything that speaks MongoDB's protocol. */
  readonly uri: string
  /** A built-in workload's name (`a` … `f`, `route-mix`) or the path of a workload file. Default `a`. */
  readonly workload?: string
  readonly engine?: EngineName
  /** Operations a second, all lanes together: an open loop. Absent: a closed loop. */
  readonly rate?: Ramp
  /** Operations in flight at most, all lanes together. Default 16, in an open loop 256. */
  readonly concurrency?: Ramp
  /** Measured time in seconds; default 10 unless `operations` is given. */
  readonly durationSecs?: number
  /** Measured operations. */
  readonly operations?: number
  /** Seconds of operations before the measured ones. Default 1; 0: none. */
  readonly warmUpSecs?: number
  /** Overrides of what the workload says. */
  readonly records?: number
  readonly seed?: number
  readonly distribution?: string
  readonly fieldCount?: number
  readonly fieldLength?: number
  /** `database.collection`; default `shardlab_load.records`. */
  readonly ns?: string
  /** `_id:1`, `_id:hashed`, `customer:1,_id:1` or `none`: how the collection is sharded where the server is a mongos. */
  readonly shardKey?: string
  /** Drop the collection before loading. Without it a collection that holds documents is refused. */
  readonly drop?: boolean
  /** Worker threads of the engine. Default: driver 0 (the caller's thread), wire 1. */
  readonly threads?: number
  /** Wire engine: operations in flight on one connection. Default 1. */
  readonly pipeline?: number
  /** Read everything back at the end. Default true. */
  readonly check?: boolean
  /** `crash shard02 at 10s for 5s`: sent to a Shardlab cluster while the measured operations run. */
  readonly faults?: readonly string[]
  /** `shards=1..16`, `mongos=1..4`, `concurrency=1..64`, `rate=1000..8000`; `shards` and `mongos` need `startCluster`. */
  readonly sweep?: string
  /** Starts the cluster of a sweep's step. */
  readonly startCluster?: StartCluster
  /** Expectations that the report will be held to: a name in one that no report can have is refused before anything is written. */
  readonly expectations?: readonly Expectation[]
  /** Told about four times a second. */
  readonly onProgress?: (progress: Progress) => void
  /**
   * Aborted: no further operation begins, and what was measured until then is checked and reported. Before the first measured operation
   * the run rejects with an InterruptedError.
   */
  readonly stop?: AbortSignal
  /** Aborted: it is reported at once, without waiting for what is in flight and without the end check. */
  readonly hurry?: AbortSignal
}

/** What a sweep changes of the cluster it starts. */
export interface ClusterSize {
  readonly shards?: number
  readonly mongos?: number
}

export type StartCluster = (size: ClusterSize) => Promise<{ readonly uri: string; stop(): Promise<void> }>

export interface Progress {
  readonly phase: 'load' | 'warm-up' | 'run' | 'check'
  /** Operations or documents so far in this phase, of so many if that is known. */
  readonly done: number
  readonly total: number | null
  readonly perSecond: number
  readonly errors: number
  /** Of the last quarter of a second, from the intended start; null without operations. */
  readonly p99Us: number | null
  /** The sweep's step, `shards=4`. */
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
  /** From the intended start to the answer. */
  readonly intended: LatencySummary
  /** From the sending to the answer. */
  readonly service: LatencySummary
  /** The histogram of `intended`: HdrHistogram, compressed, base64. */
  readonly histogram: string
}

/**
 * `targeted`: by the key, one shard; `multi`: by the key, several; `broadcast`: all that own chunks; `unrouted`: the server is no mongos;
 * `unknown`: it is one, but does not tell where chunks are; `criticalSection`: those of the others that overlapped the critical section of a
 * migration that concerned them.
 */
export const routingClasses = ['targeted', 'multi', 'broadcast', 'unrouted', 'unknown', 'criticalSection'] as const
export type RoutingClass = (typeof routingClasses)[number]

/** A fault or a phase, on the timeline. */
export interface Mark {
  readonly atSecs: number
  /** Null: it is a moment. */
  readonly untilSecs: number | null
  readonly text: string
}

export interface ShardShare {
  /** Operations that went to it; a broadcast counts for every shard. */
  readonly operations: number
  /** Of all shards' operations, 0 to 1. */
  readonly share: number
  readonly chunks: number
  /** From the intended start, of those that went to it alone and succeeded; null: there were none. */
  readonly latencyUs: LatencySummary | null
  /** What its own `serverStatus.opcounters` rose by, null where it could not be asked. */
  readonly opcounters: Readonly<Record<string, number>> | null
}

export interface EndCheckReport {
  /** Nothing lost, unexpected, doubled, stale or corrupt, and no read went wrong; null when there was no check. */
  readonly ok: boolean | null
  /** Why there was no check; null: there was one. */
  readonly leftOut: 'not asked for' | 'interrupted' | null
  readonly documents: number
  /** Acknowledged or loaded documents that are not there. */
  readonly lost: number
  /** Documents that no operation of this run wrote. */
  readonly unexpected: number
  /** Documents that came twice. */
  readonly doubled: number
  /** Fields whose acknowledged write has been undone. */
  readonly stale: number
  /** Fields with a value that nobody wrote. */
  readonly corrupt: number
  /** Reads during the run that did not find a loaded record, or too few. */
  readonly wrongReads: number
  /** Writes without a clear outcome; either is right. */
  readonly unknownOutcomes: number
  /** Up to ten findings in words. */
  readonly examples: readonly string[]
}

/** One interval of the timeline. */
export interface TimelinePoint {
  /** Seconds since the measured operations began. */
  readonly atSecs: number
  readonly operations: number
  readonly errors: number
  readonly p50Us: number
  readonly p99Us: number
  readonly maxUs: number
}

export interface Measured {
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
  /** What may not be concluded. */
  readonly caveat: string
  /** What the server did not tell, and so is not in the report: a sentence each, without a full stop. */
  readonly notLearned: readonly string[]
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
  /** Of a workload file's phases, each by itself; `rate` and `concurrency` above are those of the first one. Null: there are none. */
  readonly phases: readonly { readonly name: string; readonly rate: Ramp | null; readonly concurrency: Ramp }[] | null
  /** Name to share of the operations, 0 to 1. */
  readonly mix: Readonly<Record<string, number>>
}

export interface LoadReport {
  readonly shardlabLoad: 1
  readonly measured: Measured
  readonly workload: WorkloadReport
  /** Measured, the failed ones included. */
  readonly operations: number
  readonly errors: {
    readonly total: number
    readonly byCode: Readonly<Record<string, Readonly<Record<string, number>>>>
  }
  /** Attempts that the driver repeated by itself. */
  readonly retries: number
  /** Operations that succeeded, a second. */
  readonly throughput: number
  readonly durationSecs: number
  /** It was stopped before its time: everything here is of what was done until then. */
  readonly interrupted: boolean
  /**
   * Of an open loop: operations that were due before the end and had not begun, because as many as may be were in flight. How long they would
   * have waited is in no latency.
   */
  readonly notBegun: number
  readonly latencyUs: {
    readonly all: Latency
    /** Operations that ended with an error; they are in no other histogram. Null: there were none. */
    readonly failed: LatencySummary | null
    readonly byOperation: Readonly<Record<string, Latency>>
    readonly byRoutingClass: Readonly<Partial<Record<RoutingClass, Latency>>>
  }
  readonly routing: { readonly derivedFrom: string; readonly placementChanged: boolean }
  readonly perShard: Readonly<Record<string, ShardShare>>
  readonly hottestShard: string | null
  readonly timeline: readonly TimelinePoint[]
  /** Faults as they were applied, and phases of a workload file as they began. */
  readonly marks: readonly Mark[]
  readonly endCheck: EndCheckReport
  /** Of a sweep: what was swept, and a report for each step; the fields above are those of the last step. */
  readonly sweep: {
    readonly of: string
    readonly steps: readonly { readonly value: number; readonly report: LoadReport }[]
  } | null
}
