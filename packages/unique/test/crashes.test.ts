/**
 * Interrupts every step of every write, or drops its answer, with a rival's steps in every order in
 * between. After the reservations have expired and `repair()` has run, no value has two owners, no
 * document is without its value, and no reservation is left.
 */
import { ValueTakenError, type Fields } from '@shardlab/unique'
import { everySchedule, type Choose, type Fate } from './support/scheduler.js'
import { Story, type Client, type Layout } from './support/story.js'

type Act = (client: Client) => Promise<unknown>

interface Rivalry {
  readonly title: string
  readonly before?: Act
  /** Written without the library: nothing is guaranteed for them until they are reserved. */
  readonly past?: readonly Fields[]
  readonly acts: readonly Act[]
}

const insert =
  (_id: number, email: string, handle = `h${_id}`): Act =>
  (client) =>
    client.insert({ _id, email, handle })
const update =
  (_id: number, email: string): Act =>
  (client) =>
    client.update(_id, { email })
const updateBoth =
  (_id: number, email: string, handle: string): Act =>
  (client) =>
    client.update(_id, { email, handle })
const remove =
  (_id: number): Act =>
  (client) =>
    client.remove(_id)

const backfill: Act = (client) => client.maintenance.backfill()
const past: readonly Fields[] = [{ _id: 1, email: 'p', handle: 'h1' }]

/**
 * One writer with every fate at every step, then a rival; after that two writers in every order.
 */
const alone: readonly Rivalry[] = [
  { title: 'backfill', past, acts: [backfill] },
  { title: 'insert', acts: [insert(1, 'a')] },
  { title: 'insert of a value that is taken', before: insert(2, 'a'), acts: [insert(1, 'a')] },
  { title: 'insert of a second value that is taken', before: insert(2, 'b', 'h'), acts: [insert(1, 'a', 'h')] },
  { title: 'update', before: insert(1, 'a'), acts: [update(1, 'b')] },
  { title: 'update of both fields', before: insert(1, 'a'), acts: [updateBoth(1, 'b', 'new')] },
  {
    title: 'update there and back',
    before: insert(1, 'a'),
    acts: [async (client) => (await update(1, 'b')(client), update(1, 'a')(client))],
  },
  { title: 'delete', before: insert(1, 'a'), acts: [remove(1)] },
  {
    title: 'delete and insert',
    before: insert(1, 'a'),
    acts: [async (client) => (await remove(1)(client), insert(2, 'a')(client))],
  },
]

const rivals: readonly Rivalry[] = [
  { title: 'backfill against update', past, acts: [backfill, update(1, 'c')] },
  { title: 'backfill against delete', past, acts: [backfill, remove(1)] },
  { title: 'two backfills', past, acts: [backfill, backfill] },
  { title: 'two inserts of a value', acts: [insert(1, 'a'), insert(2, 'a')] },
  { title: 'two inserts of one document', acts: [insert(1, 'a'), insert(1, 'a')] },
  { title: 'two inserts of one _id', acts: [insert(1, 'a', 'x'), insert(1, 'b', 'y')] },
  { title: 'insert against update', before: insert(1, 'a'), acts: [update(1, 'b'), insert(2, 'b')] },
  { title: 'insert of what an update releases', before: insert(1, 'a'), acts: [update(1, 'b'), insert(2, 'a')] },
  { title: 'insert of what a delete releases', before: insert(1, 'a'), acts: [remove(1), insert(2, 'a')] },
  {
    title: 'two updates to one value',
    before: async (c) => (await insert(1, 'a')(c), insert(2, 'b')(c)),
    acts: [update(1, 'c'), update(2, 'c')],
  },
  {
    title: 'two updates that swap',
    before: async (c) => (await insert(1, 'a')(c), insert(2, 'b')(c)),
    acts: [update(1, 'b'), update(2, 'a')],
  },
  { title: 'two updates of one document', before: insert(1, 'a'), acts: [update(1, 'b'), update(1, 'c')] },
  { title: 'two updates of one document to one value', before: insert(1, 'a'), acts: [update(1, 'b'), update(1, 'b')] },
  { title: 'update against delete', before: insert(1, 'a'), acts: [update(1, 'b'), remove(1)] },
  { title: 'two deletes', before: insert(1, 'a'), acts: [remove(1), remove(1)] },
]

const faults: readonly Fate[] = [
  'run',
  'crash before',
  'crash after',
  'lost request',
  'lost answer',
  'refused',
  'stall',
]

