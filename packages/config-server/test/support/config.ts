import {
  Attachment,
  packChunks,
  type Actor,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type TimestampPair,
} from '@shardlab/actor'
import { FakeContext, FakeDisk } from '@shardlab/actor/testing'
import { decode, documentsOf, encode, fieldsOf, findPath, typeName, type Document } from '@shardlab/bson'
import { ShardKeyPattern, type EmulatedVersion } from '@shardlab/sharding'
import { createConfigServer } from '../../src/index.js'

export const clusterId = Buffer.from('0123456789abcdef01234567', 'hex')
export const uuid = Buffer.from('0123456789abcdef0123456789abcdef', 'hex')

/** A config server whose shards the test scripts. */
export class ConfigUnderTest {
  readonly context: FakeContext
  readonly actor: Actor
  readonly #version: EmulatedVersion
  #dropped = ''
  /** Replies of shards, except to requests for their sizes. */
  readonly answers = new Map<MessageKind, (to: string, request: never) => unknown>()
  /** In bytes; missing shards do not reply. */
  readonly sizes = new Map<string, number>()

  constructor(version: EmulatedVersion = '7.0', disk = new FakeDisk()) {
    this.#version = version
    this.context = new FakeContext('config', {
      disk,
      peers: async (to, kind, request) => {
        const answer = this.answers.get(kind)
        if (answer !== undefined) return answer(to, request as never) as never
        if (kind !== 'shard.data-size') throw new Error(`unexpected request: ${kind}`)
        const sizeBytes = this.sizes.get(to)
        return sizeBytes === undefined ? undefined : { sizeBytes }
      },
    })
    this.actor = createConfigServer(this.context, { emulate: version, maxWireVersion: 21 })
    void this.actor.start?.()
  }

  restarted(): ConfigUnderTest {
    const next = new ConfigUnderTest(this.#version, this.context.disk)
    for (const [shard, size] of this.sizes) next.sizes.set(shard, size)
    return next
  }

  async send<K extends MessageKind>(kind: K, request: RequestOf<K>, from = 'mongos01'): Promise<ReplyOf<K>> {
    return this.actor.receive(kind, request, from)
  }

  async initialised(shards: readonly string[] = ['shard01', 'shard02']): Promise<this> {
    for (const shard of shards) this.sizes.set(shard, 0)
    await this.send('config.initialise', {
      clusterId,
      shards: shards.map((shard) => [shard, `${shard}/h:1`] as const),
      chunkSizeBytes: 134217728,
    })
    return this
  }

  async createDatabase(
    db: string,
    primaryShard: string | null = null,
    enableSharding = false,
  ): Promise<{ database: Document | null; error: Document | null }> {
    const { database, error } = await this.send('config.create-database', { db, primaryShard, enableSharding })
    return { database: database === null ? null : decode(database), error: error === null ? null : decode(error) }
  }

  /** As requests of the database's primary shard have it. */
  async databaseOf(db: string): Promise<{ primary: string; databaseUuid: string; plannedAt: TimestampPair }> {
    const { database } = await this.send('config.get-database', { db })
    const { primary, version } = decode(database!) as { primary: string; version: { uuid: { buffer: Uint8Array } } }
    return {
      primary,
      databaseUuid: Buffer.from(version.uuid.buffer).toString('hex'),
      plannedAt: await this.clusterTime(),
    }
  }

  async clusterTime(): Promise<TimestampPair> {
    return (await this.send('config.get-shards', {})).clusterTime
  }

  /** Repeats the last UUID when the database is gone. */
  async commitDrop(
    kind: 'config.commit-drop-collections' | 'config.commit-drop-database',
    db: string,
  ): Promise<ReplyOf<typeof kind>> {
    const { database } = await this.send('config.get-database', { db })
    if (database !== null) this.#dropped = (await this.databaseOf(db)).databaseUuid
    return this.send(kind, { db, databaseUuid: this.#dropped })
  }

  /** On `{a: 1}`, cut at these values, with chunks on the shards in turn. */
  async createCollection(
    ns: string,
    cuts: readonly number[] = [],
    shards = ['shard01', 'shard02'],
    id: Uint8Array = uuid,
  ): Promise<Document | null> {
    const key = ShardKeyPattern.parse(encode({ a: 1 }), { compoundHashed: true })
    const bounds = [key.globalMin, ...cuts.map((a) => encode({ a })), key.globalMax]
    const chunks = bounds.slice(1).map((max, i) => [bounds[i]!, max, shards[i % shards.length]!] as const)
    const db = ns.split('.', 1)[0]!
    // No effect when it exists.
    await this.createDatabase(db)
    const { error } = await this.send('config.commit-create-collection', {
      ns,
      uuid: id,
      key: key.document,
      unique: false,
      defaultCollation: null,
      chunks: packChunks(chunks),
      wasTracked: false,
      ...(await this.databaseOf(db)),
    })
    return error === null ? null : decode(error)
  }

  async command(command: Document, db = 'config'): Promise<Uint8Array> {
    const { body } = await this.send('node.command', {
      db,
      body: encode(command),
      sequences: [],
      shardVersion: null,
      databaseVersion: null,
      stmtIds: null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
    })
    return body
  }

  async collections(): Promise<{ name: string; options: Document }[]> {
    const body = await this.command({ listCollections: 1, cursor: { batchSize: 1000 } })
    const { firstBatch } = (decode(body) as { cursor: { firstBatch: { name: string; options: Document }[] } }).cursor
    return firstBatch.filter(({ name }) => !name.startsWith('system.')).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async raw(collection: string): Promise<Uint8Array[]> {
    const body = await this.command({ find: collection, sort: { _id: 1 } })
    return documentsOf(findPath(body, 'cursor.firstBatch')!)
  }

  async all(collection: string): Promise<Document[]> {
    return (await this.raw(collection)).map((document) => decode(document))
  }
}

export function documentsIn({ chunks }: ReplyOf<'config.get-collection'>): readonly Uint8Array[] {
  if (chunks instanceof Attachment) throw new Error('the chunks are attached')
  return chunks
}

/** `name:type` of every field, in order; embedded documents in braces. */
export function shape(bytes: Uint8Array): string {
  return fieldsOf(bytes)
    .map(([name, value]) =>
      value.type === 3 || value.type === 4
        ? `${name}:${value.type === 3 ? '{' : '['}${shape(value.slice())}${value.type === 3 ? '}' : ']'}`
        : `${name}:${typeName(value.type)}`,
    )
    .join(' ')
}
