/**
 * `npm test [-- options] [part of a path …]`: installs and builds what is missing, then runs the
 * tests.
 *
 *   --long            also runs tests that take minutes (SHARDLAB_LONG=1)
 *   --members=N       plays the suites of shared fixtures on sets of N members (SHARDLAB_MEMBERS=N)
 *   --except=PART     leaves out the files whose path contains PART; may be repeated
 *   --output-file=F   also writes the raw TAP to F
 *   --shuffle=SEED    shuffles the files: they must not depend on their order
 *   other options     go to tap's own runner (--reporter=tap, --bail), which takes longer (0024)
 */
import { writeFileSync } from 'node:fs'
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled, ensureTapBuilt } from './lib/install.mjs'
import { main, run, ScriptError } from './lib/processes.mjs'
import { TapResults } from './lib/tap-results.mjs'
import { shuffled, testFiles } from './lib/test-files.mjs'
import { runTestFiles } from './lib/test-runner.mjs'
import { installedBin } from './lib/workspace.mjs'

/** One more than CI has cores, because many tests wait for clients, elections or processes. */
const jobs = 3
const quickTimeoutSecs = 180
const longTimeoutSecs = 3600

await main(async (args) => {
  const long = args.includes('--long') || process.env['SHARDLAB_LONG'] === '1'
  const valuesOf = (option) =>
    args.filter((arg) => arg.startsWith(`${option}=`)).map((arg) => arg.slice(option.length + 1))
  const exceptions = valuesOf('--except')
  const outputFile = valuesOf('--output-file').at(-1)
  const filters = args.filter((arg) => !arg.startsWith('-'))
  const seed = valuesOf('--shuffle').at(-1)
  const members = valuesOf('--members').at(-1)
  const options = args.filter(
    (arg) => arg.startsWith('-') && !/^--(long|except=.*|members=.*|output-file=.*|shuffle=.*)?$/.test(arg),
  )

  await ensureInstalled()
  // Before the build, because the plugin set contains the types of the tests.
  await ensureTapBuilt()
  await ensureBuilt()

  const ordered = testFiles(filters).filter((file) => !exceptions.some((part) => file.includes(part)))
  const files = seed === undefined ? ordered : shuffled(ordered, seed)
  if (files.length === 0) throw new ScriptError(`no test file matches ${filters.join(' ') || 'anything'}`, 2)
  // The DDL fuzz on threads plays for that time.
  const playSecs = 60 * Number(process.env['SHARDLAB_DDL_MINUTES'] ?? 0)
  const timeoutSecs = (long ? longTimeoutSecs : quickTimeoutSecs) + playSecs
  const env = { ...(long && { SHARDLAB_LONG: '1' }), ...(members && { SHARDLAB_MEMBERS: members }) }
  if (options.length === 0) return runAndReport(files, timeoutSecs, env, outputFile)
  if (outputFile !== undefined) throw new ScriptError('--output-file cannot be combined with options of tap', 2)
  const command = [installedBin('tap'), 'run', `--jobs=${jobs}`, `--timeout=${timeoutSecs}`, ...options, ...files]
  return run(process.execPath, command, { env })
})

/** One line for each file, and the failures. */
async function runAndReport(files, timeoutSecs, env, outputFile) {
  const lines = []
  const results = new TapResults({
    onFile: ({ name, ok, passed, failed, timeMs }) =>
      console.log(
        `${ok ? 'ok  ' : 'FAIL'} ${name} (${passed} passed, ${failed} failed, ${(timeMs / 1000).toFixed(1)} s)`,
      ),
    onFailure: ({ path, diagnostics }) =>
      console.log([`     ${path.join(' > ')}`, ...diagnostics.map((line) => `       ${line}`)].join('\n')),
  })
  const exitCode = await runTestFiles(files, {
    jobs,
    timeoutSecs,
    env,
    onLine: (line) => {
      results.line(line)
      if (outputFile !== undefined) lines.push(line)
    },
  })
  results.end()
  if (outputFile !== undefined) writeFileSync(outputFile, lines.map((line) => `${line}\n`).join(''))
  console.log(
    `${exitCode === 130 ? 'interrupted; so far ' : ''}${results.passed} passed, ${results.failed} failed${results.skipped > 0 ? `, ${results.skipped} skipped` : ''}`,
  )
  return exitCode
}
