/** Changes of the catalog, each on a collection of its own. */
import type { Collection, Document, MongoClient } from 'mongodb'
import type { ShardedCluster } from 'shardlab'

export interface Row extends Document {
  _id: number
  k: number
  n: number
}

export const rows: readonly Row[] = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({ _id: i, k: i, n: i % 2 }))
const others: readonly Row[] = [20, 21, 22].map((i) => ({ _id: i, k: i, n: 1 }))

let moving: Promise<void> = Promise.resolve()

/** The collection and the routers of one pair of change and operation. */
export class Place {
  readonly cluster: ShardedCluster
  readonly changing: MongoClient
  readonly db: string
  readonly ns: string

  constructor(cluster: ShardedCluster, changing: MongoClient, db: string) {
    this.cluster = cluster
    this.changing = changing
    this.db = db
    this.ns = `${db}.c`
  }

  get collection(): Collection<Row> {
    return this.of('c')
  }

  of(name: string): Collection<Row> {
    return this.changing.db(this.db).collection<Row>(name)
  }

  admin(command: Document): Promise<Document> {
    return this.changing.db('admin').command(command)
  }

  async shard(key: Document, ns = this.ns): Promise<void> {
    await this.admin({ shardCollection: ns, key })
  }

  async chunks(): Promise<Document[]> {
    const config = this.changing.db('config')
    const entry = await config
      .collection<{ _id: string; uuid: unknown; timestamp?: unknown }>('collections')
      .findOne({ _id: this.ns })
    return config
      .collection('chunks')
      .find(entry?.timestamp === undefined ? { ns: this.ns } : { uuid: entry.uuid })
      .sort({ min: 1 })
      .toArray()
  }

  /** Moves the chunk with this key to another shard. */
  async move(find: Document): Promise<void> {
    const chunks = await this.chunks()
    const from = chunks.at(-1)!['shard'] as string
    const to = this.cluster.shards.find(({ id }) => id !== from)!.id
    await this.#alone({ moveChunk: this.ns, find, to })
  }

  async moveDatabase(): Promise<void> {
    const from = await this.primary()
    await this.#alone({ movePrimary: this.db, to: this.cluster.shards.find(({ id }) => id !== from)!.id })
  }

  /**
   * A shard takes part in one migration at a time, and until 6.0 donates one database at a time.
   */
  async #alone(command: Document): Promise<void> {
    const before = moving
    moving = (async () => {
      await before.catch(() => {})
      await this.admin(command)
    })()
    await moving
  }

  async primary(): Promise<string> {
    const entry = await this.changing
      .db('config')
      .collection<{ _id: string; primary: string }>('databases')
      .findOne({ _id: this.db })
    return entry!.primary
  }
}

export interface Change {
  readonly name: string
  /** A command that the change needs; where it is not implemented, the change is skipped. */
  readonly needs?: string
  /**
   * Creates what the other mongos then caches. Default: the rows in a collection that is sharded by
   * the hash of `k`.
   */
  readonly prepare?: (place: Place) => Promise<void>
  /** @returns the rows of the collection after the change */
  readonly make: (place: Place) => Promise<readonly Row[]>
  /**
   * Number of records of the chunk owners where orphans are among them. Default: the number of
   * rows.
   */
  readonly records?: number
}

export async function ranged(place: Place): Promise<void> {
  await place.shard({ k: 1 })
  await place.collection.insertMany([...rows])
}

async function unsharded(place: Place): Promise<void> {
  await place.collection.insertMany([...rows])
}

export const changes: readonly Change[] = [
  {
    name: 'shardCollection',
    prepare: unsharded,
    async make(place) {
      await place.collection.createIndex({ k: 1 })
      await place.shard({ k: 1 })
      return rows
    },
  },
  {
    name: 'drop',
    async make(place) {
      await place.collection.drop()
      return []
    },
  },
  {
    name: 'drop, and a new one with another key',
    async make(place) {
      await place.collection.drop()
      await place.shard({ n: 1, k: 1 })
      await place.collection.insertMany([...others])
      return others
    },
  },
  {
    name: 'drop, and a new one that is not sharded',
    async make(place) {
      await place.collection.drop()
      await place.collection.insertMany([...others])
      return others
    },
  },
  {
    name: 'rename to another name',
    needs: 'renameCollection',
    async make(place) {
      await place.collection.rename('d')
      return []
    },
  },
  {
    name: 'rename over the collection',
    needs: 'renameCollection',
    async make(place) {
      await place.shard({ n: 'hashed' }, `${place.db}.d`)
      await place.of('d').insertMany([...others])
      await place.of('d').rename('c', { dropTarget: true })
      return others
    },
  },
  {
    name: 'dropDatabase',
    async make(place) {
      await place.changing.db(place.db).dropDatabase()
      return []
    },
  },
  {
    name: 'dropDatabase, and a new one with another primary shard',
    async make(place) {
      const before = await place.primary()
      await place.changing.db(place.db).dropDatabase()
      const primaryShard = place.cluster.shards.find(({ id }) => id !== before)!.id
      await place.admin({ enableSharding: place.db, primaryShard })
      await place.collection.insertMany([...others])
      return others
    },
  },
  {
    name: 'movePrimary',
    needs: 'movePrimary',
    prepare: unsharded,
    async make(place) {
      await place.moveDatabase()
      return rows
    },
  },
  {
    name: 'split',
    needs: 'split',
    prepare: ranged,
    async make(place) {
      await place.admin({ split: place.ns, middle: { k: 4 } })
      return rows
    },
  },
  {
    name: 'mergeChunks',
    needs: 'mergeChunks',
    async prepare(place) {
      await ranged(place)
      await place.admin({ split: place.ns, middle: { k: 4 } })
    },
    async make(place) {
      const chunks = await place.chunks()
      await place.admin({ mergeChunks: place.ns, bounds: [chunks[0]!['min'], chunks[1]!['max']] })
      return rows
    },
  },
  {
    name: 'moveChunk of a part',
    needs: 'moveChunk',
    async prepare(place) {
      await ranged(place)
      await place.admin({ split: place.ns, middle: { k: 4 } })
    },
    async make(place) {
      await place.move({ k: 5 })
      return rows
    },
    // The donor still holds the four rows that have moved.
    records: 12,
  },
  {
    name: 'moveChunk of everything, and a write there',
    needs: 'moveChunk',
    prepare: ranged,
    async make(place) {
      await place.move({ k: 5 })
      await place.collection.insertOne({ _id: 100, k: 8, n: 0 })
      return [...rows, { _id: 100, k: 8, n: 0 }]
    },
  },
  {
    name: 'refineCollectionShardKey',
    needs: 'refineCollectionShardKey',
    prepare: ranged,
    async make(place) {
      await place.collection.createIndex({ k: 1, _id: 1 })
      await place.admin({ refineCollectionShardKey: place.ns, key: { k: 1, _id: 1 } })
      return rows
    },
  },
]
