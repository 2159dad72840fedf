/**
 * `npm test [-- options] [part of a path …]`: installs and builds what is missing, then runs the tests.
 *
 *   --long            also what takes minutes (SHARDLAB_LONG=1)
 *   --except=PART     leaves out the files whose path contains PART; may be repeated
 *   --output-file=F   writes the raw TAP to F as well
 *   other options     go to tap, for example --reporter=tap or --bail
 */
import { writeFileSync } from 'node:fs'
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled, ensureTapBuilt } from './lib/install.mjs'
import { main, run, ScriptError } from './lib/processes.mjs'
import { TapResults } from './lib/tap-results.mjs'
import { testFiles } from './lib/test-files.mjs'
import { installedBin } from './lib/workspace.mjs'

const quickTimeoutSecs = 120
const longTimeoutSecs = 3600

await main(async (args) => {
  const long = args.includes('--long')
  const valuesOf = (option) => args.filter((arg) => arg.startsWith(`${option}=`)).map((arg) => arg.slice(option.length + 1))
  const exceptions = valuesOf('--except')
  const outputFile = valuesOf('--output-file').at(-1)
  const filters = args.filter((arg) => !arg.startsWith('-'))
  const options = args.filter((arg) => arg.startsWith('-') && !/^--(long|except=.*|output-file=.*)?$/.test(arg))

  await ensureInstalled()
  // Before the build: the set is also what the tests are typed with.
  await ensureTapBuilt()
  await ensureBuilt()

  const files = testFiles(filters).filter((file) => !exceptions.some((part) => file.includes(part)))
  if (files.length === 0) throw new ScriptError(`no test file matches ${filters.join(' ') || 'anything'}`, 2)
  const timeout = `--timeout=${long ? longTimeoutSecs : quickTimeoutSecs}`
  const command = [installedBin('tap'), 'run', '--jobs=2', timeout, ...options, ...files]
  const env = long ? { SHARDLAB_LONG: '1' } : {}
  const asked = options.some((option) => /^(-R|--reporter)/.test(option))
  if (outputFile === undefined && (asked || process.stdout.isTTY)) return run(process.execPath, command, { env })
  return runAndReport(command, env, outputFile)
})

/** Without a terminal tap's reporters repaint or print every assertion: one line for each file, and the failures. */
async function runAndReport(command, env, outputFile) {
  const lines = []
  const results = new TapResults({
    onFile: ({ name, ok, passed, failed }) => console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${passed} passed, ${failed} failed)`),
    onFailure: ({ path, diagnostics }) =>
      console.log([`     ${path.join(' > ')}`, ...diagnostics.map((line) => `       ${line}`)].join('\n')),
  })
  const exitCode = await run(process.execPath, [...command, '--reporter=tap'], {
    env,
    onLine: (line) => {
      results.line(line)
      if (outputFile !== undefined) lines.push(line)
    },
  })
  results.end()
  if (outputFile !== undefined) writeFileSync(outputFile, lines.map((line) => `${line}\n`).join(''))
  console.log(`${results.passed} passed, ${results.failed} failed${results.skipped > 0 ? `, ${results.skipped} skipped` : ''}`)
  return exitCode
}
