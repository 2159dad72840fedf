import type { Finding } from './findings.js'

export interface Progress {
  /** Documents and reservations checked so far. */
  readonly looked: number
}

export type OnProgress = (progress: Progress) => void

/** Reservations of incomplete writes, which are running or whose writer has stopped. */
export interface Waiting {
  readonly waiting: number
  /** When the last of them has expired and can be decided; null: no such write. */
  readonly waitingUntil: Date | null
}

export interface Standing {
  /**
   * true: the reservations alone keep values unique. false: existing documents may have values
   * without a reservation, so writes search the main collection, too.
   */
  readonly enforcing: boolean
  /** What to do next; null: nothing. */
  readonly next: string | null
}

export interface BackfillReport extends Waiting, Standing {
  readonly documents: number
  /** `already`: reserved before this run. `changed`: changed or deleted during the run. */
  readonly reserved: number
  readonly already: number
  readonly changed: number
  /** Findings of the kinds `duplicate` and `invalid`. */
  readonly findings: readonly Finding[]
}

export interface VerifyReport extends Waiting, Standing {
  readonly documents: number
  readonly reservations: number
  readonly findings: readonly Finding[]
}

export interface RepairReport extends Waiting, Standing {
  readonly mended: number
  /** They need a decision of the user. */
  readonly left: readonly Finding[]
}

export interface SweepReport extends Waiting {
  readonly confirmed: number
  readonly released: number
}

export class WaitingCount {
  #count = 0
  #untilMs = -Infinity

  add(until: Date): void {
    this.#count++
    this.#untilMs = Math.max(this.#untilMs, until.getTime())
  }

  get report(): Waiting {
    return { waiting: this.#count, waitingUntil: this.#count === 0 ? null : new Date(this.#untilMs) }
  }
}

/** @param action the one that the report is about */
export function nextStep(
  action: 'backfill' | 'repair' | 'verify',
  enforcing: boolean,
  findings: readonly Finding[],
  { waiting, waitingUntil }: Waiting,
): string | null {
  const unfinished = waitingUntil === null ? '' : waitingUntil.toISOString()
  if (findings.some(({ kind }) => kind === 'duplicate'))
    return 'of the documents that share a value, change or delete all but one, then run backfill()'
  if (action === 'verify' && findings.some(({ kind }) => kind !== 'invalid' && kind !== 'unreserved'))
    return waiting > 0 ? `run repair(), and again after ${unfinished}` : 'run repair()'
  if (action === 'backfill' && waiting > 0) return `run backfill() again after ${unfinished}`
  if (!enforcing) return 'run backfill()'
  if (action === 'verify' && findings.some(({ kind }) => kind === 'unreserved')) return 'run repair()'
  if (action === 'repair' && waiting > 0) return `run repair() again after ${unfinished}`
  return null
}
