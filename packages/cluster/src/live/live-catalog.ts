/** Reads what has changed in the catalog as deltas of the live stream. */
import { configAddress, type Address, type PlacementVersionTuple, type RequestOf, type ReplyOf } from '@shardlab/actor'
import { parseSettings, type BalancerSettings } from '@shardlab/balancer'
import { BsonType, elementsOf, findField, parseExtendedJson, toExtendedJson } from '@shardlab/bson'
import { chunkDeltas, type Delta, type LiveCollection, type LiveZone } from '@shardlab/dashboard'
import type { Runtime } from '@shardlab/runtime'
import { hexOfKey, type ShardKeyPattern } from '@shardlab/sharding'
import { primaryOf } from '../sets/primary-of.js'
import { patternOf, readChangedChunks } from './changed-chunks.js'
import { latestChunks, readChunks, withNeighbours } from './live-chunks.js'

/** A read of the catalog fails after this time, and the next one tries again. */
const timeoutMs = 5000
/** More changes than these replace all chunks. */
const singleChangesMax = 1000

interface KnownCollection {
  readonly pattern: ShardKeyPattern
  readonly version: PlacementVersionTuple
}

type Kind =
  | 'config.get-shards'
  | 'config.get-collections'
  | 'config.get-chunks'
  | 'config.get-zones'
  | 'config.get-setting'

export class LiveCatalogReader {
  readonly #runtime: Runtime
  #known = new Map<string, KnownCollection>()
  /** Collections with a chunk that was marked as jumbo, which gives it no new version. */
  readonly #marked = new Set<string>()
  #found: ReadonlySet<string> = new Set()
  /** What another primary of the config server had can have been rolled back. */
  #primary: Address | null = null

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** The next read reads all its chunks. */
  noteJumbo(ns: string): void {
    this.#marked.add(ns)
  }

  /** The next read reads everything, and so does one that is running: its outcome is void. */
  forget(): void {
    this.#known = new Map()
  }

  /** Undefined: the collection is unknown, or the bound has other fields than its shard key. */
  keyOf(ns: string, bound: string): string | undefined {
    const pattern = this.#known.get(ns)?.pattern
    if (pattern === undefined) return undefined
    const key = pattern.keyStringOfBound(parseExtendedJson(bound))
    return key === undefined ? undefined : hexOfKey(key)
  }

  /**
   * All shards and settings, and collections with the chunks that have changed since their last
   * read.
   * @param changed the collections and databases that are read again; new collections are read
   *   anyway. null: all
   * @throws Error the catalog cannot be read
   */
  async *read(changed: ReadonlySet<string> | null): AsyncGenerator<Delta> {
    const primary = await primaryOf(this.#runtime, configAddress)
    if (primary === null) throw new Error('the config server is down or has no primary')
    if (primary !== this.#primary) this.forget()
    this.#primary = primary
    const known = this.#known
    const { shards } = await this.#ask('config.get-shards', {})
    for (const document of shards) yield { type: 'shard', shard: shardOf(document) }
    const { setting } = await this.#ask('config.get-setting', { id: 'balancer' })
    yield { type: 'balancer', balancer: balancerOf(parseSettings(setting)) }
    const { collections } = await this.#ask('config.get-collections', {})
    const names = new Set(collections.map((document) => findField(document, '_id')!.asString()))
    const mayHaveChanged = (ns: string): boolean =>
      changed === null || !known.has(ns) || changed.has(ns) || changed.has(ns.slice(0, ns.indexOf('.')))
    for (const ns of names) if (mayHaveChanged(ns)) yield* this.#readCollection(ns, known)
    for (const ns of known.keys()) if (!names.has(ns)) known.delete(ns)
    this.#found = new Set(known.keys())
  }

  /** The namespaces that the last read has found. */
  get collections(): ReadonlySet<string> {
    return this.#found
  }

  async *#readCollection(ns: string, all: Map<string, KnownCollection>): AsyncGenerator<Delta> {
    if (this.#marked.delete(ns)) all.delete(ns)
    const known = all.get(ns)
    const read = await readChangedChunks(
      (request) => this.#ask('config.get-chunks', request),
      ns,
      known?.version ?? null,
    )
    if (read === null) return void all.delete(ns)
    const { collection: document, chunks: changed, isFull, version } = read
    const pattern = isFull ? patternOf(document) : known!.pattern
    const { zones } = await this.#ask('config.get-zones', { ns })
    yield { type: 'collection', collection: collectionOf(ns, document, zonesOf(pattern, zones)) }
    if (isFull)
      yield* chunkDeltas(
        ns,
        latestChunks(readChunks(pattern, changed)).map(({ chunk }) => chunk),
      )
    else if (changed.length > singleChangesMax) {
      all.delete(ns)
      yield* this.#readCollection(ns, all)
      return
    } else
      for (const parts of withNeighbours(readChunks(pattern, changed)))
        yield {
          ...{ type: 'chunks', ns, from: parts[0]!.chunk.key, to: parts.at(-1)!.toKey },
          chunks: parts.map(({ chunk }) => chunk),
        }
    // A read that fails before has to be repeated.
    all.set(ns, { pattern, version })
  }

  async #ask<K extends Kind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    return this.#runtime.request(this.#primary!, kind, request, { timeoutMs })
  }
}

function shardOf(document: Uint8Array): Extract<Delta, { type: 'shard' }>['shard'] {
  const tags = findField(document, 'tags')
  return {
    id: findField(document, '_id')!.asName(),
    draining: findField(document, 'draining')?.isTruthy() === true,
    zones:
      tags?.type === BsonType.array
        ? elementsOf(tags).flatMap((tag) => (tag.type === BsonType.string ? [tag.asString()] : []))
        : [],
  }
}

function collectionOf(ns: string, document: Uint8Array, zones: readonly LiveZone[]): LiveCollection {
  return {
    ns,
    shardKey: toExtendedJson(findField(document, 'key')!.slice()),
    unsplittable: findField(document, 'unsplittable')?.isTruthy() === true,
    balanced: findField(document, 'noBalance')?.isTruthy() !== true,
    zones,
  }
}

function zonesOf(pattern: ShardKeyPattern, documents: readonly Uint8Array[]): LiveZone[] {
  return documents.flatMap((document): LiveZone[] => {
    const [min, max, tag] = ['min', 'max', 'tag'].map((name) => findField(document, name))
    if (min?.type !== BsonType.object || max?.type !== BsonType.object || tag?.type !== BsonType.string) return []
    const [from, to] = [pattern.keyStringOfBound(min.slice()), pattern.keyStringOfBound(max.slice())]
    if (from === undefined || to === undefined) return []
    return [
      {
        ...{ zone: tag.asString(), fromKey: hexOfKey(from), toKey: hexOfKey(to) },
        ...{ min: toExtendedJson(min.slice()), max: toExtendedJson(max.slice()) },
      },
    ]
  })
}

const balancerOf = (settings: BalancerSettings | string): Extract<Delta, { type: 'balancer' }>['balancer'] =>
  typeof settings === 'string'
    ? { mode: 'invalid', activeWindow: null }
    : { mode: settings.mode, activeWindow: settings.activeWindow }
