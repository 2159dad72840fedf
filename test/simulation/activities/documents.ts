/**
 * Documents of one client each: bulkWrite, multi-document writes, and reads by distinct, through a
 * view, with $merge and $out.
 */
import type { Document } from '@shardlab/bson'
import { Ledger, type Found } from '../ledger.js'
import type { PatientClient } from '../patient-client.js'
import { contentsOf, mustHold, type Activity, type Worker } from './activity.js'

const collections = ['hashed', 'ranged', 'plain'] as const
type Name = (typeof collections)[number]

export class Documents implements Activity {
  readonly #ledgers: Record<Name, Ledger> = { hashed: new Ledger(), ranged: new Ledger(), plain: new Ledger() }
  /** Keys of existing documents, by client. */
  readonly #own = new Map<number, Record<Name, number[]>>()
  /** Existing keys, by the collection that $merge wrote. */
  readonly #merged: Record<Name, Set<number>> = { hashed: new Set(), ranged: new Set(), plain: new Set() }

  async prepare(client: PatientClient): Promise<void> {
    await client.untilDone({ shardCollection: 'app.hashed', key: { _id: 'hashed' }, $db: 'admin' })
    await client.untilDone({ shardCollection: 'app.ranged', key: { k: 1 }, $db: 'admin' })
    await client.untilDone({ shardCollection: 'app.mergedRanged', key: { _id: 'hashed' }, $db: 'admin' })
    await client.untilDone({ create: 'plain', $db: 'app' })
    for (const ns of collections) {
      const pipeline = [{ $match: { n: { $gte: 0 } } }, { $set: { seen: '$owner' } }]
      await client.untilDone({ create: `${ns}View`, viewOn: ns, pipeline, $db: 'app' })
    }
  }

  async step(worker: Worker): Promise<void> {
    const { client, random, number } = worker
    const ns = collections[random.below(collections.length)]!
    if (!this.#own.has(number)) this.#own.set(number, { hashed: [], ranged: [], plain: [] })
    const own = this.#own.get(number)![ns]
    const choice = own.length < 5 ? 0 : random.below(12)
    if (choice < 5) return this.#bulkWrite(worker, ns, own)
    const some = random.shuffled(own).slice(0, 1 + random.below(4))
    if (choice === 5) return this.#updateMany(client, ns, some, 1 + random.below(5))
    if (choice === 6) return this.#deleteMany(client, ns, some, own)
    if (choice === 7) return this.#distinct(client, ns, own)
    if (choice === 8) return this.#throughView(client, ns, own, number)
    if (choice === 9) return this.#out(client, ns, own, number)
    return this.#merge(client, ns, some)
  }

  /** Inserts, increments and deletes in one command. */
  async #bulkWrite({ client, random, number, newKeys }: Worker, ns: Name, own: number[]): Promise<void> {
    const ledger = this.#ledgers[ns]
    const inserted = newKeys(1 + random.below(4))
    const changed = random.shuffled(own).slice(0, random.below(4))
    const deleted = changed.length > 2 ? [changed.pop()!] : []
    const ops: Document[] = random.shuffled([
      ...inserted.map((_id) => ({ insert: 0, document: { _id, k: _id, n: 0, owner: number } })),
      ...changed.map((_id) => ({ update: 0, filter: { _id, k: _id }, updateMods: { $inc: { n: 1 } } })),
      ...deleted.map((_id) => ({ delete: 0, filter: { _id, k: _id } })),
    ])
    const command = { bulkWrite: 1, ops, nsInfo: [{ ns: `app.${ns}` }], ordered: random.chance(1, 2), $db: 'admin' }
    const counts = ({ nInserted, nModified, nDeleted }: Document) => [nInserted, nModified, nDeleted].join()
    const reply = await client.retryably(command, counts)
    const expected = [inserted.length, changed.length, deleted.length].join()
    mustHold(counts(reply) === expected, () => `bulkWrite on ${ns} did ${counts(reply)} of ${expected}`)
    for (const key of inserted) ledger.inserted(key, true)
    for (const key of changed) ledger.incremented(key, 1, true)
    for (const key of deleted) ledger.deleted(key, true)
    own.push(...inserted)
    remove(own, deleted)
  }

