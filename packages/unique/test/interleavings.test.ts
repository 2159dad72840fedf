/**
 * Two clients initialize the library and then backfill, insert, delete or repair, in every order of
 * their steps; one may stop at any step, and all reservations may expire at any step. In no state
 * do two documents have a value, unless both had it before. A repair and a backfill then lead to a
 * consistent state. `npm run test:long` plays all programs, `npm test` a share.
 */
import { createHash } from 'node:crypto'
import { ValueTakenError, type Fields } from '@shardlab/unique'
import { everyState } from './support/explore.js'
import { Story, type Client, type Layout } from './support/story.js'

interface Act {
  readonly title: string
  readonly run: (client: Client, story: Story) => Promise<unknown>
}

const init: Act = { title: 'init', run: (client) => client.maintenance.begin() }
const backfill: Act = { title: 'backfill', run: (client) => client.maintenance.backfill() }
const repair: Act = { title: 'repair', run: (client) => client.maintenance.repair() }
const insert = (_id: number, email: string): Act => ({
  title: `insert ${email}`,
  run: (client) => client.insert({ _id, email }),
})
const remove = (_id: number): Act => ({ title: `delete ${_id}`, run: (client) => client.remove(_id) })

const beginnings: readonly (readonly Fields[])[] = [
  [],
  [{ _id: 1, email: 'a' }],
  [
    { _id: 1, email: 'a' },
    { _id: 2, email: 'a' },
  ],
  [
    { _id: 1, email: 'a' },
    { _id: 2, email: 'b' },
    { _id: 3, email: 'c' },
  ],
]

interface Program {
  readonly documents: readonly Fields[]
  readonly layout: Layout
  /** After `init`. */
  readonly acts: readonly [readonly Act[], readonly Act[]]
}

const reservationMs = 1000

/** Values that documents share, unless both had them at the beginning. */
function shared(documents: readonly Fields[], before: readonly Fields[]): string[] {
  return documents.flatMap((each, i) => {
    const others = documents.filter((other, j) => j !== i && other['email'] === each['email'])
    const isOld = ({ _id, email }: Fields): boolean =>
      before.some((old) => old['_id'] === _id && old['email'] === email)
    return others.length === 0 || [each, ...others].every(isOld)
      ? []
      : [`${String(each['_id'])} shares ${String(each['email'])}`]
  })
}

/** @returns violations, with the steps that lead to the first */
async function explore(program: Program, maxStates: number, markers = true) {
  const wrong: string[][] = []
  const finished = new Set<string>()
  const explored = await everyState(async (choose, isNew) => {
    const story = new Story(program.layout, ['email'], markers)
    story.main.documents.push(...program.documents)
    let answered = false
    const run = async (name: string, acts: readonly Act[]): Promise<void> => {
      const client = story.client(name)
      await init.run(client, story)
      answered = true
      // A refused write is not the end of the program.
      for (const act of acts) await act.run(client, story).catch(mustBeExpected)
    }
    const work = new Map(program.acts.map((acts, i) => [`client ${i + 1}`, run(`client ${i + 1}`, acts)]))
    const found: string[] = []
    const stored = (): string =>
      JSON.stringify([story.main.documents, story.proxies.map(({ collection }) => collection.documents)])
    for (const each of work.values()) each.catch((error: unknown) => found.push(String(error)))
    await story.scheduler.explore(work, choose, {
      expireMs: reservationMs + 1,
      mayExpire: () => stored().includes('"reserved"'),
      look: () => {
        if (answered) found.push(...shared(story.main.documents, program.documents))
        return found.length === 0 && isNew(hash(stored() + story.scheduler.key))
      },
    })
    const end = stored()
    if (found.length === 0 && !finished.has(end)) {
      finished.add(end)
      found.push(...(await settle(story, program.documents)))
    }
    if (found.length > 0 && wrong.length < 2) wrong.push([...found, ...story.scheduler.trace])
  }, maxStates)
  return { ...explored, wrong }
}

