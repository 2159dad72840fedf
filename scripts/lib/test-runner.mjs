import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TestChildren } from './test-children.mjs'
import { root } from './workspace.mjs'

/**
 * A test file that needs its own process begins with a comment that says why, and an empty line.
 */
const ownProcess = /^\/\/ Own process: /m

/**
 * Runs test files, `jobs` at a time, and passes on their TAP in the form of tap's own runner: a
 * subtest for each file, in the order in which they end. A process runs several files, one after
 * the other, each with its own root test: imported modules are loaded and compiled once, which
 * saves about half of the time. When a process dies, the file that it was running fails; after a
 * failure the next file gets a new process. A process that does not end after its last file is a
 * failure too.
 *
 * Tap's runner also tracks every module that a test loads, for coverage and `--changed`, and every
 * promise, to assign errors to tests. Without both, a run of all files takes about half the time.
 *
 * @param {readonly string[]} files relative to the root
 * @param {{ jobs: number, timeoutSecs: number, env: Record<string, string>, onLine: (line: string)
 *   => void }} options
 * @returns {Promise<number>} 0 when every file passed, else 1; 130 after an interrupt
 */
export async function runTestFiles(files, { jobs, timeoutSecs, env, onLine }) {
  const waiting = [...files]
  const children = new TestChildren({ timeoutSecs, env })
  let interrupted = false
  const interrupt = () => {
    interrupted = true
    waiting.length = 0
    children.end()
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, interrupt)

  let ended = 0
  let failed = 0
  const report = (name, { lines, trouble }, startedAt) => {
    if (interrupted) return
    ended++
    if (trouble !== null) failed++
    onLine(`# Subtest: ${name}`)
    for (const line of lines) if (line !== 'TAP version 14') onLine(line === '' ? line : `    ${line}`)
    onLine(
      `${trouble === null ? 'ok' : 'not ok'} ${ended} - ${name} # time=${(performance.now() - startedAt).toFixed(0)}ms`,
    )
    if (trouble !== null) for (const line of ['  ---', `  ${trouble}`, '  ...']) onLine(line)
  }

  const worker = async () => {
    let shared = null
    const endShared = async () => {
      if (shared === null) return
      const startedAt = performance.now()
      const { files } = shared
      const trouble = await shared.end()
      shared = null
      if (trouble === null) return
      const lines = files.map((file) => `# ${file}`)
      report(
        'a process that ran several files',
        { lines, trouble: `${trouble}: one of them left something running` },
        startedAt,
      )
    }
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (shared?.open === false) await endShared()
      const startedAt = performance.now()
      if (ownProcess.test(readFileSync(join(root, file), 'utf8'))) {
        report(file, await children.runAlone(file), startedAt)
        continue
      }
      shared ??= children.share()
      const outcome = await shared.run(file)
      if (outcome.trouble !== null) shared = null
      report(file, outcome, startedAt)
    }
    await endShared()
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  for (const signal of signals) process.off(signal, interrupt)
  onLine(`1..${ended}`)
  return interrupted ? 130 : failed > 0 ? 1 : 0
}
