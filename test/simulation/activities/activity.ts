/** One kind of work that clients do during a simulated day, with what must be true of it at the end. */
import type { Random } from '@shardlab/actor'
import type { PatientClient } from '../patient-client.js'

/** One client at work: it does one step after another. */
export interface Worker {
  readonly number: number
  readonly client: PatientClient
  readonly random: Random
  /** Numbers that no other worker gets, ascending. */
  readonly newKeys: (count: number) => number[]
}

export interface Activity {
  /** Before members begin to crash. */
  prepare(client: PatientClient): Promise<void>
  /** @throws Error when an answer is wrong */
  step(worker: Worker): Promise<void>
  /** What is wrong when all is over, one sentence each. */
  violations(client: PatientClient): Promise<string[]>
}

/** Something that a client reads must be so. */
export function mustHold(holds: boolean, sentence: () => string): void {
  if (!holds) throw new Error(sentence())
}

/** The documents of a collection, in natural order where it is on one shard. */
export async function contentsOf<T>(client: PatientClient, ns: string): Promise<T[]> {
  const { cursor } = await client.untilDone({ find: ns, filter: {}, batchSize: 10_000, $db: 'app' })
  return cursor.firstBatch as T[]
}