/** The guide's steps after a crash, by a new client. */
async function settle(story: Story, before: readonly Fields[]): Promise<string[]> {
  const wrong: string[] = []
  const check = (what: string): void =>
    void wrong.push(...shared(story.main.documents, before).map((e) => `${what}: ${e}`))
  const client = story.client()
  await client.maintenance.begin()
  const refused = async (email: unknown, when: string): Promise<void> => {
    const inserted = await client.insert({ _id: 100, email }).then(
      () => true,
      (error: unknown) => (mustBeExpected(error), false),
    )
    if (inserted) wrong.push(`${when}: a second document got ${String(email)}`)
  }
  for (const { email } of [...story.main.documents]) await refused(email, 'before the repair')
  story.expire()
  await client.maintenance.repair()
  check('after the repair')
  let report = await client.maintenance.backfill()
  for (const finding of report.findings) {
    if (finding.kind !== 'duplicate') wrong.push(`found ${JSON.stringify(finding)}`)
    // The user follows the report, and uses the value before the next backfill.
    await client.remove(finding.kind === 'duplicate' ? finding.holder : null)
    for (const { email } of [...story.main.documents]) await refused(email, 'after a duplicate was deleted')
  }
  if (report.findings.length > 0) {
    if (report.enforcing || report.next === null) wrong.push(`not reported: ${JSON.stringify(report)}`)
    report = await client.maintenance.backfill()
  }
  if (!report.enforcing || report.next !== null) wrong.push(`not enforcing: ${JSON.stringify(report)}`)
  const verified = await client.maintenance.verify()
  if (verified.findings.length > 0 || verified.next !== null) wrong.push(`found: ${JSON.stringify(verified)}`)
  for (const { email } of [...story.main.documents]) await refused(email, 'while enforcing')
  return [...wrong, ...story.violations()]
}

function mustBeExpected(error: unknown): void {
  const names = ['BusyDocumentError', 'ReservationLostError']
  if (!(error instanceof ValueTakenError) && !names.includes((error as Error).name)) throw error
}

const hash = (text: string): string => createHash('md5').update(text).digest('base64')

const long = process.env['SHARDLAB_LONG'] === '1'
const seed = Number(process.env['SHARDLAB_SEED'] ?? Date.now() % 1_000_000)

/** Documents of client 1 have the _id 10, those of client 2 the _id 20. */
function programs(layouts: readonly Layout[]): Program[] {
  return beginnings.flatMap((documents) => {
    const old = documents.slice(0, 2).map(({ _id }) => remove(_id as number))
    const actsOf = (_id: number): Act[] => [insert(_id, 'a'), insert(_id, 'b'), backfill, repair, ...old]
    // Swapped clients are equal.
    const one = actsOf(10).flatMap((a, i) =>
      actsOf(20)
        .slice(i)
        .map((b) => [[a], [b]] as const),
    )
    const two = [
      [insert(10, 'a'), remove(10)],
      [backfill, insert(10, 'a')],
      [repair, insert(10, 'b')],
      ...old.map((each) => [each, insert(10, 'a')]),
      ...old.map((each) => [each, backfill]),
    ].flatMap((a) => actsOf(20).map((b) => [a, [b]] as const))
    return layouts.flatMap((layout) => [...one, ...two].map((acts) => ({ documents, layout, acts })))
  })
}

const titleOf = ({ documents, layout, acts }: Program): string =>
  `${layout}, documents with ${documents.map(({ email }) => String(email)).join() || 'nothing'}: ${acts.map((each) => ['init', ...each.map(({ title }) => title)].join(', ')).join(' against ')}`

/** Inserts of values that have no reservation yet, and some other programs. */
function share(all: readonly Program[]): Program[] {
  const wanted = [/a: init, insert a against init, backfill$/, /a,a: init, insert a against init, delete 1$/]
  let state = seed
  const others = Array.from({ length: 6 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return all[(state >> 8) % all.length]!
  })
  return [...all.filter((each) => wanted.some((title) => title.test(titleOf(each)))), ...others]
}

// Once loaded, tap observes every promise, which makes this many times slower.
const results: { title: string; states: number; complete: boolean; wrong: string[][] }[] = []
const chosen = long ? programs(['sharded', 'unsharded']) : share(programs(['sharded']))
for (const program of chosen)
  results.push({ title: titleOf(program), ...(await explore(program, long ? Infinity : 1500)) })
const canary = await explore(
  { documents: [{ _id: 1, email: 'a' }], layout: 'sharded', acts: [[insert(10, 'a')], []] },
  1000,
  false,
)
const { default: t } = await import('tap')

for (const { title, states, complete, wrong } of results) {
  t.test(`${title}: no two documents get one value`, (t) => {
    t.ok(complete || !long, `seed ${seed}, ${states} states`)
    t.same(wrong, [])
    t.end()
  })
}

t.test('without markers, the exploration finds two documents with one value', (t) => {
  t.match(canary.wrong[0]?.[0], /shares a/)
  t.end()
})
