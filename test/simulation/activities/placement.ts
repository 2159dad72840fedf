/** What administrators do to collections in use: chunks are split, merged and moved, keys refined, databases moved, definitions changed. */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { StoryClient } from '../sharding-client.js'
import { keysMax } from './sharded-documents.js'

const sharded = ['ranged', 'hashed', 'compound', 'refined', 'late', 'users'] as const

/** What the codes say that an administrator has to live with. */
const codes = {
  namespaceNotFound: 26,
  indexNotFound: 27,
  shardKeyNotFound: 61,
  badValue: 2,
  /** Also: a split point is a bound already. */
  invalidOptions: 72,
  illegalOperation: 20,
  namespaceExists: 48,
  shardNotFound: 70,
  zoneNotFound: 177,
  overlappingZones: 178,
  zoneStillInUse: 163,
  operationFailed: 96,
  notSharded: 118,
  staleEpoch: 150,
  incompatibleShardingMetadata: 105,
  cannotSplit: 87,
  chunkMissing: 40_165,
  operationIncomplete: 77,
  exceededTimeLimit: 262,
  indexBuildAborted: 276,
  interrupted: 11_601,
} as const

export class Placement {
  /** By action: how often it was done. */
  readonly done = new Map<string, number>()
  readonly #cluster: SimulatedCluster
  readonly #version: EmulatedVersion
  readonly #primaries: readonly string[]
  #isLateSharded = false

  /** @param primaries shards to which databases may move */
  constructor(cluster: SimulatedCluster, version: EmulatedVersion, primaries: readonly string[]) {
    this.#primaries = primaries
    this.#cluster = cluster
    this.#version = version
  }

  async prepare(client: StoryClient): Promise<void> {
    await client.untilDone({ enableSharding: 'app', $db: 'admin' })
    const shard = (ns: string, key: Document, more: Document = {}) =>
      client.untilDone({ shardCollection: `app.${ns}`, key, ...more, $db: 'admin' })
    await shard('ranged', { k: 1 })
    await shard('hashed', { k: 'hashed' })
    await shard('compound', { k: 1, r: 1 })
    await shard('refined', { k: 1 })
    await shard('users', { name: 1 }, { unique: true })
    await client.untilDone({ createIndexes: 'refined', indexes: [{ key: { k: 1, r: 1 }, name: 'k_r' }], $db: 'app' })
    await client.untilDone({ createIndexes: 'late', indexes: [{ key: { k: 1 }, name: 'k' }], $db: 'app' })
    await client.untilDone({ create: 'plain', $db: 'app' })
  }

  async step(client: StoryClient, random: Random): Promise<void> {
    const choice = random.below(24)
    if (choice < 6) await this.#split(client, random)
    else if (choice < 8) await this.#merge(client, random)
    else if (choice < 16) await this.#move(client, random)
    else if (choice < 18) await this.#zone(client, random)
    else if (choice === 18) await this.#refine(client)
    else if (choice === 19) await this.#shardLate(client)
    else if (choice < 22) await this.#movePrimary(client, random)
    else await this.#index(client, random)
  }

