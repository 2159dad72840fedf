import {
  unpackChunks,
  type DatabaseVersionTuple,
  type MessageKind,
  type PlacementVersionTuple,
  type RequestOf,
} from '@shardlab/actor'
import { decode, encode, ObjectId, Timestamp, UUID, type Document } from '@shardlab/bson'

interface Entry {
  uuid: Uint8Array
  key: Uint8Array
  unique: boolean
  epoch: ObjectId
  timestamp: number
  chunks: { min: Document; max: Document; shard: string; major: number; minor: number }[]
}

/** Answers as the test defines, and records requests. */
export class ScriptedConfig {
  readonly collections = new Map<string, Entry>()
  readonly databases = new Map<string, { primary: string; version: DatabaseVersionTuple }>()
  readonly asked: string[] = []
  readonly changes: [what: string, ns: string, details: Document][] = []
  shards: string[]
  /** Collections with zones. */
  readonly zones = new Set<string>()
  /** config.tags, by namespace. */
  readonly tags = new Map<string, { min: Document; max: Document; tag: string }[]>()
  /** Further fields of config.shards, by shard. */
  readonly shardFields = new Map<string, Document>()
  /** config.settings. */
  readonly settings = new Map<string, Document>()
  configurations: Uint8Array[] = []
  /** Requests of these kinds get no answer. */
  readonly silent = new Set<string>()
  #clock = 100

  constructor(shards: string[]) {
    this.shards = shards
    this.addDatabase('db', shards[0]!)
  }

  addDatabase(db: string, primary: string): DatabaseVersionTuple {
    const version: DatabaseVersionTuple = [
      Buffer.from(`${db}${++this.#clock}`.padEnd(16, '.')).toString('hex'),
      this.#clock,
      1,
      1,
    ]
    this.databases.set(db, { primary, version })
    return version
  }

