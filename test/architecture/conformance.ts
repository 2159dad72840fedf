import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import type { Exception } from '../conformance/exception.js'
import type { RecordedFiles } from '../conformance/results.js'
import type { FileResult } from '../conformance/runner.js'
import { skipKinds, type SkipKind } from '../conformance/skip-kinds.js'

const kinds = Object.keys(skipKinds) as SkipKind[]
const outcomes = ['passed', 'failed', ...kinds] as const
type Counts = Record<(typeof outcomes)[number], number>

const link = '[conformance](conformance.md)'

/** The section of compatibility.md: the results of each version, in one table. */
export function specificationSection(files: RecordedFiles): string[] {
  const totals = new Map(emulatedVersions.map((version) => [version, countsOf(files, version)]))
  const failed = [...totals.values()].reduce((sum, counts) => sum + counts.failed, 0)
  const every = totalOf(totals.get(emulatedVersions[0])!)
  return [
    "## Drivers' specification tests",
    '',
    `In the last run of the ${every} tests in ${Object.keys(files).length} files under every version`,
    `(\`npm run conformance -- --all-versions\`), ${failed === 0 ? 'none' : failed} failed. Tests that do not apply are`,
    `counted by reason. ${link} has the results of each suite, and the`,
    'names of tests that are known to fail.',
    '',
    ...tableOf([...totals]),
    '',
    ...legend(files),
    '',
  ]
}

/** docs/reference/conformance.md */
export function conformancePage(notice: string, files: RecordedFiles, exceptions: readonly Exception[]): string {
  const suites = [...new Set(Object.keys(files).map(suiteOf))]
  const lines = [
    notice,
    '',
    "# Drivers' specification tests",
    '',
    "The results of the drivers' unified specification tests under every emulated version, on a cluster",
    'of two shards and two routers, with the Node.js driver of `package.json`. `npm run conformance --',
    '--all-versions --write` runs all tests and records the results. `npm test` runs some of the files',
    'again under each version, and `npm run test:long` all of them; both fail when a result differs from',
    'the recorded one.',
    '',
    'With access control, and a user in each client (`--auth`), the results are the same. Tests that must',
    'not have users are then skipped.',
    '',
    'A test counts as passed, as failed, or for the reason why it was skipped:',
    '',
    ...legend(files),
    '',
    ...suites.flatMap((suite) => [
      `## ${suite}`,
      '',
      ...tableOf(emulatedVersions.map((version) => [version, countsOf(files, version, suite)])),
      '',
    ]),
    '## Tests that need their own wire version',
    '',
    'Current drivers connect only to servers with wire version 9 or higher, so `hello` announces 9 for',
    'older versions too. Drivers then send requests that they would refuse to send to the real version,',
    'and these tests expect the refusal. Each of them was run, and none passes.',
    '',
    ...exceptionTable(files, exceptions, 'wire'),
    '',
    '## Tests for which the driver differs',
    '',
    ...exceptionTable(files, exceptions, 'driver'),
    '',
    '## Tests that expect what servers of the version do not do',
    '',
    ...exceptionTable(files, exceptions, 'specification'),
    '',
    '## Tests of features that Shardlab refuses',
    '',
    ...exceptionTable(files, exceptions, 'feature'),
    '',
  ]
  return lines.join('\n')
}

/** Of the reasons that occur. */
function legend(files: RecordedFiles): string[] {
  return kinds
    .filter((kind) =>
      Object.values(files).some(({ results }) => emulatedVersions.some((version) => results[version][kind])),
    )
    .map((kind) => `- ${skipKinds[kind].title}: the test ${skipKinds[kind].about}.`)
}

function tableOf(rows: readonly (readonly [EmulatedVersion, Counts])[]): string[] {
  const used = outcomes.filter(
    (outcome) => outcome === 'passed' || outcome === 'failed' || rows.some(([, counts]) => counts[outcome] > 0),
  )
  return [
    `| ${['under', ...used.map(titleOf)].join(' | ')} |`,
    `| ${['under', ...used].map(() => '---').join(' | ')} |`,
    ...rows.map(([name, counts]) => `| ${[name, ...used.map((outcome) => counts[outcome])].join(' | ')} |`),
  ]
}

const titleOf = (outcome: (typeof outcomes)[number]): string =>
  outcome === 'passed' || outcome === 'failed' ? outcome : skipKinds[outcome].title

/** With the versions in which a file has tests that were skipped for such a reason. */
function exceptionTable(files: RecordedFiles, exceptions: readonly Exception[], kind: Exception['kind']): string[] {
  const rows = exceptions
    .filter((each) => each.kind === kind && files[each.path] !== undefined)
    .map(({ path, tests, reason }) => {
      const results = files[path]!.results
      const versions = emulatedVersions.filter((version) => (results[version][kind] ?? 0) > 0)
      return `| ${path} | ${tests?.join('; ') ?? 'all'} | ${versions.join(', ')} | ${reason} |`
    })
  return ['| file | tests | versions | reason |', '| --- | --- | --- | --- |', ...rows]
}

function countsOf(files: RecordedFiles, version: EmulatedVersion, suite?: string): Counts {
  const counts = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Counts
  for (const [path, { results }] of Object.entries(files)) {
    if (suite !== undefined && suiteOf(path) !== suite) continue
    for (const [outcome, count] of Object.entries(results[version]) as [keyof FileResult, number][])
      counts[outcome] += count
  }
  return counts
}

const totalOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)
const suiteOf = (path: string): string => path.slice(0, path.indexOf('/'))