  async #split(client: StoryClient, random: Random): Promise<void> {
    const ns = pick(random, sharded)
    const key = await this.#keyOf(client, ns)
    if (key === null) return
    const byMiddle = key['k'] !== 'hashed' && random.chance(3, 4)
    const point = byMiddle ? { middle: pointOf(key, random) } : { find: queryOf(key, random) }
    await this.#do(client, 'split', { split: `app.${ns}`, ...point, $db: 'admin' }, cannotSplit)
  }

  async #merge(client: StoryClient, random: Random): Promise<void> {
    const chunks = await this.#chunks(client, pick(random, sharded))
    const i = random.below(Math.max(chunks.length - 1, 1))
    const [first, second] = [chunks[i], chunks[i + 1]]
    if (first === undefined || second === undefined || first['shard'] !== second['shard']) return
    const command = { mergeChunks: `app.${first['of']}`, bounds: [first['min'], second['max']], $db: 'admin' }
    await this.#do(client, 'merge', command, cannotMerge)
  }

  async #move(client: StoryClient, random: Random): Promise<void> {
    const ns = pick(random, sharded)
    const chunks = await this.#chunks(client, ns)
    const chunk = chunks[random.below(Math.max(chunks.length, 1))]
    if (chunk === undefined) return
    const to = pick(random, this.#cluster.shards)
    const waiting = random.chance(1, 6) ? { _waitForDelete: true } : {}
    const isRange = !['4.4', '5.0'].includes(this.#version) && random.chance(1, 2)
    if (isRange) {
      const ends = random.chance(1, 2) ? { min: chunk['min'], max: chunk['max'] } : { min: chunk['min'] }
      await this.#do(client, 'moveRange', { moveRange: `app.${ns}`, toShard: to, ...ends, ...waiting, $db: 'admin' }, cannotMove)
    } else {
      const bounds = [chunk['min'], chunk['max']]
      await this.#do(client, 'moveChunk', { moveChunk: `app.${ns}`, bounds, to, ...waiting, $db: 'admin' }, cannotMove)
    }
  }

  async #zone(client: StoryClient, random: Random): Promise<void> {
    const zone = pick(random, ['A', 'B'])
    const shard = pick(random, this.#cluster.shards)
    const choice = random.below(3)
    if (choice === 0) await this.#do(client, 'addShardToZone', { addShardToZone: shard, zone, $db: 'admin' }, [codes.shardNotFound])
    else if (choice === 1)
      await this.#do(client, 'removeShardFromZone', { removeShardFromZone: shard, zone, $db: 'admin' }, [
        codes.zoneStillInUse,
        codes.shardNotFound,
      ])
    else {
      const [min, max] = [random.below(keysMax), random.below(keysMax)].toSorted((a, b) => a - b) as [number, number]
      const command = {
        updateZoneKeyRange: 'app.ranged',
        min: { k: min },
        max: { k: max + 1 },
        zone: random.chance(1, 2) ? zone : null,
        $db: 'admin',
      }
      await this.#do(client, 'updateZoneKeyRange', command, [codes.zoneNotFound, codes.overlappingZones])
    }
  }

  async #refine(client: StoryClient): Promise<void> {
    await this.#do(client, 'refine', { refineCollectionShardKey: 'app.refined', key: { k: 1, r: 1 }, $db: 'admin' }, [codes.staleEpoch])
  }

  async #shardLate(client: StoryClient): Promise<void> {
    if (this.#isLateSharded) return
    if (await this.#do(client, 'shardCollection', { shardCollection: 'app.late', key: { k: 1 }, $db: 'admin' }, [codes.shardNotFound]))
      this.#isLateSharded = true
  }

  async #movePrimary(client: StoryClient, random: Random): Promise<void> {
    const db = pick(random, ['app', 'short'])
    const command = { movePrimary: db, to: pick(random, this.#primaries), $db: 'admin' }
    await this.#do(client, 'movePrimary', command, [codes.namespaceNotFound, codes.namespaceExists, codes.shardNotFound])
  }

  async #index(client: StoryClient, random: Random): Promise<void> {
    const ns = pick(random, [...sharded, 'plain'])
    const command = random.chance(1, 2)
      ? { createIndexes: ns, indexes: [{ key: { owner: 1, n: 1 }, name: 'owner_n' }], $db: 'app' }
      : { dropIndexes: ns, index: 'owner_n', $db: 'app' }
    await this.#do(client, Object.keys(command)[0]!, command, [codes.indexNotFound, codes.namespaceNotFound])
  }

  /** Nothing makes the indexes of shards alike of which one was away; whoever wants them so creates them again. */
  async finish(client: StoryClient): Promise<void> {
    for (const ns of [...sharded, 'plain'])
      await client.untilDone({ createIndexes: ns, indexes: [{ key: { owner: 1, n: 1 }, name: 'owner_n' }], $db: 'app' })
  }

  /** @returns whether it was done */
  async #do(client: StoryClient, name: string, command: Document, settled: readonly (number | undefined)[]): Promise<boolean> {
    const answer = await client.try(command, settled)
    const isDone = answer !== null && answer.code === null
    if (isDone) this.done.set(name, (this.done.get(name) ?? 0) + 1)
    return isDone
  }

  async #keyOf(client: StoryClient, ns: string): Promise<Document | null> {
    const found = await client.documentsOf({ find: 'collections', filter: { _id: `app.${ns}` }, $db: 'config' })
    return (found?.[0]?.['key'] as Document | undefined) ?? null
  }

  async #chunks(client: StoryClient, ns: string): Promise<Document[]> {
    const found = await client.documentsOf({ find: 'collections', filter: { _id: `app.${ns}` }, $db: 'config' })
    const entry = found?.[0]
    if (entry === undefined) return []
    const filter = this.#version === '4.4' ? { ns: `app.${ns}` } : { uuid: entry['uuid'] }
    const chunks = await client.documentsOf({ find: 'chunks', filter, sort: { min: 1 }, batchSize: 1000, $db: 'config' })
    return (chunks ?? []).map((chunk) => ({ ...chunk, of: ns }))
  }
}

/** Refusals that have no number before 6.0, and those that have got one. */
const wrongBounds = [undefined, codes.shardKeyNotFound, 656_450, 656_451, 656_452]
const cannotSplit = [
  undefined,
  codes.chunkMissing,
  codes.incompatibleShardingMetadata,
  codes.operationFailed,
  codes.invalidOptions,
  codes.staleEpoch,
  codes.badValue,
  codes.cannotSplit,
]
const cannotMerge = [...wrongBounds, codes.staleEpoch, codes.illegalOperation, codes.badValue]
export const cannotMove = [
  ...wrongBounds,
  codes.shardNotFound,
  codes.namespaceNotFound,
  codes.chunkMissing,
  codes.staleEpoch,
  codes.illegalOperation,
  codes.incompatibleShardingMetadata,
  codes.operationFailed,
  codes.operationIncomplete,
  codes.exceededTimeLimit,
  codes.interrupted,
]

function pointOf(key: Document, random: Random): Document {
  return Object.fromEntries(Object.keys(key).map((field) => [field, valueOf(field, random)]))
}

function queryOf(key: Document, random: Random): Document {
  return pointOf(key, random)
}

function valueOf(field: string, random: Random): unknown {
  if (field === 'name') return `name ${random.below(30)}`
  return field === 'k' ? random.below(keysMax) : random.below(5)
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!
}
