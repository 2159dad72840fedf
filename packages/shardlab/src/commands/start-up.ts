import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { OptionError } from '@shardlab/load/basics'

/**
 * Runs `shardlab up` on free ports in a process of its own. The process is detached, because its
 * data are still read after Ctrl-C, which the terminal sends to all processes. It ends when this
 * process ends, for any reason.
 * @param options options of `up`, as typed
 * @param size overrides these options
 * @throws OptionError with the error text of `up` when it does not start
 */
export async function startUp(
  options: string,
  size: { readonly shards?: number | undefined; readonly mongos?: number | undefined },
): Promise<{ readonly uri: string; stop(): Promise<void> }> {
  const sizes = Object.entries(size).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  )
  const args = ['up', '--port', '0', ...wordsOf(options), ...sizes, '--json', '--quiet']
  const child = spawn(process.execPath, [process.argv[1]!, ...args], {
    ...{ stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true, windowsHide: true },
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  let errorText = ''
  child.stderr!.on('data', (chunk: Buffer) => (errorText += chunk.toString()))
  let line = ''
  const uri = await new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      line += chunk.toString()
      if (line.includes('\n')) resolve((JSON.parse(line.slice(0, line.indexOf('\n'))) as { uri: string }).uri)
    })
    child.once('exit', () =>
      reject(
        new OptionError(
          `--up "${options}": ${errorText
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
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/** Splits at spaces, except between quotes. */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain!)
}
