/**
 * Hostile messages of every kind. Each has an answer that does not come from the packages under
 * test: what its kind declares, and what the rules of the server say about its bytes.
 * SHARDLAB_SEED=7 runs that seed, SHARDLAB_LONG=1 a new one with eight times as many messages.
 */
import t from 'tap'
import { ShardedCluster } from 'shardlab'
import { Watchdog } from '../fuzz/watchdog.js'
import { attack } from './campaign.js'
import { kinds } from './kinds/all.js'
import { dataOf, prepare } from './data.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
// A fixed seed makes two runs comparable; a long run draws a new one.
const seed = SHARDLAB_SEED ?? (SHARDLAB_LONG === '1' ? String(Math.floor(Math.random() * 2 ** 31)) : '1')
const total = SHARDLAB_LONG === '1' ? 100_000 : 12_500

t.setTimeout(600_000)

t.test(
  `${total} hostile messages get their answers (again: SHARDLAB_SEED=${seed} npm test -- hostile/)`,
  { timeout: 600_000 },
  async (t) => {
    const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })
    t.teardown(() => cluster.stop())
    const crashed: string[] = []
    cluster.on(
      'member',
      ({ member, state, error }) => void (state === 'crashed' && crashed.push(`${member}: ${error}`)),
    )
    const watchdog = new Watchdog(`hostile messages with SHARDLAB_SEED=${seed}`, 30_000)
    t.teardown(() => watchdog.stop())
    await prepare(cluster.uri)
    const before = await dataOf(cluster.uri)
    const endpoints = [cluster.mongos[0]!, cluster.mongos[0]!, cluster.mongos[0]!, new URL(cluster.shards[0]!.uri).host]
    const { sent, counts, findings } = await attack({
      endpoints,
      seed,
      total,
      onProgress: (count) => watchdog.at(count),
    })
    for (const finding of findings) t.fail(finding)
    t.ok(sent >= total, `${sent} messages`)
    t.strictSame(
      kinds.map(({ name }) => name).filter((name) => !counts.has(name)),
      [],
      'every kind was sent',
    )
    t.strictSame(await dataOf(cluster.uri), before, 'no data have changed')
    t.strictSame(crashed, [], 'no member crashed')
  },
)
