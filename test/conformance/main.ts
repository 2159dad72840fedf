/**
 * `npm run conformance`: the drivers' Unified Test Format against a running cluster, or one that it
 * starts itself.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { ClusterOptions, ShardedCluster } from 'shardlab'
import { runConformance, type Report } from './runner.js'
import { defaultSpecFolder } from './spec-files.js'

const help = `Runs test files of the MongoDB drivers' Unified Test Format through the official Node.js driver.

  npm run conformance -- [options]

  --uri URI       the cluster, with all its routers; default: starts one with two routers
  --dir FOLDER    folder with the JSON files; default: $SHARDLAB_SPEC_DIR, or ../shared/conformance/spec
  --only TEXT     only tests where "path > description" contains TEXT
  --emulate V     version of the started cluster
  --json          prints only {"totals":{"passed","failed","skipped"},"folders":{…},"failures":[…]}
  --help          this text

Exit code 0: no test failed; 1: a test failed; 2: wrong options.

Examples:
  npm run conformance
  npm run conformance -- --dir ~/specifications/source/crud/tests/unified --only "find with"
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
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)} (run with --help for the options)`)
  }
}

const { uri, dir = defaultSpecFolder(), only, emulate, json, help: wantsHelp } = options()
if (wantsHelp) {
  process.stdout.write(help)
  process.exit(0)
}
if (dir === null || !existsSync(dir))
  fail(`there is no folder ${dir ?? '../shared/conformance/spec'}; name one with --dir`)
if (uri !== undefined && emulate !== undefined)
  fail('--emulate applies only to a cluster started here; remove --uri or --emulate')

const cluster = uri === undefined ? await startCluster().catch((error: Error) => fail(error.message)) : undefined
try {
  const report = await runConformance({
    uri: uri ?? cluster!.uri,
    dir,
    ...(only === undefined ? {} : { only }),
    onTest: (done, total) => progress(done, total),
  }).catch((error: Error) => fail(error.message))
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : textOf(report))
  process.exitCode = report.totals.failed > 0 ? 1 : 0
} finally {
  await cluster?.stop()
}

async function startCluster(): Promise<ShardedCluster> {
  // Loaded only here: a run against another cluster does not need Shardlab.
  const { ShardedCluster } = await import('shardlab')
  const version = emulate === undefined ? {} : { emulate: emulate as NonNullable<ClusterOptions['emulate']> }
  return ShardedCluster.start({ mongos: 2, ...version })
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
