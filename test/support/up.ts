/** Runs the command line in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childOfTest } from '@shardlab/nats/testing'

const bin = fileURLToPath(new URL('../../../packages/shardlab/bin/shardlab.js', import.meta.url))

/** The first line of `shardlab up --json`. */
export interface Ready {
  readonly ready: true
  readonly uri: string
  readonly shards: readonly { readonly id: string; readonly uri: string }[]
  readonly standby: readonly { readonly id: string; readonly uri: string; readonly host: string }[]
  readonly mongos: readonly string[]
}

export interface RunningUp {
  readonly ready: Ready
  readonly process: ChildProcess
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
}

/** Starts `shardlab up --json …` and resolves when it is ready. */
export const up = (...args: string[]): Promise<RunningUp> => upFrom(bin, ...args)

/** As {@link up}, with the executable of another checkout. */
export async function upFrom(executable: string, ...args: string[]): Promise<RunningUp> {
  const child = childOfTest(
    spawn(process.execPath, [executable, 'up', '--json', ...args], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  let output = ''
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const end = output.indexOf('\n')
      if (end >= 0) resolve(JSON.parse(output.slice(0, end)) as Ready)
    })
    child.once('exit', (code) => reject(new Error(`shardlab up ended with code ${code} before it was ready`)))
  })
  return {
    ready,
    process: child,
    async stop() {
      if (child.exitCode !== null) return child.exitCode
      child.kill('SIGTERM')
      await once(child, 'exit')
      return child.exitCode
    },
  }
}

/** Runs a command until it exits. */
export async function run(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; input?: string; cwd?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { cwd, env = process.env } = options
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env, ...(cwd === undefined ? {} : { cwd }) })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  // A program that exits without reading its input closes the pipe early.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** Runs `shardlab …` until it exits. */
export function shardlab(...args: string[]): ReturnType<typeof run> {
  return run(process.execPath, [bin, ...args])
}
