/** One kind of work of the clients, with conditions that must hold at the end. */
import type { Random } from '@shardlab/actor'
import type { PatientClient } from '../patient-client.js'

/** One working client: runs one step after another. */
export interface Worker {
  readonly number: number
  readonly client: PatientClient
  readonly random: Random
  /** Ascending numbers that no other worker gets. */
  readonly newKeys: (count: number) => number[]
}

export interface Activity {
  /** Runs before members crash. */
  prepare(client: PatientClient): Promise<void>
  /** @throws Error for a wrong reply */
  step(worker: Worker): Promise<void>
  /** Violations at the end, one sentence each. */
  violations(client: PatientClient): Promise<string[]>
}

/** Asserts a condition on something that a client has read. */
export function mustHold(holds: boolean, sentence: () => string): void {
  if (!holds) throw new Error(sentence())
}

/** The documents of a collection, in natural order if it is on one shard. */
export async function contentsOf<T>(client: PatientClient, ns: string): Promise<T[]> {
  const { cursor } = await client.untilDone({ find: ns, filter: {}, batchSize: 10_000, $db: 'app' })
  return cursor.firstBatch as T[]
}
