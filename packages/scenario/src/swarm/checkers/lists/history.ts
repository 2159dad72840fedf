/**
 * Histories of transactions that append to lists and read them. A list shows the order of its
 * versions, so that dependencies can be inferred from what transactions read. Kingsbury and Alvaro,
 * "Elle: Inferring Isolation Anomalies from Experimental Observations".
 */
export interface Append {
  readonly kind: 'append'
  readonly key: number
  /** Differs from all other values of the history. */
  readonly value: number
}

export interface Read {
  readonly kind: 'read'
  readonly key: number
  readonly values: readonly number[]
}

export type ListOperation = Append | Read

export interface ListTransaction {
  readonly name: string
  /** Of a causally consistent session. Null: none. */
  readonly session: number | null
  /** unknown: all of it may have happened, or nothing. */
  readonly outcome: 'committed' | 'aborted' | 'unknown'
  /** Whether all keys are read at one time. */
  readonly isSnapshot: boolean
  readonly operations: readonly ListOperation[]
}

export interface ListHistory {
  /** The transactions of a session in their order. */
  readonly transactions: readonly ListTransaction[]
  /** By key, after all transactions. */
  readonly final: ReadonlyMap<number, readonly number[]>
}
