/**
 * Random clusters, workloads and faults, each from a seed, looked at by checkers; and defects that are built in on purpose, which they have
 * to find. `SHARDLAB_SEED=7` plays that seed alone, `SHARDLAB_LONG=1` plays 500.
 */
import t from 'tap'
import { mutationNames, type MutationName } from '@shardlab/actor'
import { OptionError } from '@shardlab/cluster'
import type { PlacementVersion } from '@shardlab/sharding'
import { failureText, isClean, KnownVersions, planOf, runSwarm, swarmText, type SwarmReport } from '@shardlab/scenario'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const isLong = SHARDLAB_LONG === '1'
const options =
  SHARDLAB_SEED === undefined ? { seed: 1, runs: isLong ? 500 : 60 } : { seed: Number(SHARDLAB_SEED), runs: 1 }
const again = { seed: options.seed, runs: Math.min(options.runs, isLong ? 10 : 2) }

/** Seeds of runs that have found something, and what it was. */
const found: Readonly<Record<number, string>> = {
  38: 'a resharding that was taken up after a restart and a movePrimary waited for each other',
  148: 'a shard began to take part in a resharding of which it had heard the end already',
  153: 'a split asked for the middle of a chunk of a refined shard key by the key of before',
  173: 'movePrimary took the temporary collection of a resharding for one of the database',
  434: 'a shard stored what it received of a collection that had been dropped there meanwhile',
  31_319: 'an administrator of 2.6 who asks again did not understand that the shard is gone',
}

/** From where on a defect is found soon; others only in long runs. */
const canaries: Readonly<Partial<Record<MutationName, number>>> = {
  ownershipFilterOff: 1,
  criticalSectionOff: 4,
  retryDedupeOff: 2,
  versionCheckOff: 2,
}

t.test('no run fails, and a seed tells the whole story', { timeout: 600_000 }, async (t) => {
  const report = await runSwarm(options)
  t.same(report.failed.map(failureText), [])
  t.ok(isClean(report), swarmText(report))
  t.equal(report.runs, options.runs)
  t.ok(report.acknowledged > 30 * report.runs, `${report.acknowledged} writes acknowledged, ${report.unknown} not`)
  const second = await runSwarm({ ...again, threads: 1 })
  for (const [seed, hash] of Object.entries(second.traceHashes))
    t.equal(hash, report.traceHashes[seed], `seed ${seed} again`)
  t.equal(new Set(Object.values(report.traceHashes)).size, report.runs, 'different seeds, different stories')
})

t.test('what was found once is not there any more', async (t) => {
  for (const [seed, what] of Object.entries(found)) {
    if (Number(seed) >= options.seed && Number(seed) < options.seed + options.runs) continue
    const { failed } = await runSwarm({ seed: Number(seed), runs: 1, threads: 1 })
    t.same(failed.map(failureText), [], what)
  }
})

for (const mutation of mutationNames) {
  const seed = canaries[mutation] ?? 1
  if (!isLong && canaries[mutation] === undefined) continue
  t.test(`${mutation} is found`, { timeout: 300_000 }, async (t) => {
    const report = await runSwarm({
      mutation,
      seed,
      runs: 200,
      untilFailure: true,
      shrink: false,
      threads: isLong ? 2 : 1,
    })
    const [first] = report.failed
    t.ok(first !== undefined, `in ${report.runs} runs`)
    t.match(first!.replay, new RegExp(`^shardlab swarm --seed ${first!.seed} --runs 1 --mutation ${mutation}$`))
    t.match(swarmText(report), `again: ${first!.replay}`)
    t.ok(first!.journal.length > 0, 'what led there is told')
    t.notOk(isClean(report))
  })
}

t.test(
  'a run that fails is played again with fewer faults, until every verb that is left is needed',
  { timeout: 300_000 },
  async (t) => {
    const report = await runSwarm({ mutation: 'retryDedupeOff', seed: 2, runs: 1, threads: 1 })
    const [{ replay, plan, checker }] = report.failed as [SwarmReport['failed'][number]]
    t.equal(checker, 'answers')
    t.same(plan.faults, [], 'it fails without any')
    t.match(replay, `--without ${planOf(2).faults.join(' ')} --mutation retryDedupeOff`)
  },
)

t.test('coverage: steps and verbs that were never reached are named', async (t) => {
  const report = await runSwarm({ runs: 1, seed: 3, threads: 1 })
  const { steps, verbs, missing, least } = report.coverage
  t.equal(least, 1)
  t.ok(steps['shard.migration.committed']! > 0)
  t.same(
    missing,
    [...Object.entries(steps), ...Object.entries(verbs)].filter(([, count]) => count === 0).map(([name]) => name),
  )
  t.match(swarmText(report), /\d+ of \d+ named steps and \d+ of \d+ verbs of faults were reached in 1 runs; not /)
})

t.test('plans differ, and leaving verbs out changes nothing else', (t) => {
  const plans = Array.from({ length: 200 }, (_, seed) => planOf(seed))
  for (const [name, least] of [
    ['emulate', 8],
    ['shards', 8],
    ['mongos', 3],
    ['chunkSizeBytes', 4],
  ] as const)
    t.ok(new Set(plans.map((plan) => plan[name])).size >= least, `${name} varies`)
  t.same(planOf(7, ['crash', 'drop']), {
    ...planOf(7),
    faults: planOf(7).faults.filter((verb) => verb !== 'crash' && verb !== 'drop'),
  })
  t.end()
})

t.test('what a member knows of a collection never gets older', (t) => {
  const known = new KnownVersions()
  const version = (major: number, minor: number, epoch = 'e'): Readonly<Record<string, PlacementVersion>> => ({
    'app.c': [epoch, 1, 1, major, minor],
  })
  for (const seen of [version(2, 1), version(2, 1), version(3, 0), version(1, 0, 'another')])
    t.same(known.seen('shard01', seen), [])
  t.same(known.seen('mongos01', version(2, 0)), [], 'another member')
  t.same(known.seen('shard01', version(2, 9)), ['shard01 went back from version 3|0 of app.c to 2|9'])
  known.forget('shard01')
  t.same(known.seen('shard01', version(2, 9)), [])
  t.end()
})

t.test('wrong options are refused in a sentence', async (t) => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ runs: 0 }, /^runs must be a whole number of at least 1\.$/],
    [{ seed: -1 }, /^seed must be a whole number of at least 0\.$/],
    [{ minutes: 0 }, /^minutes must be more than 0\.$/],
    [{ without: ['explode'] }, /^explode is no verb of a fault; the verbs are crash, /],
    [{ mutation: 'nothing' }, /^nothing is not a mutation; the mutations are ownershipFilterOff, /],
  ]
  for (const [options, message] of wrong) {
    const error = await runSwarm(options).catch((thrown: unknown) => thrown)
    t.ok(error instanceof OptionError)
    t.match((error as Error).message, message)
  }
})
