/**
 * Convergence: once all faults are healed, everything started completes in bounded virtual time,
 * and the cluster finds no inconsistency.
 */
import type { Document } from '@shardlab/bson'
import { NotSettledError } from '@shardlab/cluster'
import { finding, type Finding } from '../finding.js'
import type { SwarmWorld } from '../world.js'

/** Shards and config server record unfinished work in these collections. */
const unfinishedOfShards = [
  'migrationCoordinators',
  'rangeDeletions',
  'transaction_coordinators',
  'system.sharding_ddl_coordinators',
  'localReshardingOperations.donor',
  'localReshardingOperations.recipient',
] as const
const unfinishedOfConfig = ['reshardingOperations'] as const

/** Longer than orphans are kept. */
const patienceMs = 2_500_000
const firstPauseMs = 1000
const longestPauseMs = 100_000

export class Convergence {
  readonly #world: SwarmWorld

  constructor(world: SwarmWorld) {
    this.#world = world
  }

  /** Reports the work that is unfinished at the deadline. */
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

  async balance(): Promise<void> {
    const { cluster, verdicts } = this.#world
    try {
      await cluster.balancer.settle({ rangeDeletion: true, timeoutMs: patienceMs })
    } catch (error) {
      if (!(error instanceof NotSettledError)) throw error
      verdicts.failed('convergence', error.message)
    }
  }

  /** Only in versions with the command that reports them. */
  async inconsistencies(): Promise<void> {
    const { behaviours, verdicts } = this.#world
    if (!behaviours.metadataConsistencyCheck) return
    const command = { checkMetadataConsistency: 1, checkIndexes: true, cursor: {}, $db: 'admin' }
    const found = await this.#world.client('inconsistencies').documentsOf(command)
    if (found === null) verdicts.failed('convergence', 'checkMetadataConsistency got no answer')
    else verdicts.violated('convergence', ...found.map((each) => finding(JSON.stringify(each), namespaceIn(each))))
  }

  async unfinished(): Promise<Finding[]> {
    const { cluster } = this.#world
    const found: Finding[] = []
    const look = async (member: string, names: readonly string[]): Promise<void> => {
      for (const name of names)
        for (const document of await directly(this.#world, member, 'config', name))
          found.push(finding(`${member} has in ${name} ${JSON.stringify(document)}`, namespaceIn(document)))
    }
    for (const shard of cluster.shards) await look(shard, unfinishedOfShards)
    await look('config', unfinishedOfConfig)
    return found
  }
}

/** The collection that a record or an inconsistency is about; null: unknown. */
function namespaceIn(document: Document): string | null {
  const { nss, ns, sourceNss, _id, details } = document
  const found: unknown =
    nss ?? ns ?? sourceNss ?? _id?.namespace ?? details?.namespace ?? details?.nss ?? details?.collection?.ns
  return typeof found === 'string' ? found : null
}

/** Documents stored on the primary of a set. @throws Error */
export async function directly(
  { direct, sets }: SwarmWorld,
  set: string,
  db: string,
  collection: string,
): Promise<Document[]> {
  const to = await sets.primaryOf(set)
  if (to === null) throw new Error(`${set} has no primary after all faults were healed`)
  const reply = await direct.run({ find: collection, filter: {}, batchSize: 100_000, $db: db }, to)
  if (reply['ok'] !== 1) throw new Error(`${to} does not read ${db}.${collection}: ${reply['errmsg']}`)
  return reply['cursor'].firstBatch as Document[]
}
