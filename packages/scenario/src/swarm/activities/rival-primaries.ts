/**
 * Elects another member while the primary of a shard cannot notice: it is cut off from its set, and
 * from one router, but other routers still reach it.
 */
import { pick } from '../draw.js'
import { Activity } from './activity.js'

const electionsMax = 6

export class RivalPrimaries extends Activity {
  readonly name = 'rival-primaries'

  async run(): Promise<void> {
    const { random: root, pace, cluster, sets } = this.world
    const random = root.fork('rival primaries')
    const client = this.world.client('rival primaries')
    for (let i = 1; i <= electionsMax && pace.isAnyClientWorking; i++) {
      const draw = random.fork(String(i))
      await cluster.advance(draw.fraction() * 1000)
      await pace.nextSend()
      if (!pace.isAnyClientWorking) return
      const set = pick(draw, cluster.shards)
      const primary = await sets.primaryOf(set)
      if (primary === null) continue
      const others = sets.membersOf(set).filter((member) => member !== primary)
      // Longer than an election timeout, after which the primary steps down by itself.
      const time = `${2500 + draw.below(2000)}ms`
      for (const other of others) await this.world.applyFault(`partition ${primary} from ${other} for ${time}`)
      // This router searches another primary at once.
      await this.world.applyFault(`refuse connections to ${primary} from ${pick(draw, cluster.mongos)} for ${time}`)
      const reply = await client.once({ replSetStepUp: 1, $db: 'admin' }, pick(draw, others))
      if (reply?.['ok'] === 1) this.count('rival elected')
    }
  }
}
