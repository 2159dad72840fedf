/**
 * Two clients initialize the library, and then insert three values, delete, backfill and repair, in
 * every order of their commands; a client may stop at any command, and all reservations may expire.
 * In no state do two documents have a value, unless both had it before. From every state in which
 * the clients rest, a repair and a backfill lead to a consistent one.
 *
 * `npm run test:long` searches larger sets.
 */
import type { Fields } from '@shardlab/unique'
import { playLive } from './support/model/live.js'
import type { Command, Reply } from './support/model/collections.js'
import type { Setting } from './support/model/program.js'
import { leftovers, recovered } from './support/model/rest.js'
import { search, textOf, type Problem, type Searched } from './support/model/search.js'

const documentsOf = (emails: string): readonly Fields[] => [...emails].map((email, i) => ({ _id: i + 1, email }))

/** Existing documents, acts of each client, crashes, expiries. */
type Size = readonly [emails: string, acts: readonly [number, number], crashes: number, expiries: number]

const quick: readonly Size[] = [
  ['', [1, 1], 1, 1],
  ['a', [1, 1], 1, 1],
  ['aa', [1, 1], 1, 0],
]

/** Clients with transactions, and beside one without. */
const transacting: readonly (readonly [boolean, boolean])[] = [
  [true, true],
  [true, false],
]
const quickWithTransactions: readonly Size[] = [
  ['', [1, 1], 1, 1],
  ['a', [1, 1], 0, 0],
]
const wholeWithTransactions: readonly Size[] = [
  ['', [2, 1], 1, 1],
  ['', [1, 2], 1, 1],
  ['a', [2, 1], 1, 0],
  ['a', [1, 1], 1, 1],
  ['a', [1, 2], 0, 0],
  ['aa', [1, 1], 1, 0],
  ['ab', [1, 1], 1, 0],
]
const whole: readonly Size[] = [
  ['', [2, 2], 1, 1],
  ['a', [2, 1], 1, 1],
  ['a', [1, 2], 1, 1],
  ['a', [2, 1], 2, 0],
  ['aa', [1, 1], 1, 1],
  ['ab', [1, 1], 1, 1],
  ['abc', [1, 1], 1, 0],
]

const long = process.env['SHARDLAB_LONG'] === '1'
const seed = Number(process.env['SHARDLAB_SEED'] ?? Date.now() % 1_000_000)

const setting = {
  layout: 'sharded',
  markers: true,
  transactions: [false, false],
  values: ['a', 'b', 'c'],
} as const

interface Result extends Pick<Searched, 'states' | 'complete'> {
  readonly title: string
  readonly violation: readonly string[] | null
  readonly notRecovered: readonly string[]
  readonly rests: number
  readonly different: readonly string[]
}

async function resultOf(title: string, problem: Problem, samples: number): Promise<Result> {
  const searched = await search(problem)
  const { states, complete, violation, rests, database } = searched
  const notRecovered: string[] = []
  for (const rest of rests) {
    const documents = database.states.values[rest]!
    const wrong = await recovered(problem.layout, documents, problem.documents)
    // With transactions only a client that stops, or a backfill that is too slow, leaves work.
    if (problem.crashes + problem.expiries === 0 && problem.transactions.every(Boolean))
      wrong.push(...leftovers(problem.layout, documents))
    if (wrong.length > 0) notRecovered.push(`${JSON.stringify(documents)}: ${wrong.join('; ')}`)
    if (notRecovered.length > 1) break
  }
  return {
    title,
    states,
    complete,
    violation: violation === null ? null : [...violation.what, ...violation.steps.map(textOf)],
    notRecovered,
    rests: rests.length,
    different: await differencesFromLive(problem, searched, samples),
  }
}

