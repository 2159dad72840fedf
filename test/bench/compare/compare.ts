/** Two clusters, each in a process of its own, serve the same rounds in turns. */
import { MongoClient } from 'mongodb'
import { RawClient } from '../../support/raw-client.js'
import { upFrom, type RunningUp } from '../../support/up.js'
import { ratios } from '../interleaved.js'
import { $db, prepare, rows, runRow } from '../operations/rows.js'
import { cpuUsOf } from './cpu-time.js'

export interface ComparedRow {
  readonly name: string
  /** Ours divided by theirs, of each round. */
  readonly time: readonly number[]
  /** Empty: unknown. */
  readonly cpu: readonly number[]
}

const connections = 4
const runtimes = ['threads', 'inline'] as const

/** @param onProgress called with the runtime that is measured */
export async function compare(
  ours: string,
  theirs: string,
  rounds: number,
  onProgress: (doing: string) => void,
): Promise<ComparedRow[]> {
  const compared: ComparedRow[] = []
  for (const runtime of runtimes) {
    onProgress(`start with ${runtime}`)
    compared.push(await compareStarts([ours, theirs], runtime, rounds))
    onProgress(`operations with ${runtime}`)
    compared.push(...(await compareOperations([ours, theirs], runtime, rounds)))
  }
  return compared
}

const start = (executable: string, runtime: string): Promise<RunningUp> =>
  upFrom(executable, '--port', '0', '--quiet', '--shards', '3', '--runtime', runtime)

type Pair = readonly [ours: string, theirs: string]

/** From the start of the process to the reply to a ping. */
async function compareStarts(executables: Pair, runtime: string, rounds: number): Promise<ComparedRow> {
  const samples = new Samples()
  for (let round = 0; round <= rounds; round++)
    for (const side of sidesOf(round)) {
      const startedMs = performance.now()
      const running = await start(executables[side], runtime)
      const client = await RawClient.connect(running.ready.mongos[0]!)
      await client.command({ ping: 1, $db: 'admin' })
      const tookMs = performance.now() - startedMs
      const cpuUs = await cpuUsOf(running.process.pid!)
      client.close()
      await running.stop()
      if (round > 0) samples.add(side, tookMs, cpuUs)
    }
  return samples.row(`${runtime}: up, to the first ping`)
}

async function compareOperations(executables: Pair, runtime: string, rounds: number): Promise<ComparedRow[]> {
  const sides = [await connect(executables[0], runtime), await connect(executables[1], runtime)] as const
  try {
    const samples = rows.map(() => new Samples())
    for (let round = 0; round <= rounds; round++)
      for (const [at, row] of rows.entries())
        for (const side of sidesOf(round)) {
          const { running, clients, driver } = sides[side]
          const before = await cpuUsOf(running.process.pid!)
          const startedMs = performance.now()
          await runRow(row, round, clients, driver.db($db).collection<{ _id: number }>('rows'))
          const tookMs = performance.now() - startedMs
          const after = await cpuUsOf(running.process.pid!)
          if (round > 0) samples[at]!.add(side, tookMs, before === null || after === null ? null : after - before)
        }
    return rows.map(({ name }, at) => samples[at]!.row(`${runtime}: ${name}`))
  } finally {
    for (const side of sides) await side.stop()
  }
}

interface Connected {
  readonly running: RunningUp
  readonly clients: readonly RawClient[]
  readonly driver: MongoClient
  stop(): Promise<void>
}

async function connect(executable: string, runtime: string): Promise<Connected> {
  const running = await start(executable, runtime)
  const endpoint = running.ready.mongos[0]!
  const clients = await Promise.all(Array.from({ length: connections }, () => RawClient.connect(endpoint)))
  const driver = await MongoClient.connect(`mongodb://${endpoint}/?maxPoolSize=${connections}`)
  await prepare((command, sequences) => clients[0]!.command(command, sequences))
  return {
    running,
    clients,
    driver,
    async stop() {
      await driver.close()
      for (const client of clients) client.close()
      await running.stop()
    },
  }
}

type Side = 0 | 1

/** The side that is first in one round is second in the next. */
const sidesOf = (round: number): readonly Side[] => (round % 2 === 0 ? [0, 1] : [1, 0])

class Samples {
  readonly #times: readonly [number[], number[]] = [[], []]
  readonly #cpus: readonly [number[], number[]] = [[], []]

  add(side: Side, time: number, cpu: number | null): void {
    this.#times[side].push(time)
    if (cpu !== null) this.#cpus[side].push(cpu)
  }

  row(name: string): ComparedRow {
    return { name, time: ratios(...this.#times), cpu: ratios(...this.#cpus) }
  }
}