/** @returns the violations */
async function play(
  layout: Layout,
  { before, past: documents = [], acts }: Rivalry,
  choose: Choose,
  maxFaults: number,
  afterwards: Act | null,
): Promise<string[]> {
  const story = new Story(layout, ['email', 'handle'])
  if (before !== undefined) await story.alone(before)
  story.main.documents.push(...documents)
  const outcomes: (string | null)[] = acts.map(() => null)
  const work = acts.map((act, i) =>
    act(story.client(`client ${i + 1}`)).then(
      () => void (outcomes[i] = 'done'),
      (error: Error) => void (outcomes[i] = error.name),
    ),
  )
  await story.scheduler.play(work, { choose, fates: faults, faults: maxFaults, expireMs: 1001 })
  const promised = documents.length === 0
  const wrong = promised ? story.unsafe() : []
  const fates = new Set(story.scheduler.trace.map((line) => /\((.*)\)$/.exec(line)?.[1] ?? 'run'))
  const disturbing = [...fates].filter((fate) => fate !== 'run' && fate !== 'refused')
  if (promised && disturbing.length === 0) wrong.push(...story.leftovers())
  // A single lost answer is compensated by a retry.
  if (promised && disturbing.every((fate) => fate.startsWith('lost')) && maxFaults === 1 && !fates.has('refused')) {
    const calm = new Story(layout, ['email', 'handle'])
    if (before !== undefined) await calm.alone(before)
    const expected = await calm.alone(acts[0]!).then(
      () => 'done',
      (error: Error) => error.name,
    )
    if (expected !== outcomes[0]) wrong.push(`the client got ${outcomes[0]}, not ${expected}`)
    wrong.push(...story.leftovers())
  }
  // A rival wants the value before a repair, while the reservations are valid and after they
  // expire.
  if (afterwards !== null) {
    for (const expire of [false, true]) {
      if (expire) story.expire()
      const failed = await story.alone(afterwards).then(
        () => null,
        (error: unknown) => error,
      )
      if (promised) wrong.push(...story.unsafe())
      if (failed !== null && !(failed instanceof ValueTakenError)) wrong.push(`afterwards: ${String(failed)}`)
    }
  }
  story.expire()
  const { left } = await story.alone((client) => client.maintenance.repair())
  wrong.push(...left.map((finding) => `not repaired: ${JSON.stringify(finding)}`), ...story.violations())
  const { findings } = await story.alone((client) => client.maintenance.verify())
  wrong.push(...findings.map((finding) => `still found: ${JSON.stringify(finding)}`))
  const allowed = new Set(['done', 'ValueTakenError', 'BusyDocumentError', 'UnknownOutcomeError', 'PortError'])
  wrong.push(...outcomes.filter((name) => name !== null && !allowed.has(name)).map((name) => `a client got ${name}`))
  if (wrong.length > 0) wrong.push(...story.scheduler.trace)
  return wrong
}

interface Result {
  readonly title: string
  schedules: number
  readonly wrong: string[][]
}

const long = process.env['SHARDLAB_LONG'] === '1'
const seed = Number(process.env['SHARDLAB_SEED'] ?? Date.now() % 1_000_000)

/** mulberry32 */
function chooser(from: number): Choose {
  let state = from
  return (count) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
}

async function playAll(): Promise<Result[]> {
  const results: Result[] = []
  for (const layout of ['sharded', 'unsharded'] as const) {
    const record = async (
      title: string,
      run: (once: (choose: Choose, maxFaults: number, afterwards?: Act) => Promise<void>) => Promise<number>,
      rivalry: Rivalry,
    ): Promise<void> => {
      const result: Result = { title: `${layout} proxies, ${title}: ${rivalry.title}`, schedules: 0, wrong: [] }
      result.schedules = await run(async (choose, maxFaults, afterwards) => {
        const wrong = await play(layout, rivalry, choose, maxFaults, afterwards ?? null)
        if (wrong.length > 0) result.wrong.push(wrong)
      })
      results.push(result)
    }
    for (const rivalry of alone) {
      const afterwards: Act = (client) => client.insert({ _id: 9, email: 'a', handle: 'h9' })
      await record(
        'every step meets every fate',
        (once) => everySchedule((choose) => once(choose, long ? 2 : 1, afterwards)),
        rivalry,
      )
    }
    for (const rivalry of rivals) {
      await record('every order', (once) => everySchedule((choose) => once(choose, 0), long ? Infinity : 300), rivalry)
      const times = long ? 5000 : 40
      const some = async (once: (choose: Choose, maxFaults: number) => Promise<void>): Promise<number> => {
        for (let i = 0; i < times; i++) await once(chooser(seed + i), 3)
        return times
      }
      await record(`random order and fates, seed ${seed}`, some, rivalry)
    }
  }
  return results
}

// Once loaded, Tap observes every promise, which makes the schedules many times slower.
const results = await playAll()
const { default: t } = await import('tap')

for (const { title, schedules, wrong } of results) {
  t.test(title, (t) => {
    t.ok(schedules > 5, `${schedules} schedules`)
    t.same(wrong.slice(0, 2), [])
    t.end()
  })
}
