import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TestChildren } from './test-children.mjs'
import { root } from './workspace.mjs'

/** A test file that counts on a process of its own begins with a comment that says why, and an empty line. */
const ownProcess = /^\/\/ Own process: /m

/**
 * Runs test files, `jobs` at a time, and hands on their TAP as tap's own runner writes it: a subtest for each file, in the
 * order in which they end. Files follow one another in one process, each under a root test of its own: what they import
 * is loaded and compiled once, which saves about half of the time. A process that dies fails the file that it was at; after
 * a failure the next file gets a new process. One that does not end after its last file is a failure of its own.
 *
 * tap's runner watches every module that a test loads, for coverage and for `--changed`, and every promise, to tell which
 * test an error belongs to; without both a run of all files costs about half.
 *
 * @param {readonly string[]} files relative to the root
 * @param {{ jobs: number, timeoutSecs: number, env: Record<string, string>, onLine: (line: string) => void }} options
 * @returns {Promise<number>} 0 when every file ended well, else 1; 130 after an interrupt
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
