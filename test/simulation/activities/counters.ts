/**
 * findAndModify as a counter: no number is returned twice, and a read after a write sees it through
 * every router.
 */
import type { PatientClient } from '../patient-client.js'
import { contentsOf, mustHold, type Activity, type Worker } from './activity.js'

const counters = 3

export class Counters implements Activity {
  /** Returned numbers, by collection and counter. */
  readonly #given = new Map<string, Set<number>>()

  async prepare(client: PatientClient): Promise<void> {
    await client.untilDone({ shardCollection: 'app.numbers', key: { _id: 'hashed' }, $db: 'admin' })
    for (const ns of ['numbers', 'plainNumbers']) {
      const documents = Array.from({ length: counters }, (_, i) => ({ _id: i, n: 0 }))
      await client.writeRetryably({ command: { insert: ns, $db: 'app' }, documents, field: 'documents' })
      for (const { _id } of documents) this.#given.set(`${ns} ${_id}`, new Set())
    }
  }

  async step({ client, random }: Worker): Promise<void> {
    const ns = random.chance(1, 2) ? 'numbers' : 'plainNumbers'
    const _id = random.below(counters)
    const given = this.#given.get(`${ns} ${_id}`)!
    const reply = await client.retryably(
      { findAndModify: ns, query: { _id }, update: { $inc: { n: 1 } }, new: true, $db: 'app' },
      ({ value }) => value.n as number,
    )
    const n = reply['value'].n as number
    mustHold(!given.has(n), () => `${ns} ${_id} gave ${n} twice`)
    given.add(n)
    const read = await client.once({
      find: ns,
      filter: { _id },
      readConcern: { level: 'local', afterClusterTime: reply['operationTime'] },
      $clusterTime: reply['$clusterTime'],
      $db: 'app',
    })
    if (read?.['ok'] === 1)
      mustHold(
        read['cursor'].firstBatch[0].n >= n,
        () => `a read after ${n} of ${ns} ${_id} gave ${read['cursor'].firstBatch[0].n}`,
      )
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    for (const ns of ['numbers', 'plainNumbers']) {
      for (const { _id, n } of await contentsOf<{ _id: number; n: number }>(client, ns)) {
        const { size } = this.#given.get(`${ns} ${_id}`)!
        if (n !== size) wrong.push(`${ns} ${_id} is at ${n}, ${size} numbers were given`)
      }
    }
    return wrong
  }
}
