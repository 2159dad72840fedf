/**
 * Load tests of random clusters with random faults: no acknowledged write is lost, on sockets and
 * threads, which simulations do not have. SHARDLAB_SEED=7 plays seed 7 first; SHARDLAB_LONG=1 plays
 * sixty seeds.
 */
import t from 'tap'
import { createRandom, type Random } from '@shardlab/actor'
import { runLoad, type EngineName } from '@shardlab/load'
import { ShardedCluster, type EmulatedVersion } from 'shardlab'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const first = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 1e6))
const runs = isLong ? 60 : 1

const versions: readonly EmulatedVersion[] = ['4.0', '4.4', '5.0', '6.0', '7.0', '8.0']
const workloads: Readonly<Record<EngineName, readonly string[]>> = {
  driver: ['a', 'd', 'f', 'transactions'],
  wire: ['a', 'd', 'f', 'route-mix'],
}

const pick = <T>(random: Random, among: readonly T[]): T => among[random.below(among.length)]!

function faultsOf(random: Random, members: number): string[] {
  const set = `shard0${1 + random.below(3)}`
  const one = members === 1 ? set : `the primary of ${set}`
  const all = [
    `crash ${one} at 500ms for 1s`,
    `pause ${one} at 500ms for 500ms`,
    `restart ${set}${members === 1 ? '' : '-1'} at 1s`,
    'restart mongos01 at 1s',
    `partition ${set} from mongos01 at 500ms for 500ms`,
    'cut 5% replies of mongos01 to clients at 500ms for 1s',
    `drop 3% between mongos01 and ${set} at 500ms for 1s`,
    `duplicate 5% between mongos01 and ${set} for 2s`,
    `delay 20% between mongos01 and ${set} by 5ms..40ms for 2s`,
  ]
  const chosen = all.filter(() => random.chance(1, 5))
  // A primary that goes down at that moment would not answer.
  const staysUp = !chosen.some((fault) => /^(crash|restart shard)/.test(fault))
  return members > 1 && staysUp && random.chance(1, 5) ? [...chosen, `step down ${one} at 500ms`] : chosen
}

for (let seed = first; seed < first + runs; seed++)
  t.test(
    `no acknowledged write is lost (again: SHARDLAB_SEED=${seed} npm test -- load/random-faults)`,
    { timeout: 120_000 },
    async (t) => {
      const random = createRandom(seed)
      const emulate = pick(random, versions)
      const members = random.chance(1, 3) ? 3 : 1
      const engine = pick(random, ['driver', 'wire'] as const)
      const workload = pick(
        random,
        workloads[engine].filter((name) => name !== 'transactions' || emulate !== '4.0'),
      )
      const faults = faultsOf(random, members)
      await using cluster = await ShardedCluster.start({
        ...{ shards: 3, mongos: 1 + random.below(2), members, emulate, seed },
        ...{ chunkSize: pick(random, ['64KB', '1MB']), balancerRoundIntervalMs: 500 },
      })
      const report = await runLoad({
        ...{ uri: cluster.uri, engine, workload, faults, seed, durationSecs: isLong ? 4 : 2, warmUpSecs: 0 },
        shardKey: pick(random, ['_id:1', '_id:hashed']),
        threads: random.below(3),
        concurrency: pick(random, [4, 16, 64]),
        records: pick(random, [200, 2000]),
        distribution: pick(random, ['uniform', 'zipfian']),
        ...(engine === 'wire' ? { pipeline: pick(random, [1, 2, 8]) } : {}),
      })
      t.equal(
        report.endCheck.ok,
        true,
        `${emulate}, ${workload}, ${faults.join('; ')}: ${report.endCheck.examples.join('; ')}`,
      )
      t.ok(report.operations > report.errors.total, `${report.operations} operations, ${JSON.stringify(report.errors)}`)
    },
  )
