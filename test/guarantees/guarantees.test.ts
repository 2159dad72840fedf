import t from 'tap'
import { anomaliesOf } from './history.js'
import { readGuarantees, seedOf, seedsOf } from './results.js'
import type { Table } from './table.js'
import { concernsTable, transactionsTable } from './tables.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const results = readGuarantees()

t.test('a history has the anomalies that its reads show', async (t) => {
  const kept = new Set([1, 3])
  const acknowledgedMs = new Map([
    [1, 100],
    [3, 300],
  ])
  const found = (...reads: (readonly [beganMs: number, ...copies: number[][]])[]) =>
    [
      ...anomaliesOf(
        reads.map(([beganMs, ...copies]) => ({ beganMs, copies })),
        { acknowledgedMs, kept },
      ),
    ].sort()
  t.same(found([100, [1]], [299, [1]], [300, [1, 3]]), [])
  t.same(found([99, []]), [])
  t.same(found([100, []]), ['stale'])
  t.same(found([100, [1, 2]]), ['dirty'])
  t.same(found([50, [1]], [60, []]), ['backwards'])
  t.same(found([100, [1], [1]]), ['orphan'])
  t.same([...anomaliesOf([], { acknowledgedMs: new Map([[2, 200]]), kept })], ['lost'])
})

t.test('every result is of a cell', (t) => {
  const names = new Set([...namesOf(concernsTable), ...namesOf(transactionsTable)])
  t.same(
    Object.keys(results).filter((name) => !names.has(name)),
    [],
  )
  t.end()
})

function namesOf<R, C, A extends string>({ runs, cellsOf, nameOf }: Table<R, C, A>): string[] {
  return runs.flatMap((run) => cellsOf(run)).map((cell) => nameOf(cell))
}

const kindsOf = (texts: readonly string[]): string[] =>
  [...new Set(texts.map((text) => text.split(': ').at(-1)!))].sort()

/** @param isQuick whether quick tests play the run: those with the most anomalies */
function check<R, C, A extends string>(table: Table<R, C, A>, isQuick: (run: R) => boolean): void {
  const { runs, anomalies, cellsOf, isExcluded, nameOf, titleOf, play } = table
  const listedIn = (run: R): string[] =>
    cellsOf(run).flatMap((cell) =>
      anomalies
        .filter((anomaly) => seedOf(results, nameOf(cell), anomaly) !== undefined)
        .map((anomaly) => `${nameOf(cell)}: ${anomaly}`),
    )
  const excludedOf = new Set(
    runs
      .flatMap((run) => cellsOf(run))
      .flatMap((cell) =>
        anomalies.filter((anomaly) => isExcluded(cell, anomaly)).map((anomaly) => `${nameOf(cell)}: ${anomaly}`),
      ),
  )

  t.test(`nothing in the table of ${table.name} is excluded by the manual`, (t) => {
    t.same(
      runs.flatMap(listedIn).filter((text) => excludedOf.has(text)),
      [],
    )
    t.end()
  })

  for (const run of runs.filter((each) => isLong || isQuick(each)))
    t.test(
      `${titleOf(run)}: the seeds of the table play its anomalies, and none that is excluded`,
      { timeout: 600_000 },
      async (t) => {
        const seeds = seedsOf(table, results, run)
        const found = new Set<string>()
        for (const seed of isLong ? seeds : seeds.slice(0, 2)) {
          const played = await play(run, seed)
          const texts = cellsOf(run).flatMap((cell, i) => played[i]!.map((anomaly) => `${nameOf(cell)}: ${anomaly}`))
          t.same(
            texts.filter((text) => excludedOf.has(text)),
            [],
            `seed ${seed}`,
          )
          for (const text of texts) found.add(text)
        }
        const listed = listedIn(run)
        if (isLong)
          t.same(
            listed.filter((text) => !found.has(text)),
            [],
            'if the simulation has changed: node test/dist/guarantees/main.js --seeds 20 --write',
          )
        // What a seed plays changes with the members, but not which kinds of anomalies there are.
        else t.same(kindsOf([...found]), kindsOf(listed))
      },
    )
}

check(concernsTable, ({ writeConcern, fault }) => writeConcern === '1' && /partition|migration/.test(fault))
check(transactionsTable, ({ writeConcern, fault }) => writeConcern === 'majority' && fault === 'delay')
