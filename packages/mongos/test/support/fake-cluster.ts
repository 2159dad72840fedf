/** The shards are scripted, and the test fills the config server. */
import {
  decode,
  DocumentWriter,
  encode,
  findField,
  firstFieldName,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
  errorDocument,
  type CommandError,
  type Document,
} from '@shardlab/bson'
import type { Actor, NodeCommand } from '@shardlab/actor'
import { createMongos, type MongosOptions } from '../../src/index.js'
import { FakeWorld, type SentMessage } from './fake-world.js'

export type ShardScript = (command: NodeCommand, name: string) => Document | Uint8Array | Promise<Document | Uint8Array>

const clusterTime = [1_700_000_000, 7] as const
const databaseUuid = new UUID('00112233-4455-6677-8899-aabbccddeeff')

interface FakeCollection {
  readonly key: Document
  readonly epoch: ObjectId
  readonly unique: boolean
  readonly collation: Document | null
  chunks: { min: Document; max: Document; shard: string; major: number; minor: number }[]
}

export class FakeCluster {
  readonly world = new FakeWorld()
  readonly mongos: Actor
  readonly databases = new Map<string, { primary: string; lastMod: number }>()
  readonly collections = new Map<string, FakeCollection>()
  readonly scripts = new Map<string, ShardScript>()
  /** By `_id`. */
  readonly settings = new Map<string, Document>()
  /** Documents of `admin.system.keys`. */
  timeKeys: readonly Uint8Array[] = []
  #connectionId = 1

  constructor(options: Partial<MongosOptions> = {}, shards: readonly string[] = ['shard01', 'shard02', 'shard03']) {
    this.mongos = createMongos(this.world.context(), {
      emulate: '7.0',
      findReplicaSetHostTimeoutMs: 15_000,
      nativeWire: false,
      ...options,
    })
    this.world.members.set('config', (kind, request) => this.#config(kind, request as never, shards))
    for (const shard of shards) this.revive(shard)
    this.databases.set('test', { primary: 'shard01', lastMod: 1 })
  }

  kill(shard: string): void {
    this.world.members.delete(shard)
  }

  revive(shard: string): void {
    this.world.members.set(shard, async (kind, request) => {
      if (kind !== 'node.command') return this.onShardExchange(shard, kind, request)
      const command = request as NodeCommand
      const script = this.scripts.get(shard)
      if (script === undefined) throw new Error(`${shard} has no script`)
      const reply = await script(command, firstFieldName(command.body)!)
      return {
        body: reply instanceof Uint8Array ? reply : encode(reply),
        operationTime: [1_700_000_000, 5],
        clusterTime,
      }
    })
  }

  /** Tests replace it to reply to requests other than commands. */
  onShardExchange: (shard: string, kind: string, request: never) => unknown = (_, kind) => {
    throw new Error(`no scripted reply to ${kind}`)
  }

  /** Tests replace it. */
  onFindChunk: (ns: string) => Document = (ns) => {
    throw new Error(`no scripted reply to config.find-chunk for ${ns}`)
  }

  /** `splits` are the inner bounds of a key with one field; chunk i is on `owners[i]`. */
  shardByRange(
    ns: string,
    field: string,
    splits: readonly unknown[],
    owners: readonly string[],
    options: { unique?: boolean; collation?: Document } = {},
  ): FakeCollection {
    const bounds = [new MinKey(), ...splits, new MaxKey()]
    const collection: FakeCollection = {
      key: { [field]: 1 },
      epoch: new ObjectId(),
      unique: options.unique ?? false,
      collation: options.collation ?? null,
      chunks: owners.map((shard, i) => ({
        min: { [field]: bounds[i] },
        max: { [field]: bounds[i + 1] },
        shard,
        major: 1,
        minor: i,
      })),
    }
    this.collections.set(ns, collection)
    return collection
  }

  /** Moves a chunk as the commit of a migration does. */
  move(ns: string, chunkIndex: number, to: string): void {
    const { chunks } = this.collections.get(ns)!
    const major = Math.max(...chunks.map((chunk) => chunk.major)) + 1
    const moved = chunks[chunkIndex]!
    const from = moved.shard
    Object.assign(moved, { shard: to, major, minor: 0 })
    const control = chunks.find((chunk) => chunk.shard === from)
    if (control !== undefined) Object.assign(control, { major, minor: 1 })
  }

  versionOf(ns: string, shard: string): [number, number] {
    const own = this.collections.get(ns)!.chunks.filter((chunk) => chunk.shard === shard)
    return own.reduce<[number, number]>(
      (best, { major, minor }) => (major > best[0] || (major === best[0] && minor > best[1]) ? [major, minor] : best),
      [0, 0],
    )
  }

  /** Compares the major versions only. */
  isCurrent(ns: string, shard: string, command: NodeCommand): boolean {
    const received = command.shardVersion
    return Array.isArray(received) && received[3] === this.versionOf(ns, shard)[0]
  }

  async run(
    command: Document,
    options: { sequences?: readonly (readonly [string, readonly Document[]])[]; connectionId?: number } = {},
  ): Promise<Document> {
    return decode(await this.runRaw(command, options))
  }

  runRaw(
    command: Document,
    options: { sequences?: readonly (readonly [string, readonly Document[]])[]; connectionId?: number } = {},
  ): Promise<Uint8Array> {
    return this.world.settle(this.start(command, options))
  }

  async start(
    command: Document,
    options: { sequences?: readonly (readonly [string, readonly Document[]])[]; connectionId?: number } = {},
  ): Promise<Uint8Array> {
    const body = encode({ ...command, ...(command['$db'] === undefined ? { $db: 'test' } : {}) })
    const sequences = (options.sequences ?? []).map(
      ([id, documents]) => [id, documents.map((document) => encode(document))] as const,
    )
    const reply = await this.mongos.receive(
      'client.command',
      {
        connectionId: options.connectionId ?? this.#connectionId,
        body,
        sequences,
        legacy: false,
        remote: '127.0.0.1:1',
      },
      'gateway',
    )
    return reply.body
  }

  commandsTo(shard: string): { command: NodeCommand; body: Document; name: string }[] {
    return this.world.sent
      .filter((message: SentMessage) => message.to === shard && message.kind === 'node.command')
      .map((message) => ({
        command: message.request as NodeCommand,
        body: decode((message.request as NodeCommand).body),
        name: firstFieldName((message.request as NodeCommand).body)!,
      }))
  }

  countSent(kind: string): number {
    return this.world.sent.filter((message) => message.kind === kind).length
  }

  routed(): Extract<(typeof this.world.events)[number], { type: 'routed' }>[] {
    return this.world.events.flatMap((event) => (event.type === 'routed' ? [event] : []))
  }

  script(
    script: (
      shard: string,
      command: NodeCommand,
      name: string,
    ) => Document | Uint8Array | Promise<Document | Uint8Array>,
  ): void {
    for (const shard of ['shard01', 'shard02', 'shard03'])
      this.scripts.set(shard, (command, name) => script(shard, command, name))
  }

  #config(kind: string, request: never, shards: readonly string[]): unknown {
    const { db, ns, primaryShard } = request as { db: string; ns: string; primaryShard: string | null }
    switch (kind) {
      case 'config.get-shards':
        return {
          shards: shards.map((shard, i) => encode({ _id: shard, host: `${shard}/127.0.0.1:${5000 + i}`, state: 1 })),
          clusterTime,
        }
      case 'config.get-database':
        return { database: this.#database(db) }
      case 'config.create-database':
        if (!this.databases.has(db)) this.databases.set(db, { primary: primaryShard ?? shards[0]!, lastMod: 1 })
        return { database: this.#database(db), error: null }
      case 'config.get-chunks':
      case 'config.get-collection':
        return this.#collection(
          ns,
          (request as { since: readonly [string, number, number, number, number] | null }).since,
        )
      case 'config.find-chunk':
        return { chunk: encode(this.onFindChunk(ns)) }
      case 'config.mongos-ping':
        return {
          clusterId: new Uint8Array(12),
          concernDefaults: this.#setting('ReadWriteConcernDefaults'),
          querySettings: this.#setting('querySettings'),
          chunkSizeBytes: 65_536,
          userGeneration: new Uint8Array(16),
        }
      case 'config.get-time-keys':
        return { keys: this.timeKeys }
      case 'config.get-setting':
        return { setting: this.#setting((request as { id: string }).id) }
      case 'config.set-balancer-mode':
        return { error: null }
      case 'node.command': {
        const command = request as NodeCommand
        const reply = this.scripts.get('config')?.(command, firstFieldName(command.body)!)
        return Promise.resolve(reply).then((body) => ({
          body: body instanceof Uint8Array ? body : encode(body!),
          operationTime: [1, 1],
          clusterTime,
        }))
      }
      default:
        throw new Error(`no scripted reply to ${kind}`)
    }
  }

  #setting(id: string): Uint8Array | null {
    const setting = this.settings.get(id)
    return setting === undefined ? null : encode(setting)
  }

  #database(db: string): Uint8Array | null {
    const entry = this.databases.get(db)
    return entry === undefined
      ? null
      : encode({
          _id: db,
          primary: entry.primary,
          version: { uuid: databaseUuid, timestamp: new Timestamp({ t: 3, i: 1 }), lastMod: entry.lastMod },
        })
  }

