import type { MutationName } from '@shardlab/actor'
import type { FaultVerbName } from '@shardlab/cluster'
import type { JobQueue } from '@shardlab/jobs'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { Finding } from './finding.js'

/**
 * Each checker has a file in `checkers/`, except `answers`: a client got a forbidden reply, or
 * waited forever.
 */
export const checkerNames = [
  'answers',
  'causality',
  'conservation',
  'convergence',
  'cursors',
  'durability',
  'elections',
  'invariants',
  'linearizability',
  'orphans',
  'ownership',
  'replication',
  'routing',
  'streams',
  'transactions',
  'unique',
  'versions',
] as const

export type CheckerName = (typeof checkerNames)[number]

export interface Violation extends Finding {
  readonly checker: CheckerName
}

/** Besides clients that write and read. */
export const activityNames = [
  'placement',
  'short-lived',
  'unique-keys',
  'membership',
  'resharding',
  'maintenance',
  'unique-library',
  'registers',
  'failovers',
  'streams',
  'rival-primaries',
  'transactions',
  'users',
] as const

export type ActivityName = (typeof activityNames)[number]

/** Derived from the seed. */
export interface SwarmPlan {
  readonly seed: number
  readonly emulate: EmulatedVersion
  /** 1 to 8 shards, 1 to 3 mongoses. */
  readonly shards: number
  readonly mongos: number
  /** Of each shard and of the config server. */
  readonly members: number
  /** With several members: for which a new primary fetches newer entries; -1: no limit. */
  readonly catchUpTimeoutMs: number
  /** null: the version's default. */
  readonly chunkSizeBytes: number | null
  readonly balancerRoundIntervalMs: number
  /** While clients work. After healing the balancer is on. */
  readonly balancing: boolean
  /** Delete orphans at once rather than after the server's delay. */
  readonly orphansAtOnce: boolean
  readonly networkTimeoutMs: number
  readonly findReplicaSetHostTimeoutMs: number
  /** Clients, and operations of each. */
  readonly workers: number
  readonly stepsOfWorker: number
  readonly activities: readonly ActivityName[]
  readonly faults: readonly FaultVerbName[]
}

/** Leaves parts out of a run; the seed determines everything else. */
export interface Reduction {
  /** Default: none. */
  readonly without?: readonly (FaultVerbName | ActivityName)[]
  /** Most clients that write and read documents. Default: as many as the plan has. */
  readonly clients?: number
  /** Most operations of each of these clients, which also end administrators and faults. */
  readonly steps?: number
  /** Most shards and mongoses. */
  readonly shards?: number
  readonly mongos?: number
  /** Members of each shard and of the config server. Default: 3 in one of five runs, else 1. */
  readonly members?: number
}

/** A run as a job. */
export interface SwarmTask {
  readonly seed: number
  readonly reduction: Reduction
  readonly mutation: MutationName | null
  /** The finding for which a timeline is recorded; null: none. */
  readonly recorded: Pick<Finding, 'ns' | 'ids'> | null
}

export interface SwarmOptions extends Reduction {
  /** Default 100. */
  readonly runs?: number
  /** Of the first run; the others follow. Default 1. */
  readonly seed?: number
  /** Starts no further run after this many minutes. Default: no limit. */
  readonly minutes?: number
  /** A defect in every member, which the swarm must find. Default: none. */
  readonly mutation?: MutationName | null
  /** Default: one per core, and not more than runs. 1: this thread instead of a worker thread. */
  readonly threads?: number
  /**
   * Where runs are played instead of on threads. `parameters` are what all runs have in common.
   */
  readonly queue?: (parameters: string) => Promise<JobQueue<SwarmTask, SwarmRun>>
  /** On worker threads: real time after which a run fails. Default: 30 minutes. */
  readonly runMsMax?: number
  /** End with the first failed run. Default false. */
  readonly untilFailure?: boolean
  /** Repeat failed runs with as few parts as possible. Default true. */
  readonly shrink?: boolean
  /** Once aborted, no further run starts and no failed run is shrunk. Default: never. */
  readonly stop?: AbortSignal
}

export type Counts = Readonly<Record<string, number>>

export interface SwarmRun {
  readonly seed: number
  readonly plan: SwarmPlan
  readonly violations: readonly Violation[]
  readonly traceHash: string
  /** Empty: not recorded. */
  readonly timeline: readonly TimelineEntry[]
  /** Named steps passed, and verbs applied. */
  readonly steps: Counts
  readonly verbs: Counts
  readonly acknowledged: number
  readonly unknown: number
  readonly done: Counts
  readonly virtualMs: number
  /** Of the simulation: how long the run is, as the machine sees it. */
  readonly turns: number
}

export interface TimelineEntry {
  /** Virtual milliseconds since the start of the run. */
  readonly atMs: number
  /** `catalog`: migrations, splits, merges, and collections that are created or changed. */
  readonly kind: 'command' | 'answer' | 'step' | 'fault' | 'member' | 'catalog' | 'violation'
  /** The client or member; empty: the whole cluster. */
  readonly member: string
  /** null: the whole cluster. */
  readonly ns: string | null
  readonly text: string
  /** Equal for a command and its answer; null: neither. */
  readonly operation: number | null
  /** Whether it names a document of the violation. */
  readonly ofDocument: boolean
}

/** The smallest run found that fails in the same way, too. */
export interface FailedRun {
  readonly seed: number
  /** Of the first violation. */
  readonly checker: CheckerName
  /** The command that repeats the run. */
  readonly replay: string
  readonly violations: readonly Violation[]
  /** What happened to the collection of the first violation until then, in order. */
  readonly timeline: readonly TimelineEntry[]
  readonly plan: SwarmPlan
}

/** Names reached too rarely are not considered tested. */
export interface Coverage {
  readonly steps: Counts
  readonly verbs: Counts
  /** Reached less than {@link least} times. */
  readonly missing: readonly string[]
  readonly least: number
}

export interface SwarmReport {
  readonly runs: number
  readonly failed: readonly FailedRun[]
  /** By seed, ascending. */
  readonly traceHashes: Readonly<Record<string, string>>
  readonly coverage: Coverage
  readonly acknowledged: number
  readonly unknown: number
  readonly virtualMs: number
}

export interface SwarmProgress {
  readonly runs: number
  readonly failed: number
  /** Of the run that has just ended; null: no violation. */
  readonly found: { readonly seed: number; readonly violation: Violation } | null
  /** Progress of the runs or of the time, 0 to 1. */
  readonly share: number
  /** The failed run that is being repeated with fewer parts; null: none. */
  readonly shrinking: { readonly seed: number; readonly attempt: number; readonly attemptsMax: number } | null
}
