/** The checker of list histories accepts those of snapshot isolation, and finds each anomaly. */
import { createRandom, type Random } from '@shardlab/actor'
import fc from 'fast-check'
import t from 'tap'
import {
  isPermitted,
  listAnomalies,
  type ListAnomalyKind,
  type ListHistory,
  type ListOperation,
  type ListTransaction,
} from '@shardlab/scenario'

const keys = [0, 1, 2]
const sessions = 4

type Lists = readonly (readonly number[])[]

interface Open {
  readonly name: string
  readonly snapshot: Lists
  readonly operations: ListOperation[]
}

/** Snapshot isolation, or a model with one defect. */
interface Defects {
  readonly missedConflict?: true
  readonly snapshotPerKey?: true
  readonly halfCommit?: true
  readonly abortLeavesAppends?: true
  readonly readsUncommitted?: true
  readonly staleSessions?: true
}

/** A history of transactions that overlap at random. */
function modelled(random: Random, defects: Defects = {}, steps = 80): ListHistory {
  let lists: Lists = keys.map(() => [])
  const versions: Lists[] = [lists]
  const transactions: ListTransaction[] = []
  const open: (Open | null)[] = Array.from({ length: sessions }, () => null)
  let value = 0
  const own = ({ operations }: Open, key: number) =>
    operations.flatMap((each) => (each.kind === 'append' && each.key === key ? [each.value] : []))
  const visible = (reader: Open, key: number): readonly number[] => {
    const of = defects.snapshotPerKey === true ? lists : reader.snapshot
    const earlier = reader.operations.find((each) => each.kind === 'read' && each.key === key)
    if (earlier?.kind === 'read')
      return [...earlier.values, ...own(reader, key).filter((each) => !earlier.values.includes(each))]
    const others = defects.readsUncommitted === true ? open : []
    const dirty = others.flatMap((each) => (each === null || each === reader ? [] : own(each, key)))
    return [...of[key]!, ...dirty, ...own(reader, key)]
  }
  const end = (session: number, outcome: ListTransaction['outcome']): void => {
    const { name, operations } = open[session]!
    open[session] = null
    transactions.push({ name, session, outcome, isSnapshot: true, operations })
  }
  const commit = (session: number): void => {
    const transaction = open[session]!
    const { snapshot, operations } = transaction
    const written = keys.filter((key) => own(transaction, key).length > 0)
    const conflicts = written.some((key) => lists[key]!.length > snapshot[key]!.length)
    if (conflicts && defects.missedConflict !== true) return end(session, 'aborted')
    const applied = defects.halfCommit === true ? written.slice(0, 1) : written
    lists = lists.map((list, key) => (applied.includes(key) ? [...list, ...own(transaction, key)] : list))
    versions.push(lists)
    // A client that gets no answer does not know.
    end(session, operations.length > 0 && random.chance(1, 10) ? 'unknown' : 'committed')
  }
  const abort = (session: number): void => {
    const transaction = open[session]!
    if (defects.abortLeavesAppends === true) lists = lists.map((list, key) => [...list, ...own(transaction, key)])
    end(session, random.chance(1, 10) && defects.abortLeavesAppends !== true ? 'unknown' : 'aborted')
  }
  for (let step = 0; step < steps; step++) {
    const session = random.below(sessions)
    const key = random.below(keys.length)
    const snapshot = defects.staleSessions === true ? versions[random.below(versions.length)]! : lists
    const transaction = (open[session] ??= { name: `T${step}`, snapshot, operations: [] })
    const choice = random.below(10)
    if (choice < 4) transaction.operations.push({ kind: 'read', key, values: visible(transaction, key) })
    else if (choice < 7) transaction.operations.push({ kind: 'append', key, value: ++value })
    else if (choice < 9) commit(session)
    else abort(session)
  }
  open.forEach((transaction, session) => transaction !== null && end(session, 'aborted'))
  return { transactions, final: new Map(lists.entries()) }
}

