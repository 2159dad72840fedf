/**
 * Swarms without defects pass all checkers, and checkers find the defects of mutations.
 * `SHARDLAB_SEED=7` plays only this seed, `SHARDLAB_LONG=1` plays 500 runs.
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

/** Seeds that found a defect, and the defect. */
const found: Readonly<Record<number, string>> = {
  38: 'a resharding that resumed after a restart and a movePrimary blocked each other',
  148: 'a shard joined a resharding after it had received its end',
  153: 'a split requested the middle of a chunk with the shard key before refineCollectionShardKey',
  173: 'movePrimary moved the temporary collection of a resharding',
  434: 'a recipient stored documents of a collection that had been dropped during the migration',
  31_319: 'a repeated removeShard of 2.6 did not recognise that the shard was removed',
}

/** First seeds for which a mutation is found within few runs; others run only in long runs. */
const canaries: Readonly<Partial<Record<MutationName, number>>> = {
  ownershipFilterOff: 1,
  criticalSectionOff: 4,
  retryDedupeOff: 2,
  versionCheckOff: 2,
}

t.test('no run fails, and a seed replays its run exactly', { timeout: 600_000 }, async (t) => {
  const report = await runSwarm(options)
  t.same(report.failed.map(failureText), [])
  t.ok(isClean(report), swarmText(report))
  t.equal(report.runs, options.runs)
  t.ok(report.acknowledged > 30 * report.runs, `${report.acknowledged} writes acknowledged, ${report.unknown} not`)
  const second = await runSwarm({ ...again, threads: 1 })
  for (const [seed, hash] of Object.entries(second.traceHashes))
    t.equal(hash, report.traceHashes[seed], `seed ${seed} again`)
  t.equal(new Set(Object.values(report.traceHashes)).size, report.runs, 'different seeds give different runs')
})

t.test('seeds that once found a defect pass', async (t) => {
  for (const [seed, what] of Object.entries(found)) {
    if (Number(seed) >= options.seed && Number(seed) < options.seed + options.runs) continue
    const { failed } = await runSwarm({ seed: Number(seed), runs: 1, threads: 1 })
    t.same(failed.map(failureText), [], what)
  }
})

for (const mutation of mutationNames) {
  const seed = canaries[mutation] ?? 1
  if (!isLong && canaries[mutation] === undefined) continue
  t.test(`checkers find the mutation ${mutation}`, { timeout: 300_000 }, async (t) => {
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
    t.match(swarmText(report), `replay: ${first!.replay}`)
    t.ok(first!.journal.length > 0, 'the report lists the events before the failure')
    t.notOk(isClean(report))
  })
}

t.test('shrinking leaves out all fault verbs that a failure does not need', { timeout: 300_000 }, async (t) => {
  const report = await runSwarm({ mutation: 'retryDedupeOff', seed: 2, runs: 1, threads: 1 })
  const [{ replay, plan, checker }] = report.failed as [SwarmReport['failed'][number]]
  t.equal(checker, 'answers')
  t.same(plan.faults, [], 'it fails without faults')
  t.match(replay, `--without ${planOf(2).faults.join(' ')} --mutation retryDedupeOff`)
})

t.test('the report names steps and verbs that no run reached', async (t) => {
  const report = await runSwarm({ runs: 1, seed: 3, threads: 1 })
  const { steps, verbs, missing, least } = report.coverage
  t.equal(least, 1)
  t.ok(steps['shard.migration.committed']! > 0)
  t.same(
    missing,
    [...Object.entries(steps), ...Object.entries(verbs)].filter(([, count]) => count === 0).map(([name]) => name),
  )
  t.match(swarmText(report), /\d+ of \d+ named steps and \d+ of \d+ fault verbs were reached in 1 runs; not reached: /)
})

t.test('plans of different seeds differ, and leaving verbs out changes only the faults', (t) => {
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

t.test('a member whose version of a collection goes back violates versions', (t) => {
  const known = new KnownVersions()
  const version = (major: number, minor: number, epoch = 'e'): Readonly<Record<string, PlacementVersion>> => ({
    'app.c': [epoch, 1, 1, major, minor],
  })
  for (const seen of [version(2, 1), version(2, 1), version(3, 0), version(1, 0, 'another')])
    t.same(known.seen('shard01', seen), [])
  t.same(known.seen('mongos01', version(2, 0)), [], 'another member')
  t.same(known.seen('shard01', version(2, 9)), ['shard01 went back from version 3|0 of app.c to 2|9'])
  known.delete('shard01')
  t.same(known.seen('shard01', version(2, 9)), [])
  t.end()
})

t.test('an invalid option is reported in one sentence', async (t) => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ runs: 0 }, /^runs must be an integer of at least 1\.$/],
    [{ seed: -1 }, /^seed must be an integer of at least 0\.$/],
    [{ minutes: 0 }, /^minutes must be more than 0\.$/],
    [{ without: ['explode'] }, /^explode is not a fault verb; the verbs are crash, /],
    [{ mutation: 'nothing' }, /^nothing is not a mutation; the mutations are ownershipFilterOff, /],
  ]
  for (const [options, message] of wrong) {
    const error = await runSwarm(options).catch((thrown: unknown) => thrown)
    t.ok(error instanceof OptionError)
    t.match((error as Error).message, message)
  }
})
