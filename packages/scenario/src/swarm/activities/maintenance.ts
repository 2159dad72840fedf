import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { SwarmClient } from '../client/swarm-client.js'
import { pick } from '../draw.js'
import { Activity } from './activity.js'
import { codes } from './codes.js'

const actionsMax = 30
const collections = ['ranged', 'hashed', 'compound', 'refined'] as const

export class MaintenanceCommands extends Activity {
  readonly name = 'maintenance'

  async run(): Promise<void> {
    const { random: root, pace } = this.world
    const random = root.fork('maintenance')
    const client = this.world.client('maintenance')
    for (let i = 0; i < actionsMax && pace.isAnyClientWorking; i++) {
      await this.#act(client, random)
      await client.pause(150)
    }
  }

  /** A running defragmentation would prevent balancing. */
  override async finish(): Promise<void> {
    const { behaviours } = this.world
    if (!behaviours.collectionBalancingCanBeConfigured) return
    const client = this.world.client('maintenance at the end')
    for (const ns of collections)
      await client.untilDone({ configureCollectionBalancing: `app.${ns}`, defragmentCollection: false, $db: 'admin' }, [
        codes.namespaceNotFound,
      ])
  }

  async #act(client: SwarmClient, random: Random): Promise<void> {
    const { behaviours, plan, cluster } = this.world
    const ns = `app.${pick(random, collections)}`
    const choice = random.below(6)
    if (choice < 2 && behaviours.collectionBalancingCanBeConfigured) {
      const defragmentCollection = random.chance(3, 4)
      await this.#do(client, 'defragment', { configureCollectionBalancing: ns, defragmentCollection, $db: 'admin' })
    } else if (choice === 2 && behaviours.featureCompatibilityVersionCanBeSet) {
      const confirm = behaviours.featureCompatibilityNeedsConfirmation ? { confirm: true } : {}
      const command = {
        setFeatureCompatibilityVersion: behaviours.featureCompatibilityVersion,
        ...confirm,
        $db: 'admin',
      }
      await this.#do(client, 'setFeatureCompatibilityVersion', command)
    } else if (choice === 3 && behaviours.mergeAllChunksOnShardCommand) {
      await this.#do(client, 'mergeAllChunksOnShard', {
        mergeAllChunksOnShard: ns,
        shard: pick(random, cluster.shards),
        $db: 'admin',
      })
    } else if (choice === 4 && plan.balancing && behaviours.balancerCommands) {
      await this.#do(client, 'balancer', { [random.chance(1, 2) ? 'balancerStop' : 'balancerStart']: 1, $db: 'admin' })
    } else if (choice === 5 && behaviours.definitionChangesAreCoordinated) {
      // Without a change: a shard that keeps an empty copy would keep the former options.
      await this.#do(client, 'collMod', { collMod: ns.slice('app.'.length), $db: 'app' })
    }
  }

  async #do(client: SwarmClient, name: string, command: Document): Promise<void> {
    const settled = [
      codes.namespaceNotFound,
      codes.shardNotFound,
      codes.staleEpoch,
      codes.operationFailed,
      codes.illegalOperation,
    ]
    const answer = await client.try(command, settled)
    if (answer === null || answer.code !== null) return
    this.count(name)
  }
}
