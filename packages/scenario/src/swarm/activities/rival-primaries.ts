/**
 * Elects another member while the primary of a shard cannot notice: it is cut off from its set, and
 * from one router, but other routers still reach it. Through these routers, clients then read what
 * others have written to the new primary.
 */
import type { Address, Random } from '@shardlab/actor'
import type { SwarmClient } from '../client/swarm-client.js'
import { pick } from '../draw.js'
import type { SwarmWorld } from '../world.js'
import { Activity } from './activity.js'
import { RegisterHistories } from './register-histories.js'

const electionsMax = 6
/** So that each shard has some. */
const registers = 8

export class RivalPrimaries extends Activity {
  readonly name = 'rival-primaries'
  readonly #registers: RegisterHistories

  constructor(world: SwarmWorld) {
    super(world)
    this.#registers = new RegisterHistories(world, 'rivals')
  }

  override prepare(): Promise<void> {
    return this.#registers.prepare(this.world.client('rival registers'), registers)
  }

  async run(): Promise<void> {
    const { random: root, pace, cluster } = this.world
    const random = root.fork('rival primaries')
    const client = this.world.client('rival primaries')
    for (let i = 1; i <= electionsMax && pace.isAnyClientWorking; i++) {
      const draw = random.fork(String(i))
      await cluster.advance(draw.fraction() * 1000)
      await pace.nextSend()
      if (!pace.isAnyClientWorking) return
      await this.#elect(client, draw)
    }
  }

  override async finish(): Promise<void> {
    await this.#registers.check(this.world.client('rival registers checked'))
  }

  async #elect(client: SwarmClient, random: Random): Promise<void> {
    const { cluster, sets } = this.world
    const set = pick(random, cluster.shards)
    const [informed, outdated] = random.shuffled(cluster.mongos) as [Address, Address?]
    // Routers that have used the primary ask it until it refuses.
    if (outdated !== undefined) await this.#readAll(client, outdated)
    const primary = await sets.primaryOf(set)
    if (primary === null) return
    const others = sets.membersOf(set).filter((member) => member !== primary)
    // Longer than an election timeout, after which the primary steps down by itself.
    const time = `${2500 + random.below(2000)}ms`
    for (const other of others) await this.world.applyFault(`partition ${primary} from ${other} for ${time}`)
    // This router searches another primary at once.
    await this.world.applyFault(`refuse connections to ${primary} from ${informed} for ${time}`)
    const reply = await client.once({ replSetStepUp: 1, $db: 'admin' }, pick(random, others))
    if (reply?.['ok'] !== 1) return
    this.count('rival elected')
    if (outdated === undefined) return
    await this.#together(async (_id) => {
      if (!(await this.#registers.writeOnce(client, _id, informed))) return
      if (await this.#registers.read(client, _id, outdated)) this.count('read beside a rival')
    })
  }

  async #readAll(client: SwarmClient, router: Address): Promise<void> {
    await this.#together((_id) => this.#registers.read(client, _id, router))
  }

  async #together(work: (_id: number) => Promise<unknown>): Promise<void> {
    await Promise.all(this.#registers.ids.map(work))
  }
}
