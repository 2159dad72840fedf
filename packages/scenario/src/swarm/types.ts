/** Options and results of a swarm. */
import type { MutationName } from '@shardlab/actor'
import type { FaultVerbName } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'

/**
 * The checker that found a violation. Each has a file in `checkers/`, except `answers`: a client
 * got a forbidden reply, or waited forever.
 */
export const checkerNames = [
  'answers',
  'conservation',
  'convergence',
  'cursors',
  'invariants',
  'orphans',
  'ownership',
  'routing',
  'unique',
  'versions',
] as const

export type CheckerName = (typeof checkerNames)[number]

/** A violation as one sentence. */
export interface Violation {
  readonly checker: CheckerName
  readonly sentence: string
}

/** Activities of a run besides clients that write and read. */
export const activityNames = [
  'placement',
  'short-lived',
  'unique-keys',
  'membership',
  'resharding',
  'upkeep',
  'unique-library',
] as const

export type ActivityName = (typeof activityNames)[number]

/** A run as derived from its seed. */
export interface SwarmPlan {
  readonly seed: number
  readonly emulate: EmulatedVersion
  /** 1 to 8 shards, 1 to 3 mongoses. */
  readonly shards: number
  readonly mongos: number
  /** Null: the version's default. */
  readonly chunkSizeBytes: number | null
  readonly balancerRoundIntervalMs: number
  /** Whether the balancer is on while clients work. It is on after healing. */
  readonly balancing: boolean
  /** Whether orphans are deleted at once rather than after the server's delay. */
  readonly orphansAtOnce: boolean
  readonly networkTimeoutMs: number
  readonly findReplicaSetHostTimeoutMs: number
  /** Number of clients, and operations of each. */
  readonly workers: number
  readonly stepsOfWorker: number
  readonly activities: readonly ActivityName[]
  /** Fault verbs that are applied. */
  readonly faults: readonly FaultVerbName[]
}

/** Options for playing runs. */
export interface SwarmOptions {
  /** Number of runs. Default 100. */
  readonly runs?: number
  /** Seed of the first run; the others follow. Default 1. */
  readonly seed?: number
  /** Starts no further run after this many minutes. Default: no limit. */
  readonly minutes?: number
  /** Verbs left out of all runs. Default: none. */
  readonly without?: readonly FaultVerbName[]
  /** A defect built into every member, which the swarm must find. Default: none. */
  readonly mutation?: MutationName | null
  /** Runs played in parallel. Default: one per core. */
  readonly threads?: number
  /** Ends with the first failed run. Default false. */
  readonly untilFailure?: boolean
  /** Repeats failed runs with fewer fault verbs. Default true. */
  readonly shrink?: boolean
}

/** Counts by name. */
export type Counts = Readonly<Record<string, number>>

/** The outcome of one run. */
export interface SwarmRun {
  readonly seed: number
  readonly plan: SwarmPlan
  readonly violations: readonly Violation[]
  readonly traceHash: string
  /** The last events before the first violation; empty: no violation. */
  readonly journal: readonly string[]
  /** Named steps passed, and verbs applied. */
  readonly steps: Counts
  readonly verbs: Counts
  /** Writes that were acknowledged, and those of unknown outcome. */
  readonly acknowledged: number
  readonly unknown: number
  /** Administrators' actions by name. */
  readonly done: Counts
  /** Duration in virtual time. */
  readonly virtualMs: number
}

/** A failed run, and the smallest one found that fails in the same way. */
export interface FailedRun {
  readonly seed: number
  /** Checker of the first violation. */
  readonly checker: CheckerName
  /** The command that repeats it. */
  readonly replay: string
  readonly violations: readonly Violation[]
  readonly journal: readonly string[]
  readonly plan: SwarmPlan
}

/** Steps and verbs reached too rarely to be considered tested. */
export interface Coverage {
  readonly steps: Counts
  readonly verbs: Counts
  /** Names reached less than {@link least} times. */
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
  /** First violation of the run that has just ended; null: none. */
  readonly found: { readonly seed: number; readonly violation: Violation } | null
  /** Progress of the runs or of the time, 0 to 1. */
  readonly share: number
}
