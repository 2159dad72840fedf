import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { Code } from '../client/errors.js'
import type { SwarmClient } from '../client/swarm-client.js'
import { keysMax } from '../documents/collections.js'
import { pick } from '../draw.js'
import { chunksOf } from '../catalog.js'
import type { SwarmWorld } from '../world.js'
import { Activity } from './activity.js'
import { cannotMerge, cannotMove, cannotMovePrimary, cannotSplit, codes } from './codes.js'

const indexed = ['ranged', 'hashed', 'compound', 'refined', 'late', 'users', 'plain'] as const
/** Some are not sharded yet, or do not exist. */
const sharded = ['ranged', 'hashed', 'compound', 'refined', 'late', 'users', 'reshaped'] as const

/** Limits a run whose clients are delayed for long. */
const actionsMax = 100
const administrators = 2

export class Placement extends Activity {
  readonly name = 'placement'
  readonly #primaries: readonly string[]
  #isLateSharded = false

  constructor(world: SwarmWorld) {
    super(world)
    const { plan, cluster } = world
    // Databases must not move to a shard whose leftovers `membership` drops.
    this.#primaries = plan.activities.includes('membership') ? cluster.shards.slice(0, -1) : cluster.shards
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: administrators }, (_, i) => this.#administer(i + 1)))
  }

  /** A shard that was down may lack indexes: create them again. */
  override async finish(): Promise<void> {
    const client = this.world.client('indexes')
    for (const ns of indexed)
      await client.untilDone({ createIndexes: ns, indexes: [{ key: { owner: 1, n: 1 }, name: 'owner_n' }], $db: 'app' })
  }

  async #administer(number: number): Promise<void> {
    const { random: root, pace } = this.world
    const random = root.fork(`administration ${number}`)
    const client = this.world.client(`administrator ${number}`)
    for (let i = 0; i < actionsMax && pace.isAnyClientWorking; i++) {
      await this.#act(client, random)
      await client.pause(20)
    }
  }

  async #act(client: SwarmClient, random: Random): Promise<void> {
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

  async #split(client: SwarmClient, random: Random): Promise<void> {
    const ns = pick(random, sharded)
    const key = await this.#keyOf(client, ns)
    if (key === null) return
    const byMiddle = key['k'] !== 'hashed' && random.chance(3, 4)
    const point = byMiddle ? { middle: pointOf(key, random) } : { find: pointOf(key, random) }
    await this.#do(client, 'split', { split: `app.${ns}`, ...point, $db: 'admin' }, cannotSplit)
  }

  async #merge(client: SwarmClient, random: Random): Promise<void> {
    const chunks = await this.#chunks(client, pick(random, sharded))
    const i = random.below(Math.max(chunks.length - 1, 1))
    const [first, second] = [chunks[i], chunks[i + 1]]
    if (first === undefined || second === undefined || first['shard'] !== second['shard']) return
    const command = { mergeChunks: `app.${first['of']}`, bounds: [first['min'], second['max']], $db: 'admin' }
    await this.#do(client, 'merge', command, cannotMerge)
  }

  async #move(client: SwarmClient, random: Random): Promise<void> {
    const ns = pick(random, sharded)
    const chunks = await this.#chunks(client, ns)
    const chunk = chunks[random.below(Math.max(chunks.length, 1))]
    if (chunk === undefined) return
    const to = pick(random, this.world.cluster.shards)
    const waiting = random.chance(1, 6) ? { _waitForDelete: true } : {}
    const isRange = this.world.behaviours.moveRangeCommand && random.chance(1, 2)
    if (isRange) {
      const ends = random.chance(1, 2) ? { min: chunk['min'], max: chunk['max'] } : { min: chunk['min'] }
      await this.#do(
        client,
        'moveRange',
        { moveRange: `app.${ns}`, toShard: to, ...ends, ...waiting, $db: 'admin' },
        cannotMove,
      )
    } else {
      const bounds = [chunk['min'], chunk['max']]
      await this.#do(client, 'moveChunk', { moveChunk: `app.${ns}`, bounds, to, ...waiting, $db: 'admin' }, cannotMove)
    }
  }

  async #zone(client: SwarmClient, random: Random): Promise<void> {
    if (!this.world.behaviours.zoneCommands) return
    const zone = pick(random, ['A', 'B'])
    const shard = pick(random, this.world.cluster.shards)
    const choice = random.below(3)
    if (choice === 0)
      await this.#do(client, 'addShardToZone', { addShardToZone: shard, zone, $db: 'admin' }, [codes.shardNotFound])
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

  async #refine(client: SwarmClient): Promise<void> {
    if (!this.world.behaviours.refineCollectionShardKeyCommand) return
    await this.#do(client, 'refine', { refineCollectionShardKey: 'app.refined', key: { k: 1, r: 1 }, $db: 'admin' }, [
      codes.staleEpoch,
    ])
  }

  async #shardLate(client: SwarmClient): Promise<void> {
    if (this.#isLateSharded) return
    // Until 2.6 a repetition fails without a code: the first reply may have been lost.
    const twice: readonly Code[] = this.world.behaviours.enablingTwiceFails ? [undefined] : []
    const command = { shardCollection: 'app.late', key: { k: 1 }, $db: 'admin' }
    if (await this.#do(client, 'shardCollection', command, [codes.shardNotFound, ...twice])) this.#isLateSharded = true
  }

  async #movePrimary(client: SwarmClient, random: Random): Promise<void> {
    const db = pick(random, ['app', 'short'])
    const command = { movePrimary: db, to: pick(random, this.#primaries), $db: 'admin' }
    await this.#do(client, 'movePrimary', command, cannotMovePrimary)
  }

  async #index(client: SwarmClient, random: Random): Promise<void> {
    const ns = pick(random, indexed)
    const command = random.chance(1, 2)
      ? { createIndexes: ns, indexes: [{ key: { owner: 1, n: 1 }, name: 'owner_n' }], $db: 'app' }
      : { dropIndexes: ns, index: 'owner_n', $db: 'app' }
    await this.#do(client, Object.keys(command)[0]!, command, [codes.indexNotFound, codes.namespaceNotFound])
  }

  /** @returns whether the command succeeded */
  async #do(client: SwarmClient, name: string, command: Document, settled: readonly Code[]): Promise<boolean> {
    const answer = await client.try(command, settled)
    const isDone = answer !== null && answer.code === null
    if (isDone) this.count(name)
    return isDone
  }

  async #keyOf(client: SwarmClient, ns: string): Promise<Document | null> {
    const found = await client.documentsOf({ find: 'collections', filter: { _id: `app.${ns}` }, $db: 'config' })
    return (found?.[0]?.['key'] as Document | undefined) ?? null
  }

  async #chunks(client: SwarmClient, ns: string): Promise<Document[]> {
    const found = await client.documentsOf({ find: 'collections', filter: { _id: `app.${ns}` }, $db: 'config' })
    const entry = found?.[0]
    if (entry === undefined) return []
    const filter = chunksOf(entry)
    const chunks = await client.documentsOf({
      find: 'chunks',
      filter,
      sort: { min: 1 },
      batchSize: 1000,
      $db: 'config',
    })
    return (chunks ?? []).map((chunk) => ({ ...chunk, of: ns }))
  }
}

function pointOf(key: Document, random: Random): Document {
  return Object.fromEntries(Object.keys(key).map((field) => [field, valueOf(field, random)]))
}

function valueOf(field: string, random: Random): unknown {
  if (field === 'name') return `name ${random.below(30)}`
  return field === 'k' ? random.below(keysMax) : random.below(5)
}
