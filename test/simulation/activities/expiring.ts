/** A TTL index: expired documents are deleted, others are not. */
import type { PatientClient } from '../patient-client.js'
import { contentsOf, type Activity, type Worker } from './activity.js'

const collections = ['expiring', 'plainExpiring'] as const
/** Longer than two passes of the TTL monitor. */
const patienceMs = 130_000

export class Expiring implements Activity {
  readonly #lasting = new Set<string>()

  async prepare(client: PatientClient): Promise<void> {
    await client.untilDone({ shardCollection: 'app.expiring', key: { _id: 'hashed' }, $db: 'admin' })
    const indexes = [{ key: { until: 1 }, name: 'until_1', expireAfterSeconds: 1 }]
    for (const ns of collections) await client.untilDone({ createIndexes: ns, indexes, $db: 'app' })
  }

  async step({ client, random, newKeys }: Worker): Promise<void> {
    const ns = collections[random.below(collections.length)]!
    const documents = newKeys(1 + random.below(3)).map((_id) => ({
      _id,
      until: new Date(random.chance(1, 2) ? 0 : 4e12),
    }))
    await client.writeRetryably({ command: { insert: ns, $db: 'app' }, documents, field: 'documents' })
    for (const { _id, until } of documents) if (until.getTime() > 0) this.#lasting.add(`${ns} ${_id}`)
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    await client.wait(patienceMs)
    const found = new Set<string>()
    for (const ns of collections)
      for (const { _id } of await contentsOf<{ _id: number }>(client, ns)) found.add(`${ns} ${_id}`)
    for (const key of found) if (!this.#lasting.has(key)) wrong.push(`${key} should have expired`)
    for (const key of this.#lasting) if (!found.has(key)) wrong.push(`${key} expired too early`)
    return wrong
  }
}
