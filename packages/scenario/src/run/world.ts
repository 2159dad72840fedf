import { formatSize } from '@shardlab/quantities'
import { configAddress, createRandom, type Random, type RekeyedRanges } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import {
  createSimulatedCluster,
  type ClusterEvent,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from '@shardlab/cluster'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import type { Scenario } from '../file/parse.js'
import type { DataSet, FieldSources } from '../file/application.js'
import type { CollectionSource } from '../file/schema.js'
import { IndexSizes } from '../measured/index-sizes.js'
import { loadMeasured } from '../measured/measured-load.js'
import { MeasuredCollection } from '../measured/measured-collection.js'
import { DocumentMaker } from '../keys/document-maker.js'
import { fieldKeysOf } from '../keys/keys.js'
import { boundOf } from './bounds.js'
import { ReplicaSets } from '../sets/replica-sets.js'
import { CatalogView } from './catalog-view.js'
import { ScenarioError } from './failure.js'
import { splitNamespace } from './namespace.js'
import { SizePeaks } from './size-peaks.js'

const batchBytes = 1024 * 1024
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

export class ScenarioWorld {
  readonly scenario: Scenario
  readonly cluster: SimulatedCluster
  readonly sets: ReplicaSets
  readonly random: Random
  readonly makers: ReadonlyMap<string, DocumentMaker>
  /** Collections without documents: all of a scenario, or none. */
  readonly measured: ReadonlyMap<string, MeasuredCollection>
  readonly catalog: ReadonlyMap<string, CatalogView>
  readonly sizes: SizePeaks

  private constructor(scenario: Scenario, cluster: SimulatedCluster) {
    this.scenario = scenario
    this.cluster = cluster
    this.sets = new ReplicaSets(cluster)
    this.random = createRandom(scenario.seed).fork('scenario')
    this.makers = new Map(
      scenario.collections.map(({ ns }) => [ns, new DocumentMaker(this.random.fork(`documents of ${ns}`))]),
    )
    const indexes = new IndexSizes(scenario.collections)
    this.sizes = new SizePeaks(
      scenario.collections.map(({ ns }) => ns),
      indexes,
    )
    cluster.watch(['collection-size'])
    cluster.onEvent(indexes.onEvent)
    cluster.onEvent(this.sizes.onEvent)
    this.catalog = new Map(scenario.collections.map(({ ns }) => [ns, new CatalogView(cluster, this.sets, ns)]))
    const measured = scenario.collections.filter(({ mode }) => mode === 'metadata')
    this.measured = new Map(
      measured.map((source) => [
        source.ns,
        new MeasuredCollection(
          this,
          this.catalog.get(source.ns)!,
          { source, sources: fieldsOf(scenario, source.ns) },
          this.random.fork(`sizes of ${source.ns}`),
        ),
      ]),
    )
  }

  /** All data are on the shards of the initial chunks; the balancer has moved nothing yet. */
  static async create(
    scenario: Scenario,
    onLoaded: (share: number) => void = () => {},
    {
      policy,
      onEvent,
    }: Pick<SimulatedClusterOptions, 'policy'> & { readonly onEvent?: (event: ClusterEvent) => void } = {},
  ): Promise<ScenarioWorld> {
    const {
      emulate,
      seed,
      cluster: { shards, mongos, members, chunkSize, autoSplit },
    } = scenario
    const size = chunkSize === undefined ? {} : { chunkSize: formatSize(chunkSize) }
    const own = { ...(policy === undefined ? {} : { policy }), ...(autoSplit === undefined ? {} : { autoSplit }) }
    let measured: ScenarioWorld['measured'] = new Map()
    const rekey = ({ ns, ...request }: RekeyedRanges) => measured.get(ns)!.rekeyed(request)
    const sizes = isMeasured(scenario) ? measuredOptions(scenario, rekey) : {}
    const cluster = await createSimulatedCluster({
      emulate: emulate as EmulatedVersion,
      seed,
      shards,
      mongos,
      members,
      reportsSizes: true,
      ...size,
      ...sizes,
      ...own,
    })
    const world = new ScenarioWorld(scenario, cluster)
    ;({ measured } = world)
    if (onEvent !== undefined) cluster.onEvent(onEvent)
    // In versions with auto-split growing chunks are split now, but nothing moves.
    await world.#balancer({ mode: 'autoSplitOnly' })
    await world.#configure()
    for (const collection of scenario.collections) await world.#shard(collection)
    const version = behavioursOf(emulate as EmulatedVersion)
    const splits = autoSplit ?? version.autoSplit
    const total = scenario.data.reduce((sum, each) => sum + each.size, 0)
    let loaded = 0
    for (const data of scenario.data) {
      const measured = world.measured.get(data.ns)
      const onPart = (bytes: number): void => onLoaded((loaded += bytes) / total)
      await (measured === undefined
        ? world.#load(data, onPart)
        : loadMeasured(
            measured,
            data,
            { autoSplit: splits, chunkSizeBytes: chunkSize ?? version.defaultChunkSizeBytes },
            onPart,
          ))
    }
    await world.#toRoundTime()
    return world
  }

  /** @throws ScenarioError with the server's text */
  async admin(command: Document, db = 'admin'): Promise<Document> {
    const reply = await this.run(command, db)
    if (reply['ok'] !== 1) throw new ScenarioError(`${Object.keys(command)[0]} failed: ${String(reply['errmsg'])}.`)
    return reply
  }

  /** The reply may be an error. */
  async run(command: Document, db = 'admin'): Promise<Document> {
    return decode(await this.cluster.command(encode({ ...command, $db: db })))
  }

  async #configure(): Promise<void> {
    const { zones, orphanCleanupDelay } = this.scenario.cluster
    if (behavioursOf(this.scenario.emulate as EmulatedVersion).reshardCollectionCommand)
      await this.#set(configAddress, { reshardingMinimumOperationDurationMillis: leastReshardingMs })
    for (const [zone, shards] of Object.entries(zones))
      for (const shard of shards) await this.admin({ addShardToZone: shard, zone })
    if (orphanCleanupDelay === undefined) return
    for (const to of this.cluster.shards) {
      await this.#set(to, { orphanCleanupDelaySecs: Math.round(orphanCleanupDelay / 1000) })
    }
  }

  /** On every member: any of them may be primary later. */
  async #set(set: string, parameter: Document): Promise<void> {
    const command = encode({ setParameter: 1, ...parameter, $db: 'admin' })
    for (const to of this.cluster.membersOf(set)) {
      const reply = decode(await this.cluster.command(command, { to }))
      if (reply['ok'] !== 1)
        throw new ScenarioError(`${Object.keys(parameter)[0]} cannot be set: ${String(reply['errmsg'])}.`)
    }
  }

  async #shard({
    ns,
    key,
    primary,
    unique,
    sharded,
    numInitialChunks,
    splitAt,
    chunkSize,
    fields,
    indexes,
  }: CollectionSource): Promise<void> {
    const [db, name] = splitNamespace(ns)
    const { shards } = this.cluster
    const enabled = await this.run({ enableSharding: db, primaryShard: primary ?? shards[0]! })
    // Another collection may have created the database first.
    if (enabled['ok'] !== 1 && primary !== undefined)
      throw new ScenarioError(`enableSharding failed: ${String(enabled['errmsg'])}.`)
    if (sharded)
      await this.admin({
        shardCollection: ns,
        key,
        unique,
        ...(numInitialChunks === undefined ? {} : { numInitialChunks }),
      })
    const keys: Document[] = fields === undefined ? [{ other: 1 }, ...indexes] : indexes
    const specs = keys.map((each) => ({ key: each, name: Object.entries(each).flat().join('_') }))
    if (specs.length > 0) await this.admin({ createIndexes: name, indexes: specs }, db)
    const [first, ...others] = Object.keys(key)
    const rest = Object.fromEntries(others.map((field) => [field, { $minKey: 1 }]))
    for (const value of splitAt) await this.admin({ split: ns, middle: boundOf({ [first!]: value, ...rest }) })
    for (const [i, value] of splitAt.entries()) {
      const to = shards[(shards.indexOf(primary ?? shards[0]!) + i + 1) % shards.length]!
      await this.run({ moveChunk: ns, find: boundOf({ [first!]: value, ...rest }), to, _waitForDelete: true })
    }
    if (chunkSize !== undefined)
      await this.admin({ configureCollectionBalancing: ns, chunkSize: chunkSize / 1024 ** 2 })
  }

  async #load({ ns, size, documentSize, fields }: DataSet, onBatch: (bytes: number) => void): Promise<void> {
    const [db, name] = splitNamespace(ns)
    const maker = this.makers.get(ns)!
    const keys = fieldKeysOf(fields)
    const perBatch = Math.max(1, Math.min(1000, Math.floor(batchBytes / documentSize)))
    for (let left = Math.round(size / documentSize); left > 0; left -= perBatch) {
      const documents = Array.from({ length: Math.min(left, perBatch) }, () => maker.make(keys, documentSize))
      const body = encode({ insert: name, ordered: false, $db: db })
      const reply = decode(await this.cluster.command(body, { sequences: [['documents', documents]] }))
      const error = (reply['writeErrors'] as Document[] | undefined)?.[0] ?? (reply['ok'] === 1 ? undefined : reply)
      if (error !== undefined)
        throw new ScenarioError(`the data of ${ns} cannot be loaded: ${String(error['errmsg'])}.`)
      onBatch(documents.length * documentSize)
    }
  }

  /** Writes config.settings directly: not every version has commands for it. */
  #balancer(settings: Document): Promise<Document> {
    return this.admin(
      { update: 'settings', updates: [{ q: { _id: 'balancer' }, u: { $set: settings }, upsert: true }] },
      'config',
    )
  }

  /** A round time makes reports readable: midnight (UTC) if a time of day matters. */
  async #toRoundTime(): Promise<void> {
    const isByDay = this.scenario.timeline.some((entry) => entry.do === 'balancerWindow')
    const unit = isByDay ? dayMs : minuteMs
    const now = this.cluster.now()
    await this.cluster.advance(Math.ceil(now / unit) * unit - now)
    await this.#balancer({ mode: 'full' })
  }
}