  /** Chunks cut at these values of the key's only field; owners in order. Version 1|0, 1|1, … */
  shard(
    ns: string,
    key: Document,
    cuts: readonly unknown[],
    owners: readonly string[],
    uuid: Uint8Array = Buffer.alloc(16, 1),
  ): void {
    const field = Object.keys(key)[0]!
    const bounds = [{ $min: 1 }, ...cuts, { $max: 1 }]
    const bound = (value: unknown): Document => ({
      [field]: (value as Document)['$min'] === 1 ? minKey : (value as Document)['$max'] === 1 ? maxKey : value,
    })
    this.collections.set(ns, {
      uuid,
      key: encode(key),
      unique: false,
      epoch: new ObjectId(String(++this.#clock).padStart(24, '0')),
      timestamp: this.#clock,
      chunks: bounds
        .slice(1)
        .map((to, i) => ({ min: bound(bounds[i]), max: bound(to), shard: owners[i]!, major: 1, minor: i })),
    })
  }

  /** Moves a chunk, with the control chunk of its donor. */
  move(ns: string, index: number, to: string): void {
    const { chunks } = this.collections.get(ns)!
    const major = Math.max(...chunks.map((chunk) => chunk.major)) + 1
    const control = chunks.find((chunk, i) => i !== index && chunk.shard === chunks[index]!.shard)
    Object.assign(chunks[index]!, { shard: to, major, minor: 0 })
    if (control !== undefined) Object.assign(control, { major, minor: 1 })
  }

  /** The version that a router with the newest placement sends to this shard. */
  version(ns: string, shard: string): PlacementVersionTuple {
    const { epoch, timestamp, chunks } = this.collections.get(ns)!
    const [major, minor] = chunks
      .filter((chunk) => chunk.shard === shard)
      .map((chunk) => [chunk.major, chunk.minor] as const)
      .sort((a, b) => b[0] - a[0] || b[1] - a[1])[0] ?? [0, 0]
    return [epoch.toHexString(), timestamp, 1, major, minor]
  }

  answer(kind: MessageKind, request: unknown): unknown {
    this.asked.push(kind)
    if (this.silent.has(kind)) return undefined
    switch (kind) {
      case 'config.get-shards':
        return {
          shards: this.shards.map((_id) => encode({ _id, host: `${_id}/h:1`, ...this.shardFields.get(_id) })),
          clusterTime: [1, 1],
        }
      case 'config.get-zones': {
        const { ns } = request as RequestOf<'config.get-zones'>
        return { zones: (this.tags.get(ns) ?? []).map((tag) => encode({ ns, ...tag })) }
      }
      case 'config.get-setting': {
        const setting = this.settings.get((request as RequestOf<'config.get-setting'>).id)
        return { setting: setting === undefined ? null : encode(setting) }
      }
      case 'config.commit-refine-shard-key': {
        const { ns, key, epoch } = request as RequestOf<'config.commit-refine-shard-key'>
        const entry = this.collections.get(ns)!
        if (entry.epoch.toHexString() !== epoch) throw new Error('another epoch')
        const names = Object.keys(decode(key))
        const extend = (bound: Document, filler: unknown) =>
          Object.fromEntries(names.map((name) => [name, bound[name] ?? filler]))
        const isMax = (bound: Document) =>
          Object.values(bound).every((value) => (value as Document)['_bsontype'] === 'MaxKey')
        this.collections.set(ns, {
          ...entry,
          key,
          epoch: new ObjectId(String(++this.#clock).padStart(24, '0')),
          timestamp: this.#clock,
          chunks: entry.chunks.map((chunk) => ({
            ...chunk,
            min: extend(chunk.min, minKey),
            max: extend(chunk.max, isMax(chunk.max) ? maxKey : minKey),
          })),
        })
        return { error: null }
      }
      case 'config.get-database': {
        const database = this.databases.get((request as RequestOf<'config.get-database'>).db)
        if (database === undefined) return { database: null }
        const [uuid, t, i, lastMod] = database.version
        return {
          database: encode({
            _id: 'db',
            primary: database.primary,
            version: { uuid: new UUID(uuid), timestamp: new Timestamp({ t, i }), lastMod },
          }),
        }
      }
      case 'config.get-chunks':
      case 'config.get-collection': {
        const { ns, since } = request as RequestOf<'config.get-collection'>
        const entry = this.collections.get(ns)
        if (entry === undefined) return { collection: null, chunks: [], full: true }
        const full = since === null || since[0] !== entry.epoch.toHexString()
        const chunks = entry.chunks.filter(
          (chunk) => full || chunk.major > since[3] || (chunk.major === since[3] && chunk.minor > since[4]),
        )
        return {
          collection: encode({
            _id: ns,
            lastmodEpoch: entry.epoch,
            timestamp: new Timestamp({ t: entry.timestamp, i: 1 }),
            uuid: new UUID(entry.uuid),
            key: decode(entry.key),
            unique: entry.unique,
          }),
          chunks: chunks.map(({ min, max, shard, major, minor }) =>
            encode({ min, max, shard, lastmod: new Timestamp({ t: major, i: minor }) }),
          ),
          full,
        }
      }
      case 'config.commit-create-collection': {
        const { ns, uuid, key, unique, chunks } = request as RequestOf<'config.commit-create-collection'>
        const entry: Entry = {
          uuid,
          key,
          unique,
          epoch: new ObjectId(String(++this.#clock).padStart(24, '0')),
          timestamp: this.#clock,
          chunks: [...unpackChunks(chunks)].map(([min, max, shard], minor) => ({
            min: decode(min),
            max: decode(max),
            shard,
            major: 1,
            minor,
          })),
        }
        this.collections.set(ns, entry)
        return { error: null }
      }
      case 'config.commit-drop-collection':
        this.collections.delete((request as RequestOf<'config.commit-drop-collection'>).ns)
        return { error: null }
      case 'config.commit-drop-collections':
        this.#dropCollections((request as RequestOf<'config.commit-drop-collections'>).db)
        return { error: null }
      case 'config.commit-drop-database': {
        const { db } = request as RequestOf<'config.commit-drop-database'>
        this.databases.delete(db)
        this.#dropCollections(db)
        return { error: null }
      }
      case 'config.commit-rename-collection': {
        const { ns, to, uuid } = request as RequestOf<'config.commit-rename-collection'>
        const target = this.collections.get(to)
        if (target !== undefined && Buffer.compare(target.uuid, uuid) === 0) return { error: null }
        const entry = this.collections.get(ns)!
        this.collections.delete(ns)
        this.collections.set(to, {
          ...entry,
          epoch: new ObjectId(String(++this.#clock).padStart(24, '0')),
          timestamp: this.#clock,
        })
        return { error: null }
      }
      case 'node.command': {
        const { filter } = decode((request as RequestOf<'node.command'>).body)
        const firstBatch = this.zones.has(filter.ns) ? [{ ns: filter.ns }] : []
        return { body: encode({ cursor: { id: 0n, ns: 'config.tags', firstBatch }, ok: 1 }), clusterTime: [1, 1] }
      }
      case 'config.log-change': {
        const { what, ns, details } = request as RequestOf<'config.log-change'>
        this.changes.push([what, ns, decode(details)])
        return {}
      }
      case 'config.remove-query-analyzers':
        return { error: null }
      case 'config.refresh-query-analyzer':
        return { configurations: this.configurations, error: null }
      case 'config.configure-query-analyzer':
        return { oldConfiguration: null, error: null }
      default:
        return undefined
    }
  }

  #dropCollections(db: string): void {
    for (const ns of [...this.collections.keys()]) if (ns.startsWith(`${db}.`)) this.collections.delete(ns)
  }
}

export const minKey = decode(Buffer.from([0x08, 0, 0, 0, 0xff, 0x76, 0, 0]))['v'] as unknown
export const maxKey = decode(Buffer.from([0x08, 0, 0, 0, 0x7f, 0x76, 0, 0]))['v'] as unknown