  /** Sent once: if it fails, the outcome for each document is unknown. */
  async #updateMany(client: PatientClient, ns: Name, keys: readonly number[], by: number): Promise<void> {
    const documents = [{ q: { _id: { $in: keys } }, u: { $inc: { n: by } }, multi: true }]
    const { done, n } = await client.write({ command: { update: ns, $db: 'app' }, documents, field: 'updates' })
    mustHold(!done[0] || n === keys.length, () => `an update of ${keys.length} documents of ${ns} found ${n}`)
    for (const key of keys) this.#ledgers[ns].incremented(key, by, done[0]!)
  }

  async #deleteMany(client: PatientClient, ns: Name, keys: readonly number[], own: number[]): Promise<void> {
    const documents = [{ q: { _id: { $in: keys } }, limit: 0 }]
    const { done, n } = await client.write({ command: { delete: ns, $db: 'app' }, documents, field: 'deletes' })
    mustHold(!done[0] || n === keys.length, () => `a delete of ${keys.length} documents of ${ns} found ${n}`)
    for (const key of keys) this.#ledgers[ns].deleted(key, done[0]!)
    remove(own, keys)
  }

  async #distinct(client: PatientClient, ns: Name, own: readonly number[]): Promise<void> {
    const reply = await client.once({ distinct: ns, key: '_id', query: { _id: { $in: own } }, $db: 'app' })
    if (reply?.['ok'] === 1) mustBeEqual(`distinct in ${ns}`, reply['values'], own)
  }

  async #throughView(client: PatientClient, ns: Name, own: readonly number[], number: number): Promise<void> {
    const filter = { _id: { $in: own }, seen: number }
    const reply = await client.once({ find: `${ns}View`, filter, projection: { _id: 1 }, batchSize: 1000, $db: 'app' })
    if (reply?.['ok'] === 1) mustBeEqual(`the view of ${ns}`, idsOf(reply), own)
  }

  async #out(client: PatientClient, ns: Name, own: readonly number[], number: number): Promise<void> {
    const target = `out${number}`
    const pipeline = [{ $match: { _id: { $in: own } } }, { $out: target }]
    const reply = await client.once({ aggregate: ns, pipeline, cursor: {}, $db: 'app' })
    if (reply?.['ok'] !== 1) return
    const read = await client.once({ find: target, filter: {}, batchSize: 1000, $db: 'app' })
    if (read?.['ok'] === 1) mustBeEqual(`$out of ${ns}`, idsOf(read), own)
  }

  async #merge(client: PatientClient, ns: Name, keys: readonly number[]): Promise<void> {
    const pipeline = [{ $match: { _id: { $in: keys } } }, { $merge: { into: mergedOf(ns), whenMatched: 'replace' } }]
    const reply = await client.once({ aggregate: ns, pipeline, cursor: {}, $db: 'app' })
    if (reply?.['ok'] === 1) for (const key of keys) this.#merged[ns].add(key)
  }

  async violations(client: PatientClient): Promise<string[]> {
    const wrong: string[] = []
    for (const ns of collections) {
      const contents = new Map<number, Found>()
      for (const { _id, n } of await contentsOf<{ _id: number; n: number }>(client, ns))
        contents.set(_id, { count: (contents.get(_id)?.count ?? 0) + 1, n })
      wrong.push(...this.#ledgers[ns].violations(ns, contents))
      const merged = (await contentsOf<{ _id: number }>(client, mergedOf(ns))).map(({ _id }) => _id)
      if (new Set(merged).size !== merged.length) wrong.push(`${mergedOf(ns)} holds a document twice`)
      for (const key of this.#merged[ns])
        if (!merged.includes(key)) wrong.push(`${mergedOf(ns)} ${key} was merged and is gone`)
    }
    return wrong
  }
}

const mergedOf = (ns: Name) => (ns === 'ranged' ? 'mergedRanged' : `${ns}Merged`)
const idsOf = (reply: Document) => (reply['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id)

function remove(from: number[], keys: readonly number[]): void {
  for (const key of keys) from.splice(from.indexOf(key), 1)
}

function mustBeEqual(what: string, found: readonly number[], expected: readonly number[]): void {
  const [left, right] = [found, expected].map((keys) => keys.toSorted((a, b) => a - b).join())
  mustHold(left === right, () => `${what} gave ${left} where ${right} had been acknowledged`)
}
