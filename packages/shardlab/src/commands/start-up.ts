/** `shardlab up` in a process of its own, of the program that is running, for commands that need a cluster for a while. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { OptionError } from '@shardlab/load'
import { exitCodes } from '../exit-codes.js'

/**
 * Starts a cluster on free ports.
 * @param options options of `up`, as they are typed
 * @param size overrides them
 * @throws OptionError with what `up` said when it does not start
 */
export async function startUp(
  options: string,
  size: { readonly shards?: number | undefined; readonly mongos?: number | undefined },
): Promise<{ readonly uri: string; stop(): Promise<void> }> {
  const sizes = Object.entries(size).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]))
  const args = ['up', '--port', '0', ...wordsOf(options), ...sizes, '--json', '--quiet']
  const child = spawn(process.execPath, [process.argv[1]!, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  // Ctrl-C ends the measurement, and the cluster with it.
  const interrupted = (): void => process.exit(exitCodes.failed)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted)
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  let line = ''
  const uri = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      line += chunk.toString()
      if (line.includes('\n')) resolve((JSON.parse(line.slice(0, line.indexOf('\n'))) as { uri: string }).uri)
    })
    child.once('exit', () =>
      reject(
        new OptionError(
          `--up "${options}": ${said
            .trim()
            .replace(/^shardlab: /, '')
            .replace(/\.$/, '')}`,
        ),
      ),
    )
  })
  return {
    uri,
    async stop() {
      process.off('exit', kill)
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupted)
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/** Words between spaces; quotes keep spaces. */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain!)
}
