/**
 * `npm run conformance`: the drivers' Unified Test Format against a running cluster, or clusters
 * that it starts itself.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { defaultVersion, emulatedVersions, parseEmulatedVersion, type EmulatedVersion } from '@shardlab/sharding'
import { runProfile } from './profile-run.js'
import { resultsPath, writeResults } from './results.js'
import { runConformance, type Report } from './runner.js'
import { defaultSpecFolder, loadSpecFiles } from './spec-files.js'

const help = `Runs test files of the MongoDB drivers' Unified Test Format through the official Node.js driver.

  npm run conformance -- [options]

  --uri URI       the cluster, with all its routers; default: starts one with two routers
  --dir FOLDER    folder with the JSON files; default: $SHARDLAB_SPEC_DIR, or ../shared/conformance/spec
  --only TEXT     only tests where "path > description" contains TEXT
  --emulate V     version of the started cluster: ${emulatedVersions.join(', ')}
  --all-versions  starts a cluster of each version, one after the other
  --auth          the started clusters have access control, and tests log in as root
  --write         with --all-versions: also writes ${resultsPath}
  --json          prints only {"totals":{"passed","failed","skipped"},"folders":{…},"files":{…},"failures":[…]},
                  with --all-versions one such object for each version
  --help          this text

Tests that are known to fail under Shardlab run as well: one that passes is a failure.
Exit code 0: no test failed; 1: a test failed; 2: wrong options.

Examples:
  npm run conformance
  npm run conformance -- --emulate 4.0 --only "find with"
  npm run conformance -- --dir ~/specifications/source/crud/tests/unified
  npm run conformance -- --uri mongodb://127.0.0.1:27017,127.0.0.1:27018/ --json
`

function fail(message: string): never {
  process.stderr.write(`conformance: ${message}\n`)
  process.exit(2)
}

function options() {
  try {
    return parseArgs({
      options: {
        uri: { type: 'string' },
        dir: { type: 'string' },
        only: { type: 'string' },
        emulate: { type: 'string' },
        'all-versions': { type: 'boolean', default: false },
        auth: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)} (run with --help for the options)`)
  }
}

const {
  uri,
  dir = defaultSpecFolder(),
  only,
  emulate,
  'all-versions': all,
  auth,
  write,
  json,
  help: wantsHelp,
} = options()
if (wantsHelp) {
  process.stdout.write(help)
  process.exit(0)
}
if (dir === null || !existsSync(dir))
  fail(`there is no folder ${dir ?? '../shared/conformance/spec'}; name one with --dir`)
if ([uri !== undefined, emulate !== undefined, all].filter(Boolean).length > 1)
  fail('--uri, --emulate and --all-versions exclude each other; keep one of them')
if (auth && (uri !== undefined || write))
  fail('--auth is for clusters that this program starts, and their results are not recorded')
if (write && (!all || only !== undefined))
  fail('--write records complete runs: use it with --all-versions and no --only')

const selection = { dir, ...(only === undefined ? {} : { only }) }
const reports = await run().catch((error: Error) => fail(error.message))
if (write) writeResults(loadSpecFiles(dir), reports as Map<EmulatedVersion, Report>)
if (json) {
  process.stdout.write(`${JSON.stringify(all ? Object.fromEntries(reports) : [...reports.values()][0])}\n`)
} else {
  for (const [name, report] of reports) process.stdout.write(`${all ? `== ${name}\n` : ''}${textOf(report)}`)
}
process.exitCode = [...reports.values()].some(({ totals }) => totals.failed > 0) ? 1 : 0

/** The reports by version; of a running cluster, by its connection string. */
async function run(): Promise<Map<string, Report>> {
  if (uri !== undefined) return new Map([[uri, await runConformance({ ...selection, uri, onTest: progress })]])
  const results = new Map<string, Report>()
  for (const version of all ? emulatedVersions : [versionOf(emulate)])
    results.set(version, await runProfile(version, { ...selection, auth, onTest: progress }))
  return results
}

function versionOf(text: string | undefined): EmulatedVersion {
  if (text === undefined) return defaultVersion
  return (
    parseEmulatedVersion(text) ?? fail(`--emulate ${text} is unknown; the versions: ${emulatedVersions.join(', ')}`)
  )
}

function progress(done: number, total: number): void {
  if (!process.stderr.isTTY) return
  process.stderr.write(
    `\r  ${'█'.repeat(Math.round((done / total) * 40)).padEnd(40, '░')} ${done}/${total}${done === total ? '\n' : ''}`,
  )
}

function textOf({ totals, folders, failures }: Report): string {
  const counts = (each: { passed: number; failed: number; skipped: number }) =>
    `${String(each.passed).padStart(5)} passed ${String(each.failed).padStart(5)} failed ${String(each.skipped).padStart(5)} skipped`
  const lines = failures.map(({ file, test, message }) => `FAIL ${file} > ${test}\n       ${message}`)
  for (const [folder, result] of Object.entries(folders)) {
    lines.push(`${folder.padEnd(36)} ${counts(result)}`)
    const reasons = Object.entries(result.reasons).toSorted(([, a], [, b]) => b - a)
    for (const [reason, count] of reasons) lines.push(`  ${String(count).padStart(4)} skipped: ${reason}`)
  }
  lines.push(`${'all'.padEnd(36)} ${counts(totals)}`)
  return `${lines.join('\n')}\n`
}
