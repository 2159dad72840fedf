/** What must be true of a sharded cluster when all is over: one owner for each key, nothing unfinished, the same seen from everywhere. */
import { compareDocuments, decode, encode, keyStringOfDocument, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { ShardKeyPattern, type EmulatedVersion } from '@shardlab/sharding'
import type { StoryClient } from './sharding-client.js'

/** Collections in which a shard notes what it has begun. */
const unfinished = [
  'migrationCoordinators',
  'rangeDeletions',
  'transaction_coordinators',
  'prepared_inserts',
  'system.sharding_ddl_coordinators',
] as const

/** A chunk with its bounds as KeyStrings. */
interface Range {
  readonly min: string
  readonly max: string
  readonly shard: string
}

export class Inspection {
  readonly #cluster: SimulatedCluster
  readonly #client: StoryClient
  readonly #version: EmulatedVersion
  /** By collection and incarnation: the highest version so far. */
  readonly #versions = new Map<string, bigint>()

  constructor(cluster: SimulatedCluster, client: StoryClient, version: EmulatedVersion) {
    this.#cluster = cluster
    this.#client = client
    this.#version = version
  }

  /** The catalog as it is at this instant: chunks cover the key space, versions do not go back. Empty also when it cannot be read now. */
  async catalogViolations(): Promise<string[]> {
    const collections = await this.#client.documentsOf({
      find: 'collections',
      filter: { dropped: { $ne: true } },
      batchSize: 1000,
      $db: 'config',
    })
    if (collections === null) return []
    const wrong: string[] = []
    for (const collection of collections) {
      const chunks = await this.#chunks(collection)
      // It was dropped, or refined, since.
      const again = await this.#client.documentsOf({ find: 'collections', filter: { _id: collection['_id'] }, $db: 'config' })
      if (chunks === null || again === null || JSON.stringify(again[0]) !== JSON.stringify(collection)) continue
      wrong.push(...coverage(collection['_id'] as string, chunks))
      const version = chunks.reduce((most, { lastmod }) => (asBigInt(lastmod) > most ? asBigInt(lastmod) : most), 0n)
      const name = `${collection['_id']} ${JSON.stringify(collection['lastmodEpoch'])} ${JSON.stringify(collection['uuid'])}`
      const before = this.#versions.get(name) ?? 0n
      if (version < before) wrong.push(`${name} went back from version ${before} to ${version}`)
      this.#versions.set(name, version)
      const versions = new Set(chunks.map(({ lastmod }) => asBigInt(lastmod)))
      if (versions.size !== chunks.length) wrong.push(`${name} has ${chunks.length} chunks and ${versions.size} versions`)
    }
    return wrong
  }

  /** What is begun and not ended, by shard. */
  async pending(): Promise<string[]> {
    const found: string[] = []
    for (const shard of this.#cluster.shards)
      for (const name of unfinished)
        for (const document of await this.direct(shard, 'config', name)) found.push(`${shard} has in ${name} ${JSON.stringify(document)}`)
    return found
  }

  /** Documents on shards that do not own them, and none on those that do not have the collection. */
  async misplaced(collection: string): Promise<string[]> {
    const wrong: string[] = []
    const [entry] = (await this.#client.documentsOf({ find: 'collections', filter: { _id: `app.${collection}` }, $db: 'config' })) ?? []
    const primary = await this.#primary('app')
    const chunks = entry === undefined ? [] : (await this.#chunks(entry))!
    const key = entry === undefined ? null : ShardKeyPattern.parse(encode(entry['key'] as Document), { compoundHashed: true })
    const ranges = chunks.map(({ min, max, shard }): Range => {
      const [low, high] = [min, max].map((bound) => keyStringOfDocument(encode(bound as Document))) as [string, string]
      return { min: low, max: high, shard: shard as string }
    })
    for (const shard of this.#cluster.shards) {
      for (const document of await this.direct(shard, 'app', collection)) {
        const owner = key === null ? primary : ownerOf(key, ranges, document)
        if (owner !== shard) wrong.push(`${shard} holds ${JSON.stringify(document)} of ${collection}, which is of ${owner}`)
      }
    }
    return wrong
  }

  /** What the cluster itself finds (7.0 and later). */
  async inconsistencies(): Promise<string[]> {
    if (this.#version !== '7.0' && this.#version !== '8.0') return []
    const found = await this.#client.documentsOf({ checkMetadataConsistency: 1, checkIndexes: true, cursor: {}, $db: 'admin' })
    return (found ?? [{ unanswered: true }]).map((each) => JSON.stringify(each))
  }

  /** All documents of a collection on one shard, as they lie there. */
  async direct(shard: string, db: string, collection: string): Promise<Document[]> {
    const command = encode({ find: collection, filter: {}, batchSize: 100_000, $db: db })
    const reply = decode(await this.#cluster.command(command, { to: shard }), { promoteLongs: true })
    if (reply['ok'] !== 1) throw new Error(`${shard} does not read ${db}.${collection}: ${reply['errmsg']}`)
    return reply['cursor'].firstBatch as Document[]
  }

  async #primary(db: string): Promise<string | undefined> {
    const found = await this.#client.documentsOf({ find: 'databases', filter: { _id: db }, $db: 'config' })
    return found?.[0]?.['primary'] as string | undefined
  }

  #chunks(collection: Document): Promise<Document[] | null> {
    const filter = this.#version === '4.4' ? { ns: collection['_id'] } : { uuid: collection['uuid'] }
    return this.#client.documentsOf({ find: 'chunks', filter, sort: { min: 1 }, batchSize: 10_000, $db: 'config' })
  }
}

function coverage(ns: string, chunks: readonly Document[]): string[] {
  const wrong: string[] = []
  if (chunks.length === 0) return [`${ns} has no chunks`]
  for (const [i, chunk] of chunks.entries()) {
    const next = chunks[i + 1]
    if (next !== undefined && compareDocuments(encode(chunk['max'] as Document), encode(next['min'] as Document)) !== 0)
      wrong.push(`${ns}: a chunk ends at ${JSON.stringify(chunk['max'])}, the next begins at ${JSON.stringify(next['min'])}`)
  }
  const ends = [Object.values(chunks[0]!['min'] as Document), Object.values(chunks.at(-1)!['max'] as Document)]
  const [first, last] = ends.map((values) => values.map((value) => (value as { _bsontype?: string })._bsontype))
  if (first!.some((type) => type !== 'MinKey') || last!.some((type) => type !== 'MaxKey'))
    wrong.push(`${ns}: the chunks do not reach both ends`)
  return wrong
}

function ownerOf(key: ShardKeyPattern, ranges: readonly Range[], document: Document): string | undefined {
  const extracted = key.extract(encode(document))
  if (typeof extracted === 'string') return undefined
  return ranges.find(({ min, max }) => min <= extracted.keyString && extracted.keyString < max)?.shard
}

/** A Timestamp as one number. */
function asBigInt(lastmod: unknown): bigint {
  const { high, low } = lastmod as { high: number; low: number }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}