const kindsOf = (history: ListHistory): ListAnomalyKind[] =>
  [
    ...new Set(
      listAnomalies(history)
        .filter((each) => !isPermitted(each))
        .map(({ kind }) => kind),
    ),
  ].toSorted()

t.test('histories of snapshot isolation have no forbidden anomaly, but write skew', async (t) => {
  let skewed = 0
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const found = listAnomalies(modelled(createRandom(seed).fork('lists')))
      skewed += found.filter(isPermitted).length
      return found.every(isPermitted)
    }),
    { numRuns: 300 },
  )
  t.ok(skewed > 0, `${skewed} cycles of write skew`)
})

t.test('histories of models with a defect have the anomalies of the defect', async (t) => {
  const expected: readonly (readonly [Defects, readonly ListAnomalyKind[]])[] = [
    [{ missedConflict: true }, ['lost update']],
    [{ snapshotPerKey: true }, ['read skew']],
    [{ halfCommit: true }, ['lost append']],
    [{ abortLeavesAppends: true }, ['aborted read']],
    [{ readsUncommitted: true }, ['aborted read', 'intermediate read', 'circular information flow']],
    [{ staleSessions: true }, ['session order']],
  ]
  for (const [defects, kinds] of expected) {
    const found = new Set<ListAnomalyKind>()
    for (let seed = 1; seed <= 40; seed++)
      for (const kind of kindsOf(modelled(createRandom(seed).fork('lists'), defects, 150))) found.add(kind)
    for (const kind of kinds) t.ok(found.has(kind), `${JSON.stringify(defects)} is found as ${kind}`)
  }
})

interface Planted {
  readonly operations: readonly (readonly ListOperation[])[]
  /** Appended to the lists in the end. */
  readonly appended: Readonly<Record<number, readonly number[]>>
  readonly outcome?: ListTransaction['outcome']
  readonly isOneSession?: true
}

/** Two lists and values that no other transaction has appended. */
interface Ground {
  readonly x: number
  readonly y: number
  readonly atX: readonly number[]
  readonly atY: readonly number[]
}

const append = (key: number, value: number): ListOperation => ({ kind: 'append', key, value })
const read = (key: number, ...values: readonly number[]): ListOperation => ({ kind: 'read', key, values })
const [a, b] = [1001, 1002]

/** The smallest transactions with each anomaly, after those of a history without. */
const plants: Readonly<Record<ListAnomalyKind, (ground: Ground) => Planted>> = {
  'duplicate append': ({ x }) => ({ operations: [[append(x, a)]], appended: { [x]: [a, a] } }),
  'unknown value': ({ x }) => ({ operations: [], appended: { [x]: [a] } }),
  'aborted read': ({ x, atX }) => ({
    operations: [[append(x, a)], [read(x, ...atX, a)]],
    appended: { [x]: [a] },
    outcome: 'aborted',
  }),
  'intermediate read': ({ x, atX }) => ({
    operations: [[append(x, a), append(x, b)], [read(x, ...atX, a)]],
    appended: { [x]: [a, b] },
  }),
  internal: ({ x, atX }) => ({
    operations: [[append(x, a), read(x, ...atX, a), read(x, ...atX)]],
    appended: { [x]: [a] },
  }),
  'incompatible order': ({ x, atX }) => ({
    operations: [[append(x, a)], [append(x, b)], [read(x, ...atX, b)]],
    appended: { [x]: [a, b] },
  }),
  'lost append': ({ x, y }) => ({ operations: [[append(x, a), append(y, b)]], appended: { [x]: [a] } }),
  'lost update': ({ x, atX }) => ({
    operations: [
      [read(x, ...atX), append(x, a)],
      [read(x, ...atX), append(x, b)],
    ],
    appended: { [x]: [a, b] },
  }),
  'dirty write': ({ x, y }) => ({
    operations: [
      [append(x, a), append(y, a)],
      [append(x, b), append(y, b)],
    ],
    appended: { [x]: [a, b], [y]: [b, a] },
  }),
  'circular information flow': ({ x, y, atX, atY }) => ({
    operations: [
      [append(x, a), read(y, ...atY, b)],
      [append(y, b), read(x, ...atX, a)],
    ],
    appended: { [x]: [a], [y]: [b] },
  }),
  'read skew': ({ x, y, atX, atY }) => ({
    operations: [
      [append(x, a), append(y, b)],
      [read(x, ...atX, a), read(y, ...atY)],
    ],
    appended: { [x]: [a], [y]: [b] },
  }),
  'long fork': ({ x, y, atX, atY }) => ({
    operations: [
      [append(x, a)],
      [append(y, b)],
      [read(x, ...atX, a), read(y, ...atY)],
      [read(x, ...atX), read(y, ...atY, b)],
    ],
    appended: { [x]: [a], [y]: [b] },
  }),
  'session order': ({ x, atX }) => ({
    operations: [[append(x, a)], [read(x, ...atX)]],
    appended: { [x]: [a] },
    isOneSession: true,
  }),
  'write skew': ({ x, y, atX, atY }) => ({
    operations: [
      [read(x, ...atX), append(y, a)],
      [read(y, ...atY), append(x, b)],
    ],
    appended: { [y]: [a], [x]: [b] },
  }),
}

