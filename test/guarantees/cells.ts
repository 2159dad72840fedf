/**
 * Which anomalies the manual excludes: reference/read-concern, reference/write-concern,
 * core/read-preference, core/read-isolation-consistency-recency, core/replica-set-rollbacks.
 */
export const writeConcerns = ['1', 'majority'] as const
export const readConcerns = ['local', 'available', 'majority', 'linearizable', 'snapshot'] as const
export const readPreferences = ['primary', 'secondary'] as const
export const faults = ['none', 'delay', 'migration', 'crash', 'partition'] as const
export const anomalies = ['lost', 'dirty', 'stale', 'backwards', 'orphan'] as const

export type Fault = (typeof faults)[number]
export type WriteConcernName = (typeof writeConcerns)[number]
export type Anomaly = (typeof anomalies)[number]

export const faultTexts: Readonly<Record<Fault, string>> = {
  none: 'none',
  delay: 'secondaries apply entries 2 s later',
  migration: 'the document moves between shards',
  crash: 'the primary crashes, and returns',
  partition: 'the primary is cut off from the other members of its set, not from routers',
}

export const anomalyTexts: Readonly<Record<Anomaly, string>> = {
  lost: 'an acknowledged write is gone in the end',
  dirty: 'a read returns a write that is gone in the end',
  stale: 'a read lacks a write that was acknowledged before it, and that is not lost',
  backwards: 'a read lacks what an earlier read of the same client returned',
  orphan: 'a read returns a copy of a document that its shard does not own',
}

export interface Reader {
  readonly readConcern: (typeof readConcerns)[number]
  readonly readPreference: (typeof readPreferences)[number]
}

export interface Run {
  readonly writeConcern: WriteConcernName
  readonly fault: Fault
}

export type Cell = Run & Reader

/** A linearizable read is one of the primary. */
export const readers: readonly Reader[] = readConcerns.flatMap((readConcern) =>
  readPreferences
    .filter((readPreference) => readConcern !== 'linearizable' || readPreference === 'primary')
    .map((readPreference) => ({ readConcern, readPreference })),
)

export const runs: readonly Run[] = writeConcerns.flatMap((writeConcern) =>
  faults.map((fault) => ({ writeConcern, fault })),
)

export const cellsOf = (run: Run): Cell[] => readers.map((reader) => ({ ...run, ...reader }))

/** Whether writes can be rolled back: another primary is elected. */
export const hasRollback = ({ fault }: Run): boolean => fault === 'crash' || fault === 'partition'

/** Whether the manual excludes the anomaly. */
export function isExcluded(cell: Cell, anomaly: Anomaly): boolean {
  const { writeConcern, readConcern, readPreference, fault } = cell
  const isCommitted = readConcern === 'majority' || readConcern === 'linearizable' || readConcern === 'snapshot'
  const readsOrphans = readConcern === 'available' && fault === 'migration'
  switch (anomaly) {
    case 'lost':
      return writeConcern === 'majority' || !hasRollback(cell)
    case 'dirty':
      return isCommitted || !hasRollback(cell)
    case 'orphan':
      return !readsOrphans
    case 'stale':
      if (readConcern === 'linearizable') return true
      if (readPreference === 'secondary' || readsOrphans || fault === 'partition') return false
      // A new primary has all writes that are not lost; it does not know yet which are committed.
      if (!isCommitted) return true
      return writeConcern === 'majority' && fault !== 'crash'
    case 'backwards':
      if (readConcern === 'linearizable') return true
      return readPreference === 'primary' && !readsOrphans && !hasRollback(cell)
  }
}

export const nameOf = ({ writeConcern, readConcern, readPreference, fault }: Cell): string =>
  `w: ${writeConcern}, ${readConcern}, ${readPreference}, ${fault}`
