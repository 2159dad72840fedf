import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { root } from './workspace.mjs'

const preload = new URL('test-process.mjs', import.meta.url).href
const sharedMain = fileURLToPath(new URL('shared-test-process.mjs', import.meta.url))

/**
 * Reading source maps takes a sixth of a second for a file, so CI runs without: a failure is named,
 * and can be run again by hand.
 */
const nodeArgs = [...(process.env['CI'] === 'true' ? [] : ['--enable-source-maps']), `--import=${preload}`]

/** Tap ends a test after its timeout; a process that is still running this much later is killed. */
const graceMs = 10_000

/**
 * After this many files a process is replaced by a new one, so that leftovers of files do not grow
 * without bounds.
 */
const filesPerProcess = 60

/** A process is also replaced when its heap is this large after a file. */
const heapLimitBytes = 400 * 2 ** 20

/**
 * @typedef {{ lines: string[], trouble: string | null }} Outcome trouble: why the whole file failed
 */

/** The processes that run test files; `env` is added to their environment. */
export class TestChildren {
  #options
  #running = new Set()

  /** @param {{ timeoutSecs: number, env: Record<string, string> }} options */
  constructor(options) {
    this.#options = options
  }

  /** @returns {Promise<Outcome>} of a file in its own process */
  runAlone(file) {
    return new Promise((resolve) => {
      const child = this.#spawn([file], ['ignore', 'pipe', 'inherit'])
      const lines = []
      createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
      const timer = this.#deadline(child)
      const finish = (trouble) => {
        clearTimeout(timer)
        resolve({ lines, trouble })
      }
      child.once('error', (error) => finish(`could not be started: ${error.message}`))
      child.once('close', (code, signal) => finish(child.endedBy ?? ending(code, signal)))
    })
  }

  /** A process for several files, one after the other. */
  share() {
    return new SharedProcess(this.#spawn([sharedMain], ['ignore', 2, 'inherit', 'ipc']), (child, ms) =>
      this.#deadline(child, ms),
    )
  }

  /** Ends all processes and their children. */
  end() {
    for (const child of this.#running) endGroup(child, 'SIGTERM')
  }

  #spawn(args, stdio) {
    const child = spawn(process.execPath, [...nodeArgs, ...args], {
      cwd: root,
      env: { ...process.env, ...this.#options.env, TAP: '1', TAP_TIMEOUT: String(this.#options.timeoutSecs) },
      // Its own process group, so that processes started by a test end with it.
      detached: true,
      stdio,
    })
    this.#running.add(child)
    for (const event of ['error', 'exit']) child.once(event, () => this.#running.delete(child))
    return child
  }

  #deadline(child, ms = this.#options.timeoutSecs * 1000 + graceMs) {
    return setTimeout(() => {
      child.endedBy = `did not end within ${ms / 1000} seconds`
      endGroup(child, 'SIGKILL')
    }, ms)
  }
}

/** One process of `shared-test-process.mjs`. */
class SharedProcess {
  files = []
  #child
  #deadline
  #heapBytes = 0
  #exited

  constructor(child, deadline) {
    this.#child = child
    this.#deadline = deadline
    this.#exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${error.message}`))
      child.once('exit', (code, signal) => resolve(child.endedBy ?? ending(code, signal)))
    })
  }

  /** Whether it takes another file. */
  get open() {
    return this.files.length < filesPerProcess && this.#heapBytes < heapLimitBytes
  }

  /** @returns {Promise<Outcome>} with `trouble` the process has ended or is about to */
  run(file) {
    this.files.push(file)
    return new Promise((resolve) => {
      const timer = this.#deadline(this.#child)
      const finish = (outcome) => {
        clearTimeout(timer)
        this.#child.off('message', onMessage)
        resolve(outcome)
      }
      const onMessage = ({ outcome }) => {
        // A message of tap's own.
        if (outcome === undefined) return
        this.#heapBytes = outcome.heapBytes
        finish({ lines: outcome.lines, trouble: outcome.trouble })
      }
      this.#child.on('message', onMessage)
      this.#child.send(file, () => {})
      void this.#exited.then((trouble) =>
        finish({ lines: [], trouble: `the process ${trouble ?? 'ended'} in this file` }),
      )
    })
  }

  /**
   * @returns {Promise<string | null>} why it did not end in order: a file left something running
   */
  async end() {
    this.#child.disconnect()
    const timer = this.#deadline(this.#child, graceMs)
    const trouble = await this.#exited
    clearTimeout(timer)
    return trouble
  }
}

function ending(code, signal) {
  if (signal !== null) return `ended by ${signal}`
  return code === 0 ? null : `exit code ${code}`
}

function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal)
  }
}