  #collection(ns: string, since: readonly [string, number, number, number, number] | null): unknown {
    const collection = this.collections.get(ns)
    if (collection === undefined) return { collection: null, chunks: [], full: true }
    const incremental = since !== null && since[0] === collection.epoch.toHexString()
    const chunks = collection.chunks
      .filter(({ major, minor }) => !incremental || major > since[3] || (major === since[3] && minor > since[4]))
      .map(({ min, max, shard, major, minor }) =>
        encode({ _id: new ObjectId(), min, max, shard, lastmod: new Timestamp({ t: major, i: minor }) }),
      )
    const document = {
      _id: ns,
      lastmodEpoch: collection.epoch,
      timestamp: new Timestamp({ t: 5, i: 1 }),
      uuid: databaseUuid,
      key: collection.key,
      unique: collection.unique,
      ...(collection.collation === null ? {} : { defaultCollation: collection.collation }),
    }
    return { collection: encode(document), chunks, full: !incremental }
  }
}

export function cursorReply(
  documents: readonly Document[],
  options: { id?: bigint; ns?: string; batch?: 'firstBatch' | 'nextBatch' } = {},
): Document {
  return {
    cursor: {
      [options.batch ?? 'firstBatch']: documents,
      id: Long.fromBigInt(options.id ?? 0n),
      ns: options.ns ?? 'test.c',
    },
    ok: 1,
  }
}

export function errorReply(error: CommandError): Uint8Array {
  return errorDocument(error)
}

export function staleReply(ns = 'test.c'): Document {
  return { ok: 0, errmsg: `version mismatch detected for ${ns}`, code: 13388, codeName: 'StaleConfig', ns }
}

export function statementsOf(command: NodeCommand, field: string): Document[] {
  const sequence = command.sequences.find(([id]) => id === field)
  if (sequence !== undefined) return sequence[1].map((document) => decode(document))
  return decode(new DocumentWriter().value('v', findField(command.body, field)!).finish())['v'] as Document[]
}
