/**
 * The balancer with working clients and crashing members: no document is lost or doubled, and at
 * the end nothing has to move. `SHARDLAB_SEED=7` plays only this seed, `SHARDLAB_LONG=1` plays 60
 * of each kind.
 */
import t from 'tap'
import { playBalancing } from './balancing-story.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const count = SHARDLAB_LONG === '1' ? 60 : 1
const seeds = SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

const everybody = ['shard01', 'shard02', 'shard03', 'config', 'balancer', 'mongos01']

for (const emulate of ['4.4', '7.0'] as const) {
  for (const victims of [[], everybody]) {
    for (const seed of seeds) {
      const trouble = victims.length === 0 ? 'undisturbed' : 'with crashes'
      t.test(
        `balancing keeps all documents: ${emulate} ${trouble}, seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- simulation/balancing)`,
        async (t) => {
          const first = await playBalancing({ seed, emulate, victims })
          t.same(first.violations, [])
          t.ok(first.migrations > 1, `${first.migrations} migrations, ${first.crashes} crashes`)
          if (seed > 1 || victims.length === 0) return
          const second = await playBalancing({ seed, emulate, victims })
          t.equal(second.traceHash, first.traceHash, 'the same again')
          const attached = await playBalancing({ seed, emulate, victims, attaches: true })
          t.same(attached.violations, [])
          t.same(attached.events, first.events, 'the same with tables attached to messages')
          t.not(attached.traceHash, first.traceHash)
        },
      )
    }
  }
}
