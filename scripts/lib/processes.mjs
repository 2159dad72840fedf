import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { root } from './workspace.mjs'

/** The exit code that a shell reports for a child that a signal ended. */
const exitCodeOfSignal = (signal) => 128 + (constants.signals[signal] ?? 0)

/**
 * Runs a program in the workspace's root and forwards SIGINT, SIGTERM and SIGHUP to it, so that it
 * can shut down in order.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string>, onLine?: (line: string) => void }} [options] onLine gets
 *   the lines of the child's stdout, which are not printed then
 * @returns {Promise<number>} the child's exit code, 128 + n when signal n ended it
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...options.env },
      stdio: ['inherit', options.onLine ? 'pipe' : 'inherit', 'inherit'],
    })
    if (options.onLine) createInterface({ input: child.stdout }).on('line', options.onLine)
    const forward = (signal) => {
      // A terminal sends Ctrl-C to the child as well; the child would take a forwarded one as the
      // second and stop at once.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.on(signal, forward)
    const finish = (settle) => {
      for (const signal of signals) process.off(signal, forward)
      settle()
    }
    child.once('error', (error) => finish(() => reject(error)))
    child.once('close', (code, signal) => finish(() => resolve(code ?? exitCodeOfSignal(signal))))
  })
}

/**
 * Runs a program without printing its output, and returns the output.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env]
 * @param {string} [cwd] the workspace's root by default
 * @returns {Promise<{ code: number, output: string }>} code 127 when the program does not exist
 */
export function capture(command, args, env = {}, cwd = root) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stderr.on('data', (chunk) => chunks.push(chunk))
    const output = () => Buffer.concat(chunks).toString('utf8')
    child.once('error', (error) => resolve({ code: 127, output: output() + String(error) + '\n' }))
    child.once('close', (code, signal) => resolve({ code: code ?? exitCodeOfSignal(signal), output: output() }))
  })
}

/** Prints one line of progress on stderr: stdout belongs to the command that is run in the end. */
export function progress(line) {
  process.stderr.write(`shardlab: ${line}\n`)
}

/** An expected failure: printed as one sentence, without a stack. */
export class ScriptError extends Error {
  constructor(message, exitCode = 3) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Runs a script's main function and turns its result or error into the exit code. */
export async function main(body) {
  try {
    const exitCode = await body(process.argv.slice(2))
    if (exitCode !== undefined) process.exitCode = exitCode
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    process.stderr.write(`shardlab: ${error.message}\n`)
    process.exitCode = error.exitCode
  }
}
