import {
  isMarker,
  Maintenance,
  parseSpec,
  UniqueProtocol,
  type Fields,
  type Proxy,
  type Transactions,
  type UniqueEvent,
  type UniqueSpec,
  type UniqueSpecOptions,
  type World,
} from '@shardlab/unique'
import { lowerCase, MemoryCollection } from './memory.js'
import { directPort, Scheduler } from './scheduler.js'

export type Layout = 'sharded' | 'unsharded'

const reservationMs = 1000

export class Story {
  readonly scheduler = new Scheduler()
  readonly specs: readonly UniqueSpec[]
  readonly main = new MemoryCollection('main', [{ fields: ['_id'], sparse: false }])
  readonly proxies: readonly { readonly collection: MemoryCollection; readonly specs: readonly UniqueSpec[] }[]
  readonly layout: Layout
  readonly events: UniqueEvent[] = []

  readonly #markers: boolean

  /** @param markers false: existing documents count as reserved */
  constructor(layout: Layout, unique: readonly (string | UniqueSpecOptions)[], markers = false) {
    this.layout = layout
    this.#markers = markers
    this.specs = unique.map(parseSpec)
    const keyOf = ({ fields, collation }: UniqueSpec, sparse: boolean) =>
      collation === null ? { fields, sparse } : { fields, sparse, fold: lowerCase }
    this.proxies =
      layout === 'sharded'
        ? this.specs.map((spec) => ({
            collection: new MemoryCollection(`proxy of ${spec.name}`, [keyOf(spec, false)]),
            specs: [spec],
          }))
        : [
            {
              collection: new MemoryCollection('proxy', [
                { fields: ['_id'], sparse: false },
                ...this.specs.map((spec) => keyOf(spec, true)),
              ]),
              specs: this.specs,
            },
          ]
  }

  /** Without scheduling. The deployment has transactions, or refuses them. */
  transactingClient(refusing: boolean): Client & { readonly transactions: () => number } {
    const world = this.#world()
    const collections = [this.main, ...this.proxies.map(({ collection }) => collection)]
    let count = 0
    const transactions: Transactions = {
      run: async (body) => {
        count++
        if (refusing) return { refused: 'no transactions here' }
        const before = collections.map(({ documents }) => [...documents])
        try {
          return {
            refused: null,
            result: await body({ main: world.main, proxies: world.proxies, session: 'session' }),
          }
        } catch (error) {
          collections.forEach((collection, i) => (collection.documents = before[i]!))
          throw error
        }
      },
      within: () => Promise.reject(new Error('no caller has a transaction here')),
    }
    return Object.assign(new Client({ ...world, transactions }), { transactions: () => count })
  }

  /** Scheduled if it has a name. */
  client(name?: string): Client {
    return new Client(this.#world(name))
  }

  #world(name?: string): World {
    const { scheduler } = this
    const port = (collection: MemoryCollection, isMain: boolean) =>
      name === undefined ? directPort(collection) : scheduler.port(name, collection, isMain)
    return {
      main: port(this.main, true),
      proxies: this.proxies.map(({ collection, specs }): Proxy => ({
        name: collection.name,
        port: port(collection, false),
        specs,
        sharded: this.layout === 'sharded',
      })),
      specs: this.specs,
      clock: name === undefined ? scheduler.directClock() : scheduler.clock(name),
      newToken: () => scheduler.newToken(name),
      reservationMs,
      busyMs: 30,
      tell: (event) => this.events.push(event),
      transactions: null,
      markers: this.#markers,
    }
  }

  alone<T>(act: (client: Client) => Promise<T>): Promise<T> {
    return act(this.client())
  }

  expire(): void {
    this.scheduler.nowMs += reservationMs + 1
  }

  violations(): string[] {
    return [...this.leftovers(), ...this.unsafe()]
  }

  /** Inconsistencies that a crash may leave and a repair has to remove. */
  leftovers(): string[] {
    const wrong: string[] = []
    for (const { collection, specs } of this.proxies) {
      for (const proxy of collection.documents) {
        if (isMarker(proxy)) continue
        if (proxy['state'] === 'reserved') wrong.push(`a reservation is left: ${JSON.stringify(proxy)}`)
        const owner = 'owner' in proxy ? proxy['owner'] : proxy['_id']
        const main = this.main.documents.find(({ _id }) => _id === owner)
        for (const spec of specs) {
          if (spec.fields.every((field) => proxy[field] === undefined)) continue
          const same = spec.fields.every((field) => this.#key(spec, main?.[field]) === this.#key(spec, proxy[field]))
          if (main === undefined || !same)
            wrong.push(`${JSON.stringify(proxy)} is reserved for ${JSON.stringify(main)}`)
        }
      }
    }
    return wrong
  }

  /**
   * Inconsistencies that must never occur: a value with two owners, a document without its
   * reservation.
   */
  unsafe(): string[] {
    const wrong: string[] = []
    for (const { collection, specs } of this.proxies) {
      for (const spec of specs) {
        const owners = new Map<string, unknown>()
        for (const document of this.main.documents) {
          if (spec.missing === 'skip' && spec.fields.every((field) => document[field] === undefined)) continue
          const values = spec.fields.map((field) => this.#key(spec, document[field])).join()
          if (owners.has(values))
            wrong.push(
              `${spec.name} ${values} is owned twice: ${String(owners.get(values))}, ${String(document['_id'])}`,
            )
          owners.set(values, document['_id'])
          const held = collection.documents.some(
            (proxy) =>
              ('owner' in proxy ? proxy['owner'] : proxy['_id']) === document['_id'] &&
              spec.fields.every(
                (field) =>
                  proxy[field] !== undefined && this.#key(spec, proxy[field]) === this.#key(spec, document[field]),
              ),
          )
          if (!held) wrong.push(`${JSON.stringify(document)} has no reservation of ${spec.name}`)
        }
      }
    }
    return wrong
  }

  #key(spec: UniqueSpec, value: unknown): string {
    return JSON.stringify((spec.collation === null ? value : lowerCase(value)) ?? null)
  }
}

export class Client {
  readonly protocol: UniqueProtocol
  readonly maintenance: Maintenance
  readonly #world: World

  constructor(world: World) {
    this.#world = world
    this.protocol = new UniqueProtocol(world)
    this.maintenance = new Maintenance(world, this.protocol)
  }

  insert(document: Fields): Promise<void> {
    return this.protocol.insert(document, (scope) => (scope ?? this.#world).main.insertOne(document))
  }

  /** true: the document exists. */
  async update(_id: unknown, $set: Fields): Promise<boolean> {
    const changed = await this.protocol.change({
      find: (scope) => (scope ?? this.#world).main.findOne({ _id }),
      plan: (before) => ({
        touched: this.#world.specs.filter(({ fields }) => fields.some((field) => field in $set)),
        after: { ...before, ...$set },
      }),
      write: async (_, guard, scope) =>
        (await (scope ?? this.#world).main.updateOne({ _id, ...guard }, { $set })) > 0 ? true : null,
    })
    return changed !== null
  }

  async remove(_id: unknown): Promise<boolean> {
    const changed = await this.protocol.change({
      find: (scope) => (scope ?? this.#world).main.findOne({ _id }),
      plan: () => ({ touched: this.#world.specs, after: null }),
      write: async (_, guard, scope) =>
        (await (scope ?? this.#world).main.deleteOne({ _id, ...guard })) > 0 ? true : null,
    })
    return changed !== null
  }
}