/** The same reads contradict several classes. */
const accompanying: Readonly<Partial<Record<ListAnomalyKind, readonly ListAnomalyKind[]>>> = {
  'intermediate read': ['read skew'],
  'lost update': ['read skew'],
}

function planted(kind: ListAnomalyKind, seed: number): ListHistory {
  const random = createRandom(seed).fork('planted')
  const { transactions, final } = modelled(random)
  const [x, y] = random.shuffled(keys) as [number, number]
  const made = plants[kind]({ x, y, atX: final.get(x)!, atY: final.get(y)! })
  const more = made.operations.map((operations, i): ListTransaction => ({
    name: `P${i}`,
    session: made.isOneSession === true ? sessions : null,
    outcome: i === 0 ? (made.outcome ?? 'committed') : 'committed',
    isSnapshot: true,
    operations,
  }))
  const after = [...final].map(([key, values]) => [key, [...values, ...(made.appended[key] ?? [])]] as const)
  return { transactions: [...transactions, ...more], final: new Map(after) }
}

for (const kind of Object.keys(plants) as ListAnomalyKind[])
  t.test(`${kind} is found in every history`, async (t) => {
    fc.assert(
      fc.property(fc.nat(), (seed) => listAnomalies(planted(kind, seed)).some((each) => each.kind === kind)),
      { numRuns: 50 },
    )
    const others = kindsOf(planted(kind, 1)).filter((each) => each !== kind)
    t.same(others, accompanying[kind] ?? [])
  })

t.test('each shard selects its own time for transactions without a snapshot', async (t) => {
  const { transactions, final } = planted('read skew', 1)
  const mixed = transactions.map((each) => (each.name === 'P1' ? { ...each, isSnapshot: false } : each))
  t.same(kindsOf({ transactions: mixed, final }), [])
})

t.test('a transaction of unknown outcome has happened as a whole, or not at all', async (t) => {
  const unknown = (appended: Readonly<Record<number, readonly number[]>>): ListHistory => ({
    transactions: [
      { name: 'T1', session: null, outcome: 'unknown', isSnapshot: true, operations: [append(0, a), append(1, b)] },
    ],
    final: new Map(keys.map((key) => [key, appended[key] ?? []])),
  })
  t.same(kindsOf(unknown({})), [])
  t.same(kindsOf(unknown({ 0: [a], 1: [b] })), [])
  t.same(kindsOf(unknown({ 0: [a] })), ['lost append'])
})

t.test('the sentence of a cycle names its transactions and lists', async (t) => {
  const [found] = listAnomalies(planted('read skew', 1)).filter((each) => !isPermitted(each))
  t.match(found!.sentence, /^P1 did not read in list \d the append of P0, which was read in list \d by P1$/)
})
