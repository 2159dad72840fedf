import {
  gossipedKinds,
  type Actor,
  type ClientCommand,
  type Gossiped,
  type MessageKind,
  type NodeCommand,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { FakeContext } from '@shardlab/actor/testing'
import { decode, encode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { createShard, type ShardOptions } from '../../src/index.js'
import { ScriptedConfig } from './scripted-config.js'

type Versions = Partial<Pick<NodeCommand, 'shardVersion' | 'databaseVersion' | 'stmtIds'>>

export class Shards {
  readonly config: ScriptedConfig
  readonly contexts = new Map<string, FakeContext>()
  readonly #options: ShardOptions
  readonly #actors = new Map<string, Actor>()
  readonly down = new Set<string>()

  constructor({
    shards = ['shard01', 'shard02', 'shard03'],
    version = '7.0' as EmulatedVersion,
    withoutIdentity = false,
    measured = null as ShardOptions['measured'] | null,
  }: {
    shards?: string[]
    version?: EmulatedVersion
    measured?: ShardOptions['measured'] | null
    /** The shards have no identity yet. */ withoutIdentity?: boolean
  } = {}) {
    this.config = new ScriptedConfig(shards)
    this.#options = { emulate: version, maxWireVersion: 21, measured: measured ?? null }
    for (const shard of shards) {
      const context = new FakeContext(shard, {
        peers: (to, kind, request) => {
          if (to === 'config') return this.config.answer(kind, request)
          return this.down.has(to) ? undefined : this.#actors.get(to)?.receive(kind, request as never, shard)
        },
      })
      this.contexts.set(shard, context)
      const actor = createShard(context, this.#options)
      void actor.start?.()
      this.#actors.set(shard, actor)
      if (!withoutIdentity)
        void actor.receive(
          'shard.initialise',
          { clusterId: Buffer.alloc(12, 3), shardName: shard, configHost: 'config/h:1' },
          'cluster',
        )
    }
  }

  /** On the same disk. */
  restart(shard: string): void {
    void this.#actors.get(shard)!.stop?.()
    const actor = createShard(this.contexts.get(shard)!, this.#options)
    void actor.start?.()
    this.#actors.set(shard, actor)
  }

  async wake(shard: string, timer: string): Promise<void> {
    await this.#actors.get(shard)!.wake!(timer)
  }

  /** Without the cluster time that every reply about definitions has. */
  async send<K extends MessageKind>(shard: string, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const reply = await this.#actors.get(shard)!.receive(kind, request, 'mongos01')
    if (!gossipedKinds.has(kind)) return reply
    const { clusterTime: _, ...rest } = reply as Gossiped & ReplyOf<K>
    return rest as ReplyOf<K>
  }

  /** Sends a command as a router does. */
  async routed(shard: string, command: Document, versions: Versions = {}): Promise<Document> {
    const reply = await this.send(shard, 'node.command', {
      db: 'db',
      body: encode(command),
      sequences: [],
      shardVersion: null,
      databaseVersion: null,
      stmtIds: null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
      ...versions,
    })
    return decode(reply.body)
  }

  /** Sends a command over a direct connection. */
  async direct(shard: string, command: Document): Promise<Document> {
    const request: ClientCommand = {
      connectionId: 1,
      body: encode({ ...command, $db: command['$db'] ?? 'db' }),
      sequences: [],
      legacy: false,
      remote: '',
    }
    return decode((await this.send(shard, 'client.command', request)).body)
  }

  /** `_id`s of a find's first batch. */
  async ids(shard: string, command: Document, versions: Versions | 'direct'): Promise<unknown[]> {
    const reply =
      versions === 'direct' ? await this.direct(shard, command) : await this.routed(shard, command, versions)
    if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
    return ((reply['cursor'] as Document)['firstBatch'] as Document[]).map((document) => document['_id'])
  }

  async shardCollection(ns: string, body: Document): Promise<{ uuid: Uint8Array; error: Document | null }> {
    const db = ns.split('.', 1)[0]!
    const { primary, version } = this.config.databases.get(db)!
    const { uuid, error } = await this.send(primary, 'shard.create-sharded-collection', {
      ns,
      body: encode({ shardCollection: ns, ...body }),
      databaseVersion: version,
    })
    return { uuid, error: error === null ? null : decode(error) }
  }

  /** `min → shard` of each chunk. */
  chunksOf(ns: string): string[] {
    return (this.config.collections.get(ns)?.chunks ?? []).map(
      ({ min, shard }) =>
        `${Object.values(min)
          .map((value) => ((value as { _bsontype?: string })._bsontype === 'MinKey' ? 'MinKey' : String(value)))
          .join()} ${shard}`,
    )
  }
}
