/** `--fork`: the parent ends when the child is ready, or has failed. */
import { spawn } from 'node:child_process'

/** Set in the environment of a process that `--fork` has started. */
export const forkedVariable = 'SHARDLAB_FORKED'

export async function forkServer(args: readonly string[]): Promise<void> {
  process.stdout.write('about to fork child process, waiting until server is ready for connections.\n')
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    env: { ...process.env, [forkedVariable]: '1' },
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  process.stdout.write(`forked process: ${child.pid}\n`)
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once('message', () => resolve(null))
    child.once('exit', (code) => resolve(code ?? 1))
  })
  if (exitCode === null) {
    child.disconnect()
    child.unref()
    process.stdout.write('child process started successfully, parent exiting\n')
    return
  }
  process.stdout.write(
    `ERROR: child process failed, exited with ${exitCode}\nTo see additional information in this output, start without the "--fork" option.\n`,
  )
  process.exitCode = exitCode
}
