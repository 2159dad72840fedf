/**
 * Clients that write and read their own documents, and the final check against the replies they
 * got.
 */
import { encode, type Document } from '@shardlab/bson'
import { chunksOf } from '../catalog.js'
import { conservationViolations } from '../checkers/conservation.js'
import { directly } from '../checkers/convergence.js'
import { misplaced } from '../checkers/orphans.js'
import { finding } from '../finding.js'
import type { SwarmClient } from '../client/swarm-client.js'
import { catalogTable, type CatalogTable } from '../watch/catalog-table.js'
import type { SwarmWorld } from '../world.js'
import { collectionsOf, type SwarmCollection } from './collections.js'
import { RetryHistoryLosses } from './retry-history.js'
import { DocumentsWorker } from './worker.js'

export class Documents {
  readonly #world: SwarmWorld
  readonly #collections: readonly SwarmCollection[]
  readonly #workers: readonly DocumentsWorker[]

  constructor(world: SwarmWorld) {
    this.#world = world
    this.#collections = collectionsOf(world.plan, world.behaviours)
    const losses = new RetryHistoryLosses(world.cluster, world.sets, 'app')
    this.#workers = Array.from({ length: world.plan.workers }, (_, i) => {
      const random = world.random.fork(`worker ${i + 1}`)
      return new DocumentsWorker(
        i + 1,
        world.client(`worker ${i + 1}`, true),
        random,
        world.verdicts,
        this.#collections,
        world.behaviours,
        losses,
        world.sets.areSeveral ? random.fork('sets') : null,
      )
    })
  }

  /** Namespaces that may be sharded. */
  get namespaces(): readonly string[] {
    return [...this.#collections.map(({ name }) => `app.${name}`), 'app.users']
  }

  get acknowledged(): number {
    return this.#workers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  }

  get unknown(): number {
    return this.#workers.reduce((sum, { unknown }) => sum + unknown, 0)
  }

  async prepare(): Promise<void> {
    const client = this.#world.client('preparation')
    await client.untilDone({ enableSharding: 'app', $db: 'admin' })
    for (const { name, key } of this.#collections)
      if (key !== null) await client.untilDone({ shardCollection: `app.${name}`, key, $db: 'admin' })
    await client.untilDone({ shardCollection: 'app.users', key: { name: 1 }, unique: true, $db: 'admin' })
    await client.untilDone({ createIndexes: 'refined', indexes: [{ key: { k: 1, r: 1 }, name: 'k_r' }], $db: 'app' })
    await client.untilDone({ createIndexes: 'late', indexes: [{ key: { k: 1 }, name: 'k' }], $db: 'app' })
    await client.untilDone({ create: 'plain', $db: 'app' })
    for (const worker of this.#workers) await worker.prepare()
  }

  async run(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => this.#world.pace.during(() => this.#work(worker))))
  }

  /** Through every router and on all shards. */
  async check(): Promise<void> {
    const { cluster, verdicts } = this.#world
    const client = this.#world.client('inspection')
    for (const { name } of this.#collections) {
      for (const router of cluster.mongos) {
        const command = { find: name, filter: {}, batchSize: 100_000, $db: 'app' }
        const documents = await client.documentsOf(command, router)
        if (documents === null)
          verdicts.violated('convergence', finding(`${router} does not read app.${name}`, `app.${name}`))
        else this.#conserved(name, documents, router)
      }
      await this.#checkShards(client, name)
    }
  }

  async #checkShards(client: SwarmClient, name: string): Promise<void> {
    const { cluster, verdicts } = this.#world
    const ns = `app.${name}`
    const [table, primary] = [await tableOf(client, ns), await primaryOf(client, 'app')]
    const all: Document[] = []
    for (const shard of cluster.shards) {
      const documents = await directly(this.#world, shard, 'app', name)
      verdicts.violated('orphans', ...misplaced(ns, shard, documents, table, primary))
      all.push(...documents)
    }
    this.#conserved(name, all, 'shards')
  }

  #conserved(name: string, documents: readonly Document[], where: string): void {
    for (const worker of this.#workers)
      this.#world.verdicts.violated('conservation', ...conservationViolations(worker, name, documents, where))
  }

  async #work(worker: DocumentsWorker): Promise<void> {
    const { cluster, plan, random: root } = this.#world
    const random = root.fork(`pace ${worker.number}`)
    for (let i = 0; i < plan.stepsOfWorker; i++) {
      await worker.step()
      await cluster.advance(random.fraction() * (random.chance(1, 12) ? 200 : 5))
    }
  }
}

async function tableOf(client: SwarmClient, ns: string): Promise<CatalogTable | null> {
  const [collection] =
    (await client.documentsOf({ find: 'collections', filter: { _id: ns, dropped: { $ne: true } }, $db: 'config' })) ??
    []
  if (collection === undefined) return null
  const chunks =
    (await client.documentsOf({ find: 'chunks', filter: chunksOf(collection), batchSize: 10_000, $db: 'config' })) ?? []
  return catalogTable(ns, encode(collection), chunks.map(encode))
}

async function primaryOf(client: SwarmClient, db: string): Promise<string | undefined> {
  const found = await client.documentsOf({ find: 'databases', filter: { _id: db }, $db: 'config' })
  return found?.[0]?.['primary'] as string | undefined
}
