/**
 * Convergence: when all is healed everything that was begun ends within bounded virtual time, and
 * the cluster finds nothing wrong with itself.
 */
import { decode, encode, type Document } from '@shardlab/bson'
import { NotSettledError } from '@shardlab/cluster'
import type { SwarmWorld } from '../world.js'

/** Collections in which shards and the config server note what they have begun. */
const unfinishedOfShards = [
  'migrationCoordinators',
  'rangeDeletions',
  'transaction_coordinators',
  'prepared_inserts',
  'system.sharding_ddl_coordinators',
  'localReshardingOperations.donor',
  'localReshardingOperations.recipient',
] as const
const unfinishedOfConfig = ['reshardingOperations'] as const

/** Above the time that orphans are kept. */
const patienceMs = 2_500_000
const firstPauseMs = 1000
const longestPauseMs = 100_000

export class Convergence {
  readonly #world: SwarmWorld

  constructor(world: SwarmWorld) {
    this.#world = world
  }

  /** Waits until nothing is unfinished; what is in the end is wrong. */
  async wait(): Promise<void> {
    const { cluster, verdicts } = this.#world
    const untilMs = cluster.now() + patienceMs
    let pauseMs = firstPauseMs
    let pending = await this.unfinished()
    for (; pending.length > 0 && cluster.now() < untilMs; pending = await this.unfinished()) {
      await cluster.advance(pauseMs)
      pauseMs = Math.min(pauseMs * 4, longestPauseMs)
    }
    verdicts.violated('convergence', ...pending)
  }

  /** The balancer comes to an end. */
  async balance(): Promise<void> {
    const { cluster, verdicts } = this.#world
    try {
      await cluster.balancer.settle({ rangeDeletion: true, timeoutMs: patienceMs })
    } catch (error) {
      if (!(error instanceof NotSettledError)) throw error
      verdicts.violated('convergence', error.message)
    }
  }

  /** What the cluster itself finds, in versions that look. */
  async inconsistencies(): Promise<void> {
    const { behaviours, verdicts } = this.#world
    if (!behaviours.metadataConsistencyCheck) return
    const command = { checkMetadataConsistency: 1, checkIndexes: true, cursor: {}, $db: 'admin' }
    const found = await this.#world.client('inconsistencies').documentsOf(command)
    verdicts.violated('convergence', ...(found ?? [{ unanswered: true }]).map((each) => JSON.stringify(each)))
  }

  /** What members have begun and not ended, one sentence each. */
  async unfinished(): Promise<string[]> {
    const { cluster } = this.#world
    const found: string[] = []
    const look = async (member: string, names: readonly string[]): Promise<void> => {
      for (const name of names)
        for (const document of await directly(this.#world, member, 'config', name))
          found.push(`${member} has in ${name} ${JSON.stringify(document)}`)
    }
    for (const shard of cluster.shards) await look(shard, unfinishedOfShards)
    await look('config', unfinishedOfConfig)
    return found
  }
}

/** All documents of a collection on one member, as they lie there. @throws Error */
export async function directly(
  { cluster }: SwarmWorld,
  member: string,
  db: string,
  collection: string,
): Promise<Document[]> {
  const command = encode({ find: collection, filter: {}, batchSize: 100_000, $db: db })
  const reply = decode(await cluster.command(command, { to: member }), { promoteLongs: true })
  if (reply['ok'] !== 1) throw new Error(`${member} does not read ${db}.${collection}: ${reply['errmsg']}`)
  return reply['cursor'].firstBatch as Document[]
}
