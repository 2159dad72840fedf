/**
 * Swarms without defects pass all checkers, and checkers find the defects of mutations.
 * `SHARDLAB_SEED=7` plays only this seed, `SHARDLAB_LONG=1` plays 500 runs.
 */
import t from 'tap'
import { mutationNames, type MutationName } from '@shardlab/actor'
import { OptionError } from '@shardlab/cluster'
import type { PlacementVersion } from '@shardlab/sharding'
import {
  failureText,
  formOf,
  isClean,
  KnownVersions,
  planOf,
  playSwarm,
  runSwarm,
  swarmPage,
  swarmText,
  type SwarmProgress,
  type SwarmReport,
} from '@shardlab/scenario'
import { partsOf } from '@shardlab/report/testing'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const isLong = SHARDLAB_LONG === '1'
const options =
  SHARDLAB_SEED === undefined ? { seed: 1, runs: isLong ? 500 : 3 } : { seed: Number(SHARDLAB_SEED), runs: 1 }
const again = { seed: options.seed, runs: Math.min(options.runs, isLong ? 10 : 1) }

/** Seeds that found a defect, and the defect. */
const found: Readonly<Record<number, string>> = {
  38: 'a resharding that resumed after a restart and a movePrimary blocked each other',
}

/** Like `found`, but only long runs play them. */
const foundLate: Readonly<Record<number, string>> = {
  18: 'a member that stepped down and was elected again made object ids twice',
  148: 'a shard joined a resharding after it had received its end',
  153: 'a split requested the middle of a chunk with the shard key before refineCollectionShardKey',
  173: 'movePrimary moved the temporary collection of a resharding',
  206: 'a no-op about a resharding ended the donor of a migration',
  31_319: 'a repeated removeShard of 2.6 did not recognise that the shard was removed',
  434: 'a recipient stored documents of a collection that had been dropped during the migration',
  7_000_707: 'a renamed collection lacked acknowledged inserts, and held documents of another one',
  7_001_677: 'a key change answered a count that does not fit',
  7_003_511: 'chunks did not reach both ends of the key space',
  7_004_146: 'a shard had a collection with another UUID than the catalog',
  7_004_376: 'a client got 227 CannotImplicitlyCreateCollection',
  7_005_104: 'a client got 227 CannotImplicitlyCreateCollection',
  7_005_800: 'a resharding donor stayed in blocking-writes',
  7_006_589: 'a renamed collection held documents that it should not have',
  7_007_311: 'chunks did not reach both ends of the key space',
  7_008_104: 'a key change answered a count that does not fit',
  7_009_167: 'chunks did not reach both ends of the key space',
  7_010_300: 'a key change answered a count that does not fit',
  7_010_492: 'a client got 227 CannotImplicitlyCreateCollection',
  470_005_389: 'a donor that was restarted twice asked for a placement without end',
  520_001_562: 'clients waited an hour for a router that had said that a shard is not primary',
  590_000_048: 'a drop that a paused router had not answered was executed rounds later',
  620_001_698: 'a router whose clock was set back reported that an operation took less than no time',
  630_003_054: 'a shard that restarted in the commit of a movePrimary accepted a write, which was lost',
  650_001_019: 'a change stream read the entries of a transaction without end, of which the oplog had lost the first',
  530_014_965: 'a transaction that moved a document exceeded the lifetime that another activity sets',
  660_012_715: 'a transaction read a list on the donor, and later changes of it on the recipient',
}

/** Like `foundLate`, with sets of three members. */
const foundWithSets: Readonly<Record<number, string>> = {
  11: 'a secondary used a placement from before a migration',
  30: 'a majority read ended early when its collection was dropped between two batches',
  38: 'work of the config server that waited for a majority crashed it when it stepped down',
  455_000_758: 'a primary of an old term used a placement that only the new one has',
  500_000_286: 'a primary continued a movePrimary by a record that was rolled back later',
  510_001_214: 'the record of a write that was rolled back moved with its range',
  560_000_213: 'a resharding waited for a clock that had been set back',
  540_006_980: 'a client did not learn the cluster time of the reply that refused its handshake',
}

