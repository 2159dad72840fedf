/**
 * `@shardlab/unique` under a virtual clock: clients write the same values while members crash and
 * clients stop; and every shard crashes at every step. `SHARDLAB_SEED=7` plays only this seed,
 * `SHARDLAB_LONG=1` plays 2,000 schedules.
 */
import { createRandom } from '@shardlab/actor'
import { createSimulatedCluster } from '@shardlab/cluster'
import { UniqueWriter } from '@shardlab/scenario'
import { mustBeExpected, playUnique, UniqueStory, type Outcome, type Transacting } from './unique-story.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const long = SHARDLAB_LONG === '1'
const seeds =
  SHARDLAB_SEED === undefined ? Array.from({ length: long ? 80 : 2 }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

const transactingOf = (seed: number): Transacting => (['all', 'none', 'none', 'some'] as const)[seed % 4]!
/** A transaction has to complete between two crashes, so it takes more attempts. */
const schedulesOf = (seed: number): number => (long ? 25 : transactingOf(seed) === 'none' ? 12 : 3)

const document = { _id: 1, email: 'v1', tenant: 1, handle: 'v5', region: 1 }
const insert = (writer: UniqueWriter): Promise<void> => writer.insert(document)

const writes: Readonly<
  Record<
    string,
    { readonly before: 'inserted' | 'past' | null; readonly write: (writer: UniqueWriter) => Promise<void> }
  >
> = {
  insert: { before: null, write: insert },
  update: { before: 'inserted', write: (writer) => writer.update(1, { email: 'v3', handle: 'v0' }) },
  backfill: { before: 'past', write: (writer) => writer.backfill() },
  delete: { before: 'inserted', write: (writer) => writer.remove(1) },
}

/**
 * Every shard crashes while each command of a write is on its way; a rival writes the value before
 * the repair.
 */
async function crashAtEveryStep(
  name: string,
  hasTransactions: boolean,
): Promise<{ violations: readonly string[]; steps: number }> {
  const { before, write } = writes[name]!
  const cluster = await createSimulatedCluster({ seed: 11, shards: 2, mongos: 1, findReplicaSetHostTimeoutMs: 1000 })
  const random = createRandom(11).fork(name)
  const story = new UniqueStory(cluster, random, 'none')
  await story.prepare()
  let steps = 1
  for (let step = 1; step <= steps; step++) {
    for (const shard of cluster.shards) {
      // While the command is on its way, and when it may have been executed.
      for (const delayMs of long ? [0, 0.5, 1, 2] : [0.5]) {
        const title = `${shard} at step ${step} after ${delayMs} ms`
        const preparing = new UniqueWriter(story.world(random.fork(`${title}, before`), null))
        if (before === 'inserted') await insert(preparing)
        else if (before === 'past') await preparing.insertPast(document)
        let sent = 0
        let crashing: Promise<void> = Promise.resolve()
        const writer = new UniqueWriter(
          story.world(
            random.fork(title),
            null,
            () => {
              if (++sent === step) crashing = crash(delayMs, shard)
            },
            hasTransactions,
          ),
        )
        const crash = async (ms: number, member: string): Promise<void> => {
          await cluster.advance(ms)
          await cluster.crash(member)
          await cluster.advance(20)
          await cluster.restart(member)
        }
        await write(writer).catch(mustBeExpected)
        await crashing
        if (step === 1) steps = Math.max(steps, sent)
        // A document without a reservation does not protect its value: a backfill comes first.
        const rival = new UniqueWriter(story.world(random.fork(`${title}, rival`), null))
        if (before !== 'past')
          await rival.insert({ _id: 2, email: 'v1', tenant: 1, handle: 'v4', region: 2 }).catch(mustBeExpected)
        await story.settle(title, before !== 'past')
      }
    }
  }
  await cluster.stop()
  return { violations: story.violations, steps }
}

// A loaded tap watches every promise, which makes this much slower.
const days = new Map<number, Outcome>()
for (const seed of seeds) days.set(seed, await playUnique(seed, schedulesOf(seed), transactingOf(seed)))
const crashed = new Map<string, Awaited<ReturnType<typeof crashAtEveryStep>>>()
for (const name of Object.keys(writes)) {
  crashed.set(name, await crashAtEveryStep(name, false))
  // A backfill has none.
  if (name === 'update' || (long && name !== 'backfill'))
    crashed.set(`${name} in a transaction`, await crashAtEveryStep(name, true))
}
const { default: t } = await import('tap')

for (const [seed, day] of days) {
  t.test(
    `seed ${seed}, transactions: ${transactingOf(seed)} (again: SHARDLAB_SEED=${seed} npm test -- simulation/unique)`,
    { timeout: 120_000 },
    async (t) => {
      t.same(day.violations, [])
      const schedules = schedulesOf(seed)
      t.ok(day.crashes >= schedules, `${day.crashes} crashes`)
      t.ok(day.stopped >= Math.min(3, schedules / 3), `${day.stopped} clients stopped`)
      t.ok(day.acknowledged >= schedules * 3, `${day.acknowledged} writes acknowledged`)
      if (long)
        t.equal(
          (await playUnique(seed, schedulesOf(seed), transactingOf(seed))).traceHash,
          day.traceHash,
          'the same again',
        )
    },
  )
}

for (const [name, { violations, steps }] of crashed) {
  t.test(`${name} survives a crash of every shard at every step`, (t) => {
    t.same(violations, [])
    t.ok(steps >= 5, `${steps} steps`)
    t.end()
  })
}
