/**
 * A capped collection: removed documents are older than all remaining ones, also after a crash of
 * its shard.
 */
import type { PatientClient } from '../patient-client.js'
import { contentsOf, type Activity, type Worker } from './activity.js'

const most = 20

export class CappedLog implements Activity {
  /** Acknowledged documents in order, by client. */
  readonly #written = new Map<number, number[]>()

  prepare(client: PatientClient): Promise<void> {
    return client.untilDone({ create: 'log', capped: true, size: 100_000, max: most, $db: 'app' }).then(() => {})
  }

  async step({ client, random, number, newKeys }: Worker): Promise<void> {
    const keys = newKeys(1 + random.below(3))
    const documents = keys.map((_id) => ({ _id, by: number }))
    await client.writeRetryably({ command: { insert: 'log', $db: 'app' }, documents, field: 'documents' })
    this.#written.set(number, [...(this.#written.get(number) ?? []), ...keys])
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    const found = await contentsOf<{ _id: number; by: number }>(client, 'log')
    const written = [...this.#written.values()].flat().length
    if (found.length !== Math.min(written, most)) wrong.push(`the log holds ${found.length} of ${written} documents`)
    for (const [number, keys] of this.#written) {
      const kept = found.filter(({ by }) => by === number).map(({ _id }) => _id)
      if (kept.join() !== keys.slice(keys.length - kept.length).join())
        wrong.push(`of ${keys.join()} the log holds ${kept.join()}`)
    }
    return wrong
  }
}
