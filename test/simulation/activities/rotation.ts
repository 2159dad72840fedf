/**
 * A collection that is renamed during writes: every document is in exactly one of its successors.
 */
import type { PatientClient } from '../patient-client.js'
import { contentsOf, type Activity, type Worker } from './activity.js'

/** The rename is already done: 26 if no write has recreated the collection, 48 otherwise. */
const renamed = [26, 48]

export class Rotation implements Activity {
  readonly #written = new Set<number>()
  #rotations = 0

  async prepare(client: PatientClient): Promise<void> {
    await client.untilDone({ create: 'rolling', $db: 'app' })
  }

  async step({ client, random, newKeys }: Worker): Promise<void> {
    if (random.chance(1, 6)) {
      const to = `app.rolled${++this.#rotations}`
      await client.untilDone({ renameCollection: 'app.rolling', to, $db: 'admin' }, renamed)
      return
    }
    const keys = newKeys(1 + random.below(3))
    const documents = keys.map((_id) => ({ _id }))
    await client.writeRetryably({ command: { insert: 'rolling', $db: 'app' }, documents, field: 'documents' })
    for (const key of keys) this.#written.add(key)
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    const found = new Map<number, string>()
    for (let i = 0; i <= this.#rotations; i++) {
      const ns = i === 0 ? 'rolling' : `rolled${i}`
      for (const { _id } of await contentsOf<{ _id: number }>(client, ns)) {
        if (found.has(_id)) wrong.push(`${_id} is in ${found.get(_id)} and in ${ns}`)
        if (!this.#written.has(_id)) wrong.push(`${_id} in ${ns} was never written`)
        found.set(_id, ns)
      }
    }
    for (const key of this.#written)
      if (!found.has(key)) wrong.push(`${key} was acknowledged and is in no collection that was rolling`)
    return wrong
  }
}