export function isMeasured({ collections }: Scenario): boolean {
  return collections.some(({ mode }) => mode === 'metadata')
}

/** The server's default. */
export const leastReshardingMs = 300_000

/** Bytes per second. */
export const defaultBandwidth = 100 * 1024 ** 2

/**
 * Jitter does not matter over hours. Without it, migrations that start together stay in step, which
 * makes the simulation faster.
 */
const steadyLatency = { minMicros: 500, maxMicros: 500 }

function measuredOptions(
  { collections, cluster }: Scenario,
  rekey: NonNullable<NonNullable<SimulatedClusterOptions['measured']>['rekey']>,
): SimulatedClusterOptions {
  const namespaces = collections.map(({ ns }) => ns)
  return {
    attaches: true,
    checkpointAfterBytes: 64 * 1024,
    // There are no documents to sample.
    samplesQueries: false,
    latency: steadyLatency,
    measured: { namespaces, cloneBytesPerSecond: cluster.migrationBandwidth ?? defaultBandwidth, rekey },
  }
}

/** By name; those of the application, which stay the same under another key. */
function fieldsOf({ data, workload }: Scenario, wanted: string): FieldSources {
  return Object.assign({}, ...[...workload, ...data].filter(({ ns }) => ns === wanted).map(({ fields }) => fields))
}