/** First seeds for which a mutation is found within few runs; others run only in long runs. */
const canaries: Readonly<Partial<Record<MutationName, number>>> = {
  ownershipFilterOff: 1,
  criticalSectionOff: 9,
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

t.test('seeds that once found a defect pass', { timeout: 600_000 }, async (t) => {
  for (const [seed, what] of Object.entries(isLong ? { ...found, ...foundLate } : found)) {
    if (Number(seed) >= options.seed && Number(seed) < options.seed + options.runs) continue
    const { failed } = await runSwarm({ seed: Number(seed), members: 1, runs: 1, threads: 1 })
    t.same(failed.map(failureText), [], what)
  }
})

const ofUsers = { skip: !isLong && 'long', timeout: 300_000 }

t.test('changes of users outlast the primaries that made them', ofUsers, async (t) => {
  const seeds = Array.from({ length: 200 }, (_, i) => i + 1)
  const withUsers = seeds.filter((seed) => planOf(seed, { members: 3 }).activities.includes('users'))
  for (const seed of withUsers.slice(0, 10)) {
    const { activities } = planOf(seed, { members: 3 })
    const without = activities.filter((name) => name !== 'users' && name !== 'failovers')
    const { failed } = await runSwarm({ seed, members: 3, runs: 1, threads: 1, without })
    t.same(failed.map(failureText), [], `seed ${seed}`)
  }
})

t.test('runs with replica sets do not fail', { skip: !isLong && 'long', timeout: 600_000 }, async (t) => {
  const { failed, runs } = await runSwarm({ members: 3, seed: 1, runs: 100 })
  t.same(failed.map(failureText), [])
  t.equal(runs, 100)
})

t.test(
  'seeds that once found a defect with replica sets pass',
  { skip: !isLong && 'long', timeout: 600_000 },
  async (t) => {
    for (const [seed, what] of Object.entries(foundWithSets)) {
      const { failed } = await runSwarm({ seed: Number(seed), members: 3, runs: 1, threads: 1 })
      t.same(failed.map(failureText), [], what)
    }
  },
)

const reports = new Map<MutationName, Promise<SwarmReport>>()

/** Of the runs until the first failure. Two tests look at the same one. */
function reportOf(mutation: MutationName): Promise<SwarmReport> {
  const seed = canaries[mutation] ?? 1
  const limits = { members: 1, runs: 200, untilFailure: true, shrink: false, threads: isLong ? 2 : 1 }
  const report = reports.get(mutation) ?? runSwarm({ mutation, seed, ...limits })
  reports.set(mutation, report)
  return report
}

for (const mutation of mutationNames) {
  // Found by the DDL fuzz (ddl/ddl-fuzz.test.ts).
  if (mutation === 'ddlLocksOff') continue
  if (!isLong && canaries[mutation] === undefined) continue
  t.test(`checkers find the mutation ${mutation}`, { timeout: 300_000 }, async (t) => {
    const report = await reportOf(mutation)
    const [first] = report.failed
    t.ok(first !== undefined, `in ${report.runs} runs`)
    t.match(
      first!.replay,
      new RegExp(`^shardlab swarm --seed ${first!.seed} --runs 1 --members 1 --mutation ${mutation}$`),
    )
    t.match(swarmText(report), `Replay: ${first!.replay}`)
    t.equal(first!.timeline.at(-1)?.kind, 'violation', 'the repetition of the run fails, too')
    t.notOk(isClean(report))
  })
}

t.test('a run that does not end fails', { timeout: 300_000 }, async (t) => {
  const { violations } = await playSwarm(planOf(1), { mutation: null, recorded: null, turnsMax: 500 })
  t.match(violations, [{ checker: 'answers', sentence: /^the run did not end; unanswered commands: / }])
  t.equal(violations.length, 1)
  const { failed } = await runSwarm({ runs: 2, threads: 2, runMsMax: 1, shrink: false })
  t.match(
    failed.map(({ seed, violations: [first] }) => [seed, first!.checker, first!.sentence]),
    [1, 2].map((seed) => [seed, 'answers', 'the run did not end within 0.001 seconds of real time']),
  )
  const single = await runSwarm({ runs: 1, runMsMax: 1, shrink: false })
  t.match(single.failed, [{ seed: 1, checker: 'answers' }], 'a single run is limited, too')
})

t.test('shrinking leaves out everything that a failure does not need', { timeout: 300_000 }, async (t) => {
  const shown: SwarmProgress[] = []
  const options = { mutation: 'retryDedupeOff', seed: 2, runs: 1, threads: 1 } as const
  const report = await runSwarm(options, (progress) => shown.push(progress))
  const [{ replay, plan, checker, violations }] = report.failed as [SwarmReport['failed'][number]]
  t.equal(checker, 'answers')
  t.match(plan, { faults: [], activities: [], workers: 1, shards: 1, mongos: 1 }, 'one client suffices')
  t.match(replay, / --without .*--clients 1 --steps \d+ .*--mutation retryDedupeOff$/)
  const attempts = shown.map(({ shrinking }) => shrinking).filter((each) => each !== null)
  t.same(
    attempts.map(({ attempt }) => attempt),
    attempts.map((_, i) => i + 1),
    'each attempt is shown',
  )
  const { without, clients, steps, shards, mongos } = optionsIn(replay)
  const again = await runSwarm({ ...options, without, clients, steps, shards, mongos, shrink: false })
  t.same(again.failed[0]!.violations, violations, 'the replay command repeats the run')
})

type Names = NonNullable<NonNullable<Parameters<typeof planOf>[1]>['without']>

function optionsIn(replay: string): {
  readonly without: Names
  readonly [limit: string]: any
} {
  const number = (name: string) => {
    const value = new RegExp(`--${name} (\\d+)`).exec(replay)?.[1]
    return value === undefined ? {} : { [name]: Number(value) }
  }
  const without = (/--without ([^-]+) --/.exec(replay)?.[1]?.split(' ') ?? []) as unknown as Names
  return { without, ...number('clients'), ...number('steps'), ...number('shards'), ...number('mongos') }
}

t.test('a failure has a timeline of its collection and documents', { timeout: 300_000 }, async (t) => {
  const report = await reportOf('criticalSectionOff')
  const [failed] = report.failed
  const [{ ns, sentence, checker }] = failed!.violations as [SwarmReport['failed'][number]['violations'][number]]
  const { timeline } = failed!
  t.match(timeline.at(-1), { kind: 'violation', text: `${checker}: ${sentence}` })
  t.same(
    timeline.filter((entry) => entry.ns !== null && entry.ns !== ns && entry.ns !== ns?.split('.')[0]),
    [],
    `only ${ns} and the whole cluster`,
  )
  const kinds = new Set(timeline.map(({ kind }) => kind))
  for (const kind of ['command', 'answer', 'step', 'catalog'] as const) t.ok(kinds.has(kind), kind)
  t.same(
    timeline.map(({ atMs }) => atMs),
    timeline.map(({ atMs }) => atMs).toSorted((a, b) => a - b),
  )
  const { seed } = failed!
  t.equal(
    (await playSwarm(planOf(seed, { members: 1 }), { mutation: 'criticalSectionOff', recorded: { ns, ids: [] } }))
      .traceHash,
    report.traceHashes[seed],
    'recording changes nothing',
  )
  const page = swarmPage(report)
  t.match(page.title, /^Swarm: 1 of \d+ runs? failed$/)
  t.equal(partsOf(page, 'timeline')[0]!.entries.length, timeline.length, 'the page has every entry')
  t.strictSame(JSON.parse(JSON.stringify(page)), page, 'JSON keeps all of the page')
})

t.test('violations that differ in documents and numbers have the same form', (t) => {
  const same: readonly (readonly [string, string])[] = [
    ['mongos01: plain 100098 was acknowledged and is gone', 'mongos02: plain 7 was acknowledged and is gone'],
    ['read as [{"_id":1}] or not', 'read as [] or not'],
    ['from shard01,shard03: the owners were shard02', 'from shard02: the owners were shard01'],
    ['has k: 3, not 4 or 5', 'has k: 3, not 4'],
  ]
  for (const [a, b] of same) t.equal(formOf(a), formOf(b), a)
  t.not(formOf('plain 1 was deleted and is there'), formOf('plain 1 was acknowledged and is gone'))
  t.end()
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
  t.match(swarmText(report), /\d+ of \d+ named steps and \d+ of \d+ fault verbs were reached in 1 run; not reached: /)
})

t.test('plans of different seeds differ, and a reduction changes only what it names', (t) => {
  const plans = Array.from({ length: 200 }, (_, seed) => planOf(seed))
  for (const [name, least] of [
    ['emulate', 8],
    ['shards', 8],
    ['mongos', 3],
    ['chunkSizeBytes', 4],
  ] as const)
    t.ok(new Set(plans.map((plan) => plan[name])).size >= least, `${name} varies`)
  t.same(planOf(7, { without: ['crash', 'drop'] }), {
    ...planOf(7),
    faults: planOf(7).faults.filter((verb) => verb !== 'crash' && verb !== 'drop'),
  })
  const { activities, ...rest } = planOf(7)
  const limits = { clients: 1, steps: 3, shards: 1, mongos: 1 }
  t.same(planOf(7, { without: ['placement'], ...limits }), {
    ...rest,
    activities: activities.filter((name) => name !== 'placement' && name !== 'membership'),
    workers: 1,
    stepsOfWorker: 3,
    shards: 1,
    mongos: 1,
  })
  const [single, several] = [planOf(8, { members: 1 }), planOf(8, { members: 3 })]
  t.equal(several.members, 3)
  const withSets = plans.filter(({ members }) => members === 3).length
  t.ok(withSets > 20 && withSets < 60, `${withSets} of 200 plans have replica sets`)
  t.same({ ...several, members: 1, activities: single.activities }, single, 'members change nothing else')
  t.same(planOf(7, { clients: 100, steps: 1000, shards: 100, mongos: 100 }), planOf(7), 'limits add nothing')
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
  t.same(known.seen('shard01', version(2, 9)), [
    { sentence: 'shard01 went back from version 3|0 of app.c to 2|9', ns: 'app.c', ids: [] },
  ])
  known.delete('shard01')
  t.same(known.seen('shard01', version(2, 9)), [])
  t.end()
})

t.test('an invalid option is reported in one sentence', async (t) => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ runs: 0 }, /^runs must be an integer of at least 1\.$/],
    [{ seed: -1 }, /^seed must be an integer of at least 0\.$/],
    [{ minutes: 0 }, /^minutes must be more than 0\.$/],
    [{ without: ['explode'] }, /^explode is neither a fault verb nor an activity; the verbs are crash, .* placement/],
    [{ steps: 0 }, /^steps must be an integer of at least 1\.$/],
    [{ members: 8 }, /^members must be an integer from 1 to 7\.$/],
    [{ mutation: 'nothing' }, /^nothing is not a mutation; the mutations are ownershipFilterOff, /],
  ]
  for (const [options, message] of wrong) {
    const error = await runSwarm(options).catch((thrown: unknown) => thrown)
    t.ok(error instanceof OptionError)
    t.match((error as Error).message, message)
  }
})
