/** Unique indexes: one client gets a name, and keeps it. */
import type { PatientClient } from '../patient-client.js'
import { contentsOf, mustHold, type Activity, type Worker } from './activity.js'

const collections = ['users', 'plainUsers'] as const
const names = 40
const duplicateKey = 11_000

export class UniqueNames implements Activity {
  /** The document that has a name, by collection and name. */
  readonly #owners = new Map<string, number>()

  async prepare(client: PatientClient): Promise<void> {
    await client.untilDone({ shardCollection: 'app.users', key: { name: 1 }, unique: true, $db: 'admin' })
    const indexes = [{ key: { name: 1 }, name: 'name_1', unique: true }]
    await client.untilDone({ createIndexes: 'plainUsers', indexes, $db: 'app' })
  }

  async step({ client, random, newKeys }: Worker): Promise<void> {
    const ns = collections[random.below(collections.length)]!
    const name = `name ${random.below(names)}`
    const [_id] = newKeys(1) as [number]
    const ops = [{ insert: 0, document: { _id, name } }]
    const command = { bulkWrite: 1, ops, nsInfo: [{ ns: `app.${ns}` }], $db: 'admin' }
    const reply = await client.retryably(command, ({ nInserted }) => (nInserted === 0 ? null : (nInserted as number)), [
      duplicateKey,
    ])
    if (reply['nInserted'] === 0) return
    const owner = this.#owners.get(`${ns} ${name}`)
    mustHold(owner === undefined, () => `${ns}: ${name} was given to ${owner} and to ${_id}`)
    this.#owners.set(`${ns} ${name}`, _id)
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    for (const ns of collections) {
      const found = await contentsOf<{ _id: number; name: string }>(client, ns)
      for (const { _id, name } of found) {
        const owner = this.#owners.get(`${ns} ${name}`)
        if (owner !== _id) wrong.push(`${ns}: ${name} is of ${_id}, ${owner} was told so`)
      }
      const owned = [...this.#owners.keys()].filter((key) => key.startsWith(`${ns} `)).length
      if (found.length !== owned) wrong.push(`${ns} holds ${found.length} names, ${owned} were given`)
    }
    return wrong
  }
}
