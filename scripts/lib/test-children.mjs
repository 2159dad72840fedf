import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { root } from './workspace.mjs'

const preload = new URL('test-process.mjs', import.meta.url).href
const sharedMain = fileURLToPath(new URL('shared-test-process.mjs', import.meta.url))

/** Reading a map for each module costs a file a sixth of a second. CI does without: what fails is named, and run again by hand. */
const nodeArgs = [...(process.env['CI'] === 'true' ? [] : ['--enable-source-maps']), `--import=${preload}`]

/** A test gets its own timeout from tap; a process that does not end by itself then is ended this much later. */
const graceMs = 10_000

/** A process that has run this many files makes place for a new one: what files leave behind does not grow without bounds. */
const filesPerProcess = 60

/** The same, for a process whose heap is this large after a file. */
const heapLimitBytes = 400 * 2 ** 20

/** @typedef {{ lines: string[], trouble: string | null }} Outcome trouble: why the file as a whole failed */

/** The processes that run test files, `env` theirs; `end` ends them all. */
export class TestChildren {
  #options
  #running = new Set()

  /** @param {{ timeoutSecs: number, env: Record<string, string> }} options */
  constructor(options) {
    this.#options = options
  }

  /** @returns {Promise<Outcome>} of a file in a process of its own */
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

  /** A process for files that follow one another. */
  share() {
    return new SharedProcess(this.#spawn([sharedMain], ['ignore', 2, 'inherit', 'ipc']), (child, ms) =>
      this.#deadline(child, ms),
    )
  }

  /** Ends all processes, and what they started. */
  end() {
    for (const child of this.#running) endGroup(child, 'SIGTERM')
  }

  #spawn(args, stdio) {
    const child = spawn(process.execPath, [...nodeArgs, ...args], {
      cwd: root,
      env: { ...process.env, ...this.#options.env, TAP: '1', TAP_TIMEOUT: String(this.#options.timeoutSecs) },
      // A group of its own: what a test started ends with it.
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

  /** @returns {Promise<Outcome>} with a trouble, the process is gone or about to go */
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
        // tap has messages of its own.
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

  /** @returns {Promise<string | null>} why it did not end well: a file left something running */
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
