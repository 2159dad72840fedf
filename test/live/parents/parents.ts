/** Programs that start `shardlab up`, to be killed. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const bin = `${root}packages/shardlab/bin/shardlab.js`

/** As in the guide about stopping clusters. The parent prints `spawned`, and does nothing more. */
const programs = {
  node: [
    process.execPath,
    '-e',
    `const { spawn } = require('node:child_process')
     const [stdin, ...command] = process.argv.slice(1)
     spawn(command[0], command.slice(1), { stdio: [stdin, 'inherit', 'inherit'] })
     console.log('spawned')
     setInterval(() => {}, 1e6)`,
  ],
  python: [
    'python3',
    '-c',
    `import subprocess, sys, time
stdin = subprocess.PIPE if sys.argv[1] == 'pipe' else subprocess.DEVNULL
process = subprocess.Popen(sys.argv[2:], stdin=stdin)
print('spawned', flush=True)
time.sleep(1e6)`,
  ],
} as const

const commands = {
  direct: [process.execPath, bin],
  npx: ['npx', '--no-install', 'shardlab'],
} as const

export interface Case {
  readonly language: keyof typeof programs
  readonly through: keyof typeof commands
  readonly stdin: 'pipe' | 'ignore'
  readonly signal: 'SIGKILL' | 'SIGTERM'
  /** `spawned`: the cluster's process has just been created. */
  readonly when: 'spawned' | 'ready'
}

/** In an order in which any few in a row differ in language, command and signal. */
export function allCases(): Case[] {
  return Array.from({ length: 32 }, (_, i) => ({
    language: i & 1 ? 'python' : 'node',
    through: i & 2 ? 'npx' : 'direct',
    signal: (i & 1) === ((i >> 2) & 1) ? 'SIGKILL' : 'SIGTERM',
    when: i & 8 ? 'spawned' : 'ready',
    stdin: i & 16 ? 'ignore' : 'pipe',
  }))
}

/**
 * Kills a parent; resolves when no process is left that has its standard output: no parent, no
 * launcher and no cluster.
 */
export async function killParent({ language, through, stdin, signal, when }: Case): Promise<void> {
  const parent = start([...programs[language], stdin, ...commands[through], ...upOptions])
  try {
    const lines = createInterface({ input: parent.stdout! })
    const isSeen = (line: string): boolean =>
      when === 'spawned' ? line === 'spawned' : line.startsWith('{"ready":true')
    for await (const line of lines) if (isSeen(line)) break
    parent.stdout!.resume()
    const closed = once(parent.stdout!, 'close')
    parent.kill(signal)
    await closed
  } finally {
    // Only when the test has timed out.
    if (parent.exitCode === null && parent.signalCode === null) parent.kill('SIGKILL')
  }
}

const upOptions = ['up', '--json', '--port', '0', '--shards', '1', '--runtime', 'inline', '--exit-with-parent']

function start([program, ...args]: readonly string[]): ChildProcess {
  return spawn(program!, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
}

/** npx that is killed after the cluster has started, without `--exit-with-parent`. */
export async function killLauncher(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const launcher = start([...commands.npx, ...upOptions.slice(0, -1)])
  const [line] = (await once(createInterface({ input: launcher.stdout! }), 'line')) as [string]
  if (!line.startsWith('{"ready":true')) throw new Error(line)
  const closed = once(launcher.stdout!, 'close')
  launcher.kill(signal)
  await closed
}
