import t from 'tap'
import { anomalies, cellsOf, isExcluded, nameOf, runs, type Run } from './cells.js'
import { anomaliesOf } from './history.js'
import { play, type Played } from './play.js'
import { readGuarantees, seedOf, seedsOf } from './results.js'

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

t.test('nothing in the table is excluded by the manual', async (t) => {
  const names = new Set(runs.flatMap(cellsOf).map(nameOf))
  t.same(
    Object.keys(results).filter((name) => !names.has(name)),
    [],
    'every result is of a cell',
  )
  for (const cell of runs.flatMap(cellsOf))
    for (const anomaly of anomalies)
      if (seedOf(results, cell, anomaly) !== undefined && isExcluded(cell, anomaly))
        t.fail(`${anomaly} in ${nameOf(cell)}`)
})

/** As `cell: anomaly`. */
const textsOf = (run: Run, played: Played): string[] =>
  cellsOf(run).flatMap((cell, i) => played[i]!.map((anomaly) => `${nameOf(cell)}: ${anomaly}`))

function excludedIn(run: Run, played: Played): string[] {
  return cellsOf(run).flatMap((cell, i) =>
    played[i]!.filter((anomaly) => isExcluded(cell, anomaly)).map((anomaly) => `${nameOf(cell)}: ${anomaly}`),
  )
}

const kindsOf = (texts: readonly string[]): string[] =>
  [...new Set(texts.map((text) => text.split(': ').at(-1)!))].sort()

/** Quick: the runs with the most anomalies. */
const replayed = runs.filter(
  ({ writeConcern, fault }) => isLong || (writeConcern === '1' && /partition|migration/.test(fault)),
)

for (const run of replayed)
  t.test(
    `w: ${run.writeConcern}, ${run.fault}: the seeds of the table play its anomalies, and none that is excluded`,
    async (t) => {
      t.setTimeout(600_000)
      const seeds = seedsOf(results, run)
      const found = new Set<string>()
      for (const seed of isLong ? seeds : seeds.slice(0, 2)) {
        const played = await play(run, seed)
        t.same(excludedIn(run, played), [], `seed ${seed}`)
        for (const text of textsOf(run, played)) found.add(text)
      }
      const listed = cellsOf(run).flatMap((cell) =>
        anomalies
          .filter((anomaly) => seedOf(results, cell, anomaly) !== undefined)
          .map((anomaly) => `${nameOf(cell)}: ${anomaly}`),
      )
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
