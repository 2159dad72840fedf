/** The page about performance and its generator. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { BenchResult } from '../bench.js'
import { atLeast } from '../goals.js'
import { performancePage } from './command.js'
import { printedResult, sit, sittingNames } from './sitting.js'
import { partsOf, sittingPart, withSitting, type Sitting } from './tables.js'

const result = (value: string): BenchResult => ({
  title: 'codec: messages',
  rows: [
    { name: 'write', value },
    { name: '  read | skip', value: `${value}0`, ...atLeast(5, '', Number(value)) },
  ],
  note: 'Medians of three.',
})

const sitting: Sitting = {
  beganAt: '2026-11-24 01:00',
  endedAt: '2026-11-24 02:00',
  commit: '0123456789',
  machine: 'a machine',
  loadAverages: [0.2, 0.05],
  measured: [{ name: 'codec', command: 'npm run bench -- codec', runs: [result('1'), result('2')] }],
  failed: [],
}

const page = (between: string): string =>
  `# Page\n\n<!-- measured: sitting -->\n${between}\n<!-- end -->\n\ntext\n\n<!-- measured: codec -->\n${between}\n<!-- end -->\n\nmore text\n`

t.test('the page has a part for each bench, and no other', async (t) => {
  t.strictSame(partsOf(readFileSync(performancePage, 'utf8')).sort(), [sittingPart, ...sittingNames].sort())
})

t.test('a sitting replaces the parts of the page with all runs, and nothing else', async (t) => {
  const written = withSitting(page('old'), sitting)
  t.equal(
    written,
    `# Page

<!-- measured: sitting -->

| | |
| --- | --- |
| measured | 2026-11-24 01:00 to 2026-11-24 02:00, UTC |
| commit | 0123456789 |
| machine | a machine |
| load average before each run | 0.05 to 0.20 |
| runs of each bench | codec 2 |

<!-- end -->

text

<!-- measured: codec -->

\`npm run bench -- codec\`: codec: messages.

| | run 1 | run 2 | goal |
| --- | --- | --- | --- |
| write | 1 | 2 | |
| read \\| skip | 10, **missed** | 20, **missed** | at least 5 |

Medians of three.

<!-- end -->

more text
`,
  )
  t.equal(withSitting(written, sitting), written, 'a second sitting replaces the first')
})

t.test('failed runs and missing rows are visible', async (t) => {
  const short = { ...result('2'), rows: result('2').rows.slice(1) }
  const command = 'npm run bench -- codec'
  const failed = [{ name: 'codec', run: 3, reason: 'Error: no port' }]
  const some = withSitting(page(''), {
    ...sitting,
    measured: [{ name: 'codec', command, runs: [result('1'), short] }],
    failed,
  })
  t.match(some, '\n| write | 1 | | |\n| read \\| skip | 10, **missed** | 20, **missed** | at least 5 |\n')
  t.match(some, '\n| failed: codec, run 3 | Error: no port |\n')
  const none = withSitting(page(''), { ...sitting, measured: [{ name: 'codec', command, runs: [] }], failed })
  t.match(none, '\n`npm run bench -- codec` failed in each run: see the top of the page.\n')
})

t.test('a bench without a part is refused', async (t) => {
  t.throws(() => withSitting('# Page\n', sitting), { message: /no part for sitting/ })
})

t.test('a bench that fails does not end the sitting', async (t) => {
  const sittings: Sitting[] = []
  const failed = await sit({
    names: ['no such bench', 'nor this'],
    runs: 1,
    isLong: false,
    onProgress: () => {},
    onRound: (sitting) => sittings.push(sitting),
  })
  t.match(failed, [
    { name: 'no such bench', run: 1, reason: /unknown bench no such bench/ },
    { name: 'nor this', run: 1 },
  ])
  t.strictSame(
    sittings.map((sitting) => sitting.failed),
    [failed],
  )
})

t.test('figures that a script prints become rows', async (t) => {
  t.strictSame(
    printedResult('bytes', 'document of 5 bytes\nfind a field      17.0 ns   3 M/s\n$inc a: 3.09 M/s, 1 ns\n\n').rows,
    [
      { name: 'find a field', value: '17.0 ns, 3 M/s' },
      { name: '$inc a', value: '3.09 M/s, 1 ns' },
    ],
  )
})