/** Plays the ways to some states, chosen by the seed, with clients that run. */
async function differencesFromLive(problem: Problem, searched: Searched, samples: number): Promise<string[]> {
  const { states, stepsTo, databaseOf, database } = searched
  const different: string[] = []
  let random = seed
  for (let i = 0; i < samples; i++) {
    random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fffffff
    const state = random % states
    const expected = JSON.stringify(database.states.values[databaseOf(state)])
    const steps = stepsTo(state)
    const played = await playLive(problem, steps).then(
      (documents) => JSON.stringify(documents),
      (error: unknown) => String(error),
    )
    if (played !== expected) different.push(`${played} instead of ${expected}`, ...steps.map(textOf))
  }
  return different
}

/** Rules of the library; without any of them, two documents get one value. */
const broken: readonly (Partial<Setting> & { readonly title: string; readonly size: Size })[] = [
  { title: 'clients write before a backfill as after it', size: ['a', [1, 0], 0, 0], markers: false },
  {
    title: 'transactions write before a backfill as after it',
    size: ['a', [1, 0], 0, 0],
    markers: false,
    transactions: [true, true],
  },
  {
    title: 'the search for values without reservations finds nothing',
    size: ['a', [1, 0], 0, 0],
    rewrite: (command): Command | Reply =>
      command.method === 'find' && 'email' in (command.args[0] as Fields) ? { value: [] } : command,
  },
  {
    title: 'an expired reservation is released although its document may exist',
    size: ['', [1, 1], 1, 1],
    rewrite: (command): Command | Reply =>
      command.collection === 'main' && command.method === 'findOne' && '_id' in (command.args[0] as Fields)
        ? { value: null }
        : command,
  },
  { title: 'a client writes although its reservation may have expired', size: ['a', [1, 1], 0, 1], stoppedClock: 0 },
]

const problemOf = ([emails, acts, crashes, expiries]: Size): Problem => ({
  ...setting,
  documents: documentsOf(emails),
  acts,
  crashes,
  expiries,
})

// Once loaded, tap observes every promise, which makes the search many times slower.
const results: Result[] = []
const layouts = ['sharded', 'unsharded'] as const
for (const [i, size] of (long ? whole : quick).entries())
  // Both layouts have as many states; a quick run searches each large set in one of them.
  for (const layout of long || i === 0 ? layouts : [layouts[i % 2]!]) {
    const [emails, acts, crashes, expiries] = size
    const title = `${layout}, existing values ${emails || 'none'}, ${acts.join(' and ')} acts, ${crashes} crashes, ${expiries} expiries`
    results.push(await resultOf(title, { ...problemOf(size), layout }, long ? 2000 : 100))
  }
for (const transactions of transacting)
  for (const size of long ? wholeWithTransactions : quickWithTransactions)
    for (const layout of layouts) {
      const [emails, acts, crashes, expiries] = size
      const who = transactions[1] ? 'transactions' : 'one client with transactions'
      const title = `${who}, ${layout}, existing values ${emails || 'none'}, ${acts.join(' and ')} acts, ${crashes} crashes, ${expiries} expiries`
      results.push(await resultOf(title, { ...problemOf(size), layout, transactions }, long ? 2000 : 50))
    }
const canaries: { title: string; steps: readonly string[]; what: readonly string[]; live: readonly string[] }[] = []
for (const { title, size, ...rule } of broken) {
  const problem = { ...problemOf(size), ...rule }
  const { violation } = await search(problem)
  const emails =
    violation === null ? [] : (await playLive(problem, violation.steps)).main.map(({ email }) => String(email))
  canaries.push({ title, what: violation?.what ?? [], steps: violation?.steps.map(textOf) ?? [], live: emails })
}
const { default: t } = await import('tap')

for (const { title, states, complete, violation, notRecovered, rests, different } of results) {
  t.test(`${title}: no two documents get one value`, (t) => {
    t.equal(violation, null)
    t.ok(complete, `${states} states`)
    t.same(notRecovered, [], `${rests} states of rest`)
    t.same(different, [], `seed ${seed}: running clients do the same`)
    t.end()
  })
}

for (const { title, what, steps, live } of canaries) {
  t.test(`if ${title}, the search finds two documents with one value`, (t) => {
    t.match(what[0], /shares/, `${steps.length} steps`)
    t.ok(new Set(live).size < live.length, 'running clients get there, too')
    t.end()
  })
}
