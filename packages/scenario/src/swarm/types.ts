/** What a swarm takes and gives. */
import type { MutationName } from '@shardlab/actor'
import type { FaultVerbName } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'

/**
 * What a violation is about. Each has a file in `checkers/`, but `answers`: a client heard what it
 * may not, or waited for ever.
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

/** Something that is not as it must be, in a sentence. */
export interface Violation {
  readonly checker: CheckerName
  readonly sentence: string
}

/** What happens in a run beside clients who write and read. */
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

/** A run, as its seed says it. */
export interface SwarmPlan {
  readonly seed: number
  readonly emulate: EmulatedVersion
  /** 1 to 8 and 1 to 3. */
  readonly shards: number
  readonly mongos: number
  /** Null: the version's own. */
  readonly chunkSizeBytes: number | null
  readonly balancerRoundIntervalMs: number
  /** Does the balancer work while clients do? It does when all is healed. */
  readonly balancing: boolean
  /** Do orphans go at once, or after the server's delay? */
  readonly orphansAtOnce: boolean
  readonly networkTimeoutMs: number
  readonly findReplicaSetHostTimeoutMs: number
  /** Clients, and how much each does. */
  readonly workers: number
  readonly stepsOfWorker: number
  readonly activities: readonly ActivityName[]
  /** What goes wrong. */
  readonly faults: readonly FaultVerbName[]
}

/** How runs are played. */
export interface SwarmOptions {
  /** How many runs. Default 100. */
  readonly runs?: number
  /** The seed of the first run; the others have the next ones. Default 1. */
  readonly seed?: number
  /** No further run is begun after that many minutes. Default: no limit. */
  readonly minutes?: number
  /** Verbs that go wrong in no run, whatever its seed says. Default: none. */
  readonly without?: readonly FaultVerbName[]
  /** A defect that is built into every member: the swarm has to find it. Default: none. */
  readonly mutation?: MutationName | null
  /** How many runs are played at a time. Default: one for each core. */
  readonly threads?: number
  /** Ends with the first run that fails. Default false. */
  readonly untilFailure?: boolean
  /** Plays failed runs again with fewer verbs of faults. Default true. */
  readonly shrink?: boolean
}

/** How often what was reached. */
export type Counts = Readonly<Record<string, number>>

/** What became of one run. */
export interface SwarmRun {
  readonly seed: number
  readonly plan: SwarmPlan
  readonly violations: readonly Violation[]
  readonly traceHash: string
  /** What happened until the first violation, the last lines of it; empty when there is none. */
  readonly journal: readonly string[]
  /** Named steps that members passed, and verbs that were applied. */
  readonly steps: Counts
  readonly verbs: Counts
  /** Writes that were acknowledged, and those of which nobody knows. */
  readonly acknowledged: number
  readonly unknown: number
  /** What administrators did, by name. */
  readonly done: Counts
  /** How long it took in virtual time. */
  readonly virtualMs: number
}

/** A run that failed, and the smallest one found that still does. */
export interface FailedRun {
  readonly seed: number
  /** Of the first violation. */
  readonly checker: CheckerName
  /** The command that plays it again. */
  readonly replay: string
  readonly violations: readonly Violation[]
  readonly journal: readonly string[]
  readonly plan: SwarmPlan
}

/** What was reached too seldom to say that the swarm looked at it. */
export interface Coverage {
  readonly steps: Counts
  readonly verbs: Counts
  /** Names of steps and verbs that were reached less than {@link least} times. */
  readonly missing: readonly string[]
  readonly least: number
}

export interface SwarmReport {
  readonly runs: number
  readonly failed: readonly FailedRun[]
  /** By seed, in their order. */
  readonly traceHashes: Readonly<Record<string, string>>
  readonly coverage: Coverage
  readonly acknowledged: number
  readonly unknown: number
  readonly virtualMs: number
}

export interface SwarmProgress {
  readonly runs: number
  readonly failed: number
  /** What was found wrong first in the run that has just ended; null: nothing. */
  readonly found: { readonly seed: number; readonly violation: Violation } | null
  /** Of the runs, or of the time, 0 to 1. */
  readonly share: number
}
