/**
 * A unique shard key with moving ranges: one of the concurrent clients gets a name, which is free
 * again after its removal.
 */
import type { Random } from '@shardlab/actor'
import type { SwarmClient } from '../client/swarm-client.js'
import { uniqueKeyViolations } from '../checkers/unique.js'
import { finding } from '../finding.js'
import { Activity } from './activity.js'
import { codes } from './codes.js'

const names = 30
const clients = 2
const stepsOfClient = 6

export class UniqueKeys extends Activity {
  readonly name = 'unique-keys'
  /** By name; null: being removed. */
  readonly #owners = new Map<string, string | null>()

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: clients }, (_, i) => this.world.pace.during(() => this.#work(i + 1))))
  }

  override async finish(): Promise<void> {
    const { cluster, verdicts } = this.world
    const client = this.world.client('names')
    for (const router of cluster.mongos) {
      const users = await client.documentsOf({ find: 'users', filter: {}, batchSize: 1000, $db: 'app' }, router)
      verdicts.violated('unique', ...uniqueKeyViolations(this.#owners, users ?? [], router))
    }
  }

  async #work(number: number): Promise<void> {
    const random = this.world.random.fork(`names ${number}`)
    const client = this.world.client(`names ${number}`, true)
    for (let i = 0; i < stepsOfClient; i++) {
      await this.#step(client, random, number)
      await client.pause(random.chance(1, 20) ? 200 : 20)
    }
  }

  async #step(client: SwarmClient, random: Random, worker: number): Promise<void> {
    const name = `name ${random.below(names)}`
    const owner = this.#owners.get(name)
    if (typeof owner === 'string' && owner.startsWith(`${worker} `)) {
      this.#owners.set(name, null)
      const command = { delete: 'users', deletes: [{ q: { name }, limit: 1 }], $db: 'app' }
      const { reply } = await client.retryably(command, [], ({ n }) => n as number)
      if (reply['n'] !== 1) this.#violated(`${name} of ${owner} was given back with n: ${reply['n']}`, owner)
      // The next owner may have been acknowledged before.
      if (this.#owners.get(name) === null) this.#owners.delete(name)
      return
    }
    const _id = `${worker} ${random.below(1_000_000)}`
    const command = { insert: 'users', documents: [{ _id, name }], $db: 'app' }
    const { code } = await client.retryably(command, [codes.duplicateKey], ({ n }) => n as number)
    if (code !== null) return
    const before = this.#owners.get(name)
    if (typeof before === 'string') this.#violated(`${name} was given to ${before} and to ${_id}`, before, _id)
    this.#owners.set(name, _id)
    this.count('name given')
  }

  #violated(sentence: string, ...ids: readonly string[]): void {
    this.world.verdicts.violated('unique', finding(sentence, 'app.users', ...ids))
  }
}
