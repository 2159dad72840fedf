import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { root } from './workspace.mjs'

const preload = new URL('test-process.mjs', import.meta.url).href

/** Reading a map for each module costs a file a sixth of a second. CI does without: what fails is named, and run again by hand. */
const sourceMaps = process.env['CI'] === 'true' ? [] : ['--enable-source-maps']

/** A test gets its own timeout from tap; a file that does not end by itself then is ended this much later. */
const graceMs = 10_000

/**
 * Runs test files, each in a process of its own, and hands on their TAP as tap's own runner writes it: a subtest for
 * each file, in the order in which they end. tap's runner watches every module that a test loads, for coverage and for
 * `--changed`, and every promise, to tell which test an error belongs to; without both a run of all files costs about half.
 *
 * @param {readonly string[]} files relative to the root
 * @param {{ jobs: number, timeoutSecs: number, env: Record<string, string>, onLine: (line: string) => void }} options
 * @returns {Promise<number>} 0 when every file ended well, else 1; 130 after an interrupt
 */
export async function runTestFiles(files, { jobs, timeoutSecs, env, onLine }) {
  const waiting = [...files]
  const running = new Set()
  let interrupted = false
  const interrupt = () => {
    interrupted = true
    waiting.length = 0
    for (const child of running) endGroup(child, 'SIGTERM')
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, interrupt)

  let ended = 0
  let failed = 0
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const startedAt = performance.now()
      const { lines, trouble } = await runFile(file, timeoutSecs, env, running)
      if (interrupted) return
      ended++
      if (trouble !== null) failed++
      onLine(`# Subtest: ${file}`)
      for (const line of lines) if (line !== 'TAP version 14') onLine(line === '' ? line : `    ${line}`)
      onLine(`${trouble === null ? 'ok' : 'not ok'} ${ended} - ${file} # time=${(performance.now() - startedAt).toFixed(0)}ms`)
      if (trouble !== null) for (const line of ['  ---', `  ${trouble}`, '  ...']) onLine(line)
    }
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  for (const signal of signals) process.off(signal, interrupt)
  onLine(`1..${ended}`)
  return interrupted ? 130 : failed > 0 ? 1 : 0
}

/** @returns {Promise<{ lines: string[], trouble: string | null }>} trouble: why the file as a whole failed */
function runFile(file, timeoutSecs, env, running) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...sourceMaps, `--import=${preload}`, file], {
      cwd: root,
      env: { ...process.env, ...env, TAP: '1', TAP_TIMEOUT: String(timeoutSecs) },
      // A group of its own: what a test started ends with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.add(child)
    const lines = []
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
    let timedOut = false
    const timer = setTimeout(
      () => {
        timedOut = true
        endGroup(child, 'SIGKILL')
      },
      timeoutSecs * 1000 + graceMs,
    )
    const finish = (trouble) => {
      clearTimeout(timer)
      running.delete(child)
      resolve({ lines, trouble })
    }
    child.once('error', (error) => finish(`could not be started: ${error.message}`))
    child.once('close', (code, signal) => {
      if (timedOut) finish(`did not end within ${timeoutSecs + graceMs / 1000} seconds`)
      else if (signal !== null) finish(`ended by ${signal}`)
      else finish(code === 0 ? null : `exit code ${code}`)
    })
  })
}

function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal)
  }
}
