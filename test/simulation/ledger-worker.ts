/** Clients that write and read `app.c` during a test, each with keys of its own. */
import type { Document } from '@shardlab/bson'
import type { Ledger, Found } from './ledger.js'
import type { PatientClient } from './patient-client.js'

export interface LedgerWorkerOptions {
  readonly client: PatientClient
  readonly ledger: Ledger
  /** Existing documents that only this client changes. */
  readonly keys: readonly number[]
  /** Key of the first document that it inserts. */
  readonly nextKey: number
  /** Further fields of inserted documents besides `_id`, `k` and `n`; default: none. */
  readonly fill?: (key: number) => Document
  /** Added to the filter of a write: the current values of the shard key. Default: nothing. */
  readonly filter?: (key: number) => Document
}

/** Records replies in a ledger. Each document is `{ _id: key, k: key, n: 0, … }`. */
export class LedgerWorker {
  readonly client: PatientClient
  readonly #ledger: Ledger
  readonly #keys: number[]
  readonly #fill: (key: number) => Document
  readonly #filter: (key: number) => Document
  #nextKey: number

  constructor({ client, ledger, keys, nextKey, fill, filter }: LedgerWorkerOptions) {
    this.client = client
    this.#ledger = ledger
    this.#keys = [...keys]
    this.#nextKey = nextKey
    this.#fill = fill ?? (() => ({}))
    this.#filter = filter ?? (() => ({}))
  }

  /** Keys of documents that certainly exist. */
  get keys(): readonly number[] {
    return this.#keys
  }

  async increment(key: number): Promise<void> {
    const update = { q: { _id: key, k: key, ...this.#filter(key) }, u: { $inc: { n: 1 } } }
    this.#ledger.incremented(key, 1, await this.#write('update', 'updates', update))
  }

  async insert(): Promise<void> {
    const key = this.#nextKey++
    this.#ledger.inserted(key, await this.#write('insert', 'documents', { _id: key, k: key, n: 0, ...this.#fill(key) }))
    this.#keys.push(key)
  }

  async delete(key: number): Promise<void> {
    this.#keys.splice(this.#keys.indexOf(key), 1)
    this.#ledger.deleted(
      key,
      await this.#write('delete', 'deletes', { q: { _id: key, k: key, ...this.#filter(key) }, limit: 1 }),
    )
  }

  /** Finds the documents that certainly exist, once each. @throws Error otherwise */
  async find(filter: Document = { _id: { $in: this.#keys } }, expected: readonly number[] = this.#keys): Promise<void> {
    const wanted = expected.toSorted((a, b) => a - b).join()
    const reply = await this.client.once({
      find: 'c',
      filter,
      projection: { _id: 1 },
      sort: { _id: 1 },
      batchSize: 1000,
      $db: 'app',
    })
    if (reply === null || reply['ok'] !== 1) return
    const found = (reply['cursor'].firstBatch as { _id: number }[]).map(({ _id }) => _id).join()
    if (found !== wanted) throw new Error(`find gave ${found} where ${wanted} had been acknowledged`)
  }

  async #write(command: string, field: 'updates' | 'documents' | 'deletes', statement: Document): Promise<boolean> {
    const { done } = await this.client.writeRetryably({
      command: { [command]: 'c', $db: 'app' },
      documents: [statement],
      field,
    })
    return done[0]!
  }
}

/** Contents of `app.c` for {@link Ledger.violations}. */
export async function contents(client: PatientClient): Promise<Map<number, Found>> {
  const { cursor } = await client.untilDone({
    find: 'c',
    filter: {},
    projection: { n: 1 },
    batchSize: 10_000,
    $db: 'app',
  })
  const found = new Map<number, Found>()
  for (const { _id, n } of cursor.firstBatch as { _id: number; n: number }[])
    found.set(_id, { count: (found.get(_id)?.count ?? 0) + 1, n })
  return found
}
