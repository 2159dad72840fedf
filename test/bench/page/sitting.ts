/**
 * Runs benches one after the other, each run in a process of its own, and notes everything that a
 * reader needs to compare the figures.
 */
import { execFile } from 'node:child_process'
import { arch, cpus, loadavg, platform, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchResult } from '../bench.js'
import { benches } from '../benches.js'
import type { FailedRun, Sitting } from './tables.js'

interface Script {
  readonly path: string
  readonly title: string
}

const main = fileURLToPath(new URL('../main.js', import.meta.url))
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const outputMaxBytes = 64 * 1024 * 1024

/** Benches of single packages: scripts that print a line for each figure. */
const scripts: Readonly<Record<string, Script>> = {
  bytes: { path: 'packages/bson/dist/test/bench/bytes.bench.js', title: 'a document of 7 fields' },
  queries: { path: 'packages/query/dist/test/bench/bench.js', title: 'filters, updates and bounds over raw documents' },
  'routing-table': {
    path: 'packages/sharding/dist/test/bench/routing.bench.js',
    title: 'routing tables with the key {tenant, ts} and 100 shards, medians of seven',
  },
  reads: { path: 'packages/node/dist/test/bench/reads.bench.js', title: 'reading commands of one node' },
}

export const sittingNames: readonly string[] = [...Object.keys(scripts), ...Object.keys(benches)]

export interface SittingOptions {
  readonly names: readonly string[]
  /** Rounds. Each runs every bench once, so that the runs of one bench are far apart in time. */
  readonly runs: number
  /** Their largest sizes, too. */
  readonly isLong: boolean
  readonly onProgress: (line: string) => void
  /** Called after each round with everything so far: a sitting that is cut keeps its rounds. */
  readonly onRound: (sitting: Sitting) => void
}

/** @returns the failed runs, none of which ends the sitting */
export async function sit({ names, runs, isLong, onProgress, onRound }: SittingOptions): Promise<readonly FailedRun[]> {
  const from = { beganAt: now(), commit: await commit(), machine: machine() }
  const loadAverages: number[] = []
  const failed: FailedRun[] = []
  const results = new Map<string, BenchResult[]>(names.map((name) => [name, []]))
  for (let run = 1; run <= runs; run++) {
    for (const name of names) {
      const load = loadavg()[0]!
      loadAverages.push(load)
      onProgress(`${now()}: ${name}, run ${run} of ${runs}; load average ${load.toFixed(2)}`)
      try {
        results.get(name)!.push(await resultOf(name, isLong))
      } catch (error) {
        const output = outputOf(error)
        onProgress(`${name}, run ${run}, failed:\n${output}`)
        // Its stack and the version of Node.js follow the error.
        const reason = output.match(/^.*Error\b.*:.*$/m)?.[0] ?? output.split('\n').at(-1)!
        failed.push({ name, run, reason })
      }
    }
    const measured = names.map((name) => ({ name, command: commandOf(name, isLong), runs: results.get(name)! }))
    onRound({ ...from, endedAt: now(), loadAverages, measured, failed })
  }
  return failed
}

function outputOf(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: string; readonly message: string }
  return stderr?.trim() || message
}

const now = (): string => new Date().toISOString().slice(0, 16).replace('T', ' ')

function commandOf(name: string, isLong: boolean): string {
  const script = scripts[name]
  if (script !== undefined) return `node --expose-gc ${script.path}`
  return `${isLong ? 'SHARDLAB_LONG=1 ' : ''}npm run bench -- ${name}`
}

async function resultOf(name: string, isLong: boolean): Promise<BenchResult> {
  const script = scripts[name]
  const args = script === undefined ? [main, name, '--json'] : [script.path]
  // With collections on request, benches measure memory after a collection.
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...args], {
    cwd: root,
    env: { ...process.env, ...(isLong ? { SHARDLAB_LONG: '1' } : {}) },
    maxBuffer: outputMaxBytes,
  })
  return script === undefined ? (JSON.parse(stdout) as BenchResult) : printedResult(script.title, stdout)
}

/** Lines of a name and a value; other lines, such as headings, are left out. */
export function printedResult(title: string, output: string): BenchResult {
  const rows = output.split('\n').flatMap((line) => {
    const match = /^(\S.*?)(?:: | {2,})(\S.*)$/.exec(line)
    return match === null ? [] : [{ name: match[1]!, value: match[2]!.replaceAll(/ {2,}/g, ', ') }]
  })
  return { title, rows, note: 'Figures of the emulator, not of MongoDB.' }
}

async function commit(): Promise<string> {
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('git', args, { cwd: root })).stdout.trim()
  const changes = await git('status', '--porcelain', '--untracked-files=no')
  return `${await git('rev-parse', '--short=10', 'HEAD')}${changes === '' ? '' : ', with changes'}`
}

function machine(): string {
  const gigabytes = (totalmem() / 1024 ** 3).toFixed(1)
  return `${cpus()[0]!.model.trim()}, ${cpus().length} cores, ${gigabytes} GB, ${platform()} ${arch()}, Node.js ${process.version}`
}
