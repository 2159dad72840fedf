/**
 * Indexes that are created, hidden and dropped during writes: every shard has the same ones at the
 * end.
 */
import type { Document } from '@shardlab/bson'
import type { PatientClient } from '../patient-client.js'
import type { Activity, Worker } from './activity.js'

const indexNotFound = 27
const collections = ['hashed', 'ranged', 'plain'] as const

export class Definitions implements Activity {
  /** The one client that changes definitions, so that it knows their state. */
  readonly #changer = 1
  /** State of the index, by collection. */
  readonly #states = new Map<string, 'there' | 'hidden' | 'gone'>()

  async prepare(): Promise<void> {}

  async step({ client, random, number }: Worker): Promise<void> {
    if (number !== this.#changer) return
    const ns = collections[random.below(collections.length)]!
    const state = this.#states.get(ns) ?? 'gone'
    if (state === 'gone') {
      await client.untilDone({ createIndexes: ns, indexes: [{ key: { owner: 1, n: 1 }, name: 'owner_n' }], $db: 'app' })
      this.#states.set(ns, 'there')
    } else if (state === 'there' && random.chance(1, 2)) {
      await client.untilDone({ collMod: ns, index: { name: 'owner_n', hidden: true }, $db: 'app' })
      this.#states.set(ns, 'hidden')
    } else {
      await client.untilDone({ dropIndexes: ns, index: 'owner_n', $db: 'app' }, [indexNotFound])
      this.#states.set(ns, 'gone')
    }
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    for (const [ns, state] of this.#states) {
      const { cursor } = await client.untilDone({
        aggregate: ns,
        pipeline: [{ $indexStats: {} }],
        cursor: {},
        $db: 'app',
      })
      const specs = (cursor.firstBatch as Document[]).filter(({ name }) => name === 'owner_n').map(({ spec }) => spec)
      const { cursor: list } = await client.untilDone({ listIndexes: ns, $db: 'app' })
      const listed = (list.firstBatch as Document[]).find(({ name }) => name === 'owner_n')
      const found = listed === undefined ? 'gone' : listed['hidden'] === true ? 'hidden' : 'there'
      if (found !== state) wrong.push(`the index of ${ns} is ${found}, not ${state}`)
      const differing = specs.filter((spec) => (spec?.hidden === true) !== (state === 'hidden'))
      if ((state === 'gone') !== (specs.length === 0) || differing.length > 0)
        wrong.push(
          `the index of ${ns} is ${state}, ${specs.length} shards have it, ${differing.length} of them another one`,
        )
    }
    return wrong
  }
}
