import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { Code } from '../client/errors.js'
import type { SwarmClient } from '../client/swarm-client.js'
import { pick } from '../draw.js'
import { Activity } from './activity.js'
import { codes } from './codes.js'

const roundsMax = 5
const keys: readonly Document[] = [{ k: 1 }, { r: 1, k: 1 }, { k: 'hashed' }, { k: 1, r: 1 }]
const refusals: readonly Code[] = [
  codes.illegalOperation,
  codes.namespaceNotFound,
  codes.shardNotFound,
  codes.invalidOptions,
  codes.badValue,
  codes.operationFailed,
  codes.notSharded,
  codes.staleEpoch,
  codes.reshardCollectionAborted,
  codes.reshardingCriticalSectionTimeout,
  codes.notEnoughCardinality,
  codes.alreadyInitialized,
  codes.interrupted,
]

export class Resharding extends Activity {
  readonly name = 'resharding'

  async run(): Promise<void> {
    const { random: root, pace, behaviours } = this.world
    if (!behaviours.reshardCollectionCommand) return
    const random = root.fork('resharding')
    const client = this.world.client('resharding')
    const other = this.world.client('aborting')
    for (let i = 0; i < roundsMax && pace.isAnyClientWorking; i++) {
      await client.pause(60)
      if (behaviours.moveCollectionCommand) await this.#moveNew(client, random, `moved${i}`)
      await this.#round(client, other, random)
    }
  }

  /** The catalog learns of a collection when it is moved for the first time. */
  async #moveNew(client: SwarmClient, random: Random, name: string): Promise<void> {
    await client.try({ create: name, $db: 'app' }, refusals)
    const command = { moveCollection: `app.${name}`, toShard: pick(random, this.world.cluster.shards), $db: 'admin' }
    await this.#do(client, client, random, 'moveCollection', null, command)
  }

  async #round(client: SwarmClient, other: SwarmClient, random: Random): Promise<void> {
    const { behaviours, cluster } = this.world
    const choice = behaviours.moveCollectionCommand ? random.below(6) : 0
    const to = pick(random, cluster.shards)
    if (choice < 2) {
      const command = {
        reshardCollection: 'app.reshaped',
        key: pick(random, keys),
        numInitialChunks: 1 + random.below(4),
        $db: 'admin',
      }
      await this.#do(client, other, random, 'reshardCollection', 'abortReshardCollection', command)
    } else if (choice === 2) {
      await this.#do(client, other, random, 'unshardCollection', 'abortUnshardCollection', {
        unshardCollection: 'app.reshaped',
        toShard: to,
        $db: 'admin',
      })
    } else if (choice === 3) {
      const command = { shardCollection: 'app.reshaped', key: { k: 1 }, $db: 'admin' }
      await this.#do(client, other, random, 'shardCollection', null, command)
    } else {
      const command = { moveCollection: `app.${pick(random, ['plain', 'late'])}`, toShard: to, $db: 'admin' }
      await this.#do(client, other, random, 'moveCollection', 'abortMoveCollection', command)
    }
  }

  async #do(
    client: SwarmClient,
    other: SwarmClient,
    random: Random,
    name: string,
    abort: string | null,
    command: Document,
  ): Promise<void> {
    const isGivenUp = abort !== null && random.chance(1, 3)
    const [answer] = await Promise.all([
      client.try(command, refusals),
      isGivenUp ? this.#abort(other, { [abort]: command[name], $db: 'admin' }) : null,
    ])
    if (answer === null) return
    if (answer.code === codes.reshardCollectionAborted) this.count(`${name} aborted`)
    if (answer.code !== null) return
    this.count(name)
  }

  /** The abort may come too early or too late. */
  async #abort(client: SwarmClient, command: Document): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt++) {
      await client.pause(12)
      const answer = await client.try(command, [
        ...refusals,
        codes.noSuchReshardCollection,
        codes.reshardCollectionCommitted,
      ])
      if (answer !== null && (answer.code === null || answer.code === codes.reshardCollectionCommitted)) return
    }
  }
}
