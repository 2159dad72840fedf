/**
 * Time from the start of a process to its first ping: `shardlab up`, the stub, and
 * mongo-java-server if `MJS_CLASSPATH` names its classes. Also the memory of the processes with
 * documents.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { encode } from '@shardlab/bson'
import { residentBytes } from '../support/process-memory.js'
import { RawClient } from '../support/raw-client.js'
import { up } from '../support/up.js'
import type { BenchResult, BenchRow } from './bench.js'
import { atMost, goal, type Goal } from './goals.js'
import { median, ratios, spread } from './interleaved.js'
import { forkStub, launchJavaServer, startCluster, startJavaServer } from './wire/servers.js'

/** Starts a server process and connects a client. */
type Start = () => Promise<{ readonly client: RawClient; stop(): Promise<unknown> }>

const javaGoal = 0.8
const stubGoal = 2.5
const freshGoal = 1.3
const freshGoalMs = 80
const residentGoal = 0.7
const ping = { ping: Buffer.from(encode({ ok: 1 })).toString('base64') }

const starts: Readonly<Record<'threads' | 'inline' | 'stub', Start>> = {
  threads: () => startUp('threads'),
  inline: () => startUp('inline'),
  stub: async () => {
    const stub = await forkStub(ping)
    return { client: await RawClient.connect(stub.endpoint), stop: () => stub.stop() }
  },
}

/** In turns: a process with a cluster of its own, and one that uses a running server. */
async function freshProcesses(repetitions: number): Promise<{ inline: number[]; remote: number[] }> {
  const server = await up('--port', '0', '--quiet', '--shards', '3')
  const [inline, remote]: [number[], number[]] = [[], []]
  for (let round = 0; round <= repetitions; round++) {
    const samples = [await processMs(), await processMs(server.ready.uri)]
    if (round === 0) continue
    inline.push(samples[0]!)
    remote.push(samples[1]!)
  }
  await server.stop()
  return { inline, remote }
}

async function processMs(...args: string[]): Promise<number> {
  const startedMs = performance.now()
  const child = fork(fileURLToPath(new URL('start/fresh.js', import.meta.url)), args)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`the process ended with ${code}`)
  return performance.now() - startedMs
}

async function startUp(runtime: string): ReturnType<Start> {
  const running = await up('--port', '0', '--quiet', '--shards', '3', '--runtime', runtime)
  return { client: await RawClient.connect(running.ready.mongos[0]!), stop: () => running.stop() }
}

export async function measureProcesses(repetitions: number): Promise<BenchResult['rows']> {
  const classpath = process.env['MJS_CLASSPATH'] ?? ''
  const java: Start = async () => {
    const { server, client } = await launchJavaServer(classpath)
    return { client, stop: () => server.stop() }
  }
  const all: Readonly<Record<string, Start>> = { ...starts, ...(classpath === '' ? {} : { java }) }
  const samples: Record<string, number[]> = Object.fromEntries(Object.keys(all).map((name) => [name, []]))
  // Round 0 fills the caches of the file system and of compiled code.
  for (let round = 0; round <= repetitions; round++) {
    for (const [name, start] of Object.entries(all)) {
      const tookMs = await startToPing(start)
      if (round > 0) samples[name]!.push(tookMs)
    }
  }
  const fresh = await freshProcesses(repetitions)
  const { threads, inline, stub } = samples as Record<'threads' | 'inline' | 'stub', number[]>
  const row = (name: string, value: string, goal?: Goal): BenchRow => ({ name, value, ...goal })
  const five = await residentMb(() => startCluster('five', '--shards', '5'))
  const freshMaxMs = freshGoal * median(fresh.remote) + freshGoalMs
  const rows = [
    row(
      'process: up, three shards, threads',
      `${spread(threads, 0)} ms, ${median(ratios(threads, stub)).toFixed(2)} × stub`,
      atMost(stubGoal, ' × stub', median(ratios(threads, stub))),
    ),
    row(
      'process: up, three shards, inline',
      `${spread(inline, 0)} ms, ${median(ratios(inline, stub)).toFixed(2)} × stub`,
      atMost(stubGoal, ' × stub', median(ratios(inline, stub))),
    ),
    row('process: the stub', `${spread(stub, 0)} ms`),
    row(
      'process: import, start inline, insert with the driver, stop',
      `${spread(fresh.inline, 0)} ms; the same on a running server: ${spread(fresh.remote, 0)} ms`,
      goal(
        `at most ${freshGoal} × + ${freshGoalMs} ms = ${freshMaxMs.toFixed(0)} ms`,
        median(fresh.inline) <= freshMaxMs,
      ),
    ),
    row('resident: five shards, 20,000 documents', `${five.toFixed(0)} MB`),
  ]
  const ofJava = samples['java']
  if (ofJava === undefined) {
    const goals = `start at most ${javaGoal} ×, resident at most ${residentGoal} ×`
    const missing = `${goals}; MJS_CLASSPATH does not say where its classes are`
    return [...rows, { name: 'against mongo-java-server', value: 'not measured', goal: missing }]
  }
  const residentOfJava = await residentMb(() => startJavaServer(classpath))
  return [
    ...rows,
    row('process: mongo-java-server', `${spread(ofJava, 0)} ms`),
    row(
      'process: up, three shards, threads',
      `${spread(ratios(threads, ofJava))} × mongo-java-server`,
      atMost(javaGoal, '', median(ratios(threads, ofJava))),
    ),
    row('resident: mongo-java-server, 20,000 documents', `${residentOfJava.toFixed(0)} MB`),
    row(
      'resident: five shards, 20,000 documents',
      `${(five / residentOfJava).toFixed(2)} × mongo-java-server`,
      atMost(residentGoal, '', five / residentOfJava),
    ),
  ]
}

async function startToPing(start: Start): Promise<number> {
  const startedMs = performance.now()
  const started = await start()
  const reply = await started.client.command({ ping: 1, $db: 'admin' })
  const tookMs = performance.now() - startedMs
  if (reply['ok'] !== 1) throw new Error('the first ping was not answered')
  started.client.close()
  await started.stop()
  return tookMs
}

async function residentMb(start: () => Promise<{ readonly pid: number; stop(): Promise<unknown> }>): Promise<number> {
  const server = await start()
  const bytes = residentBytes(server.pid)
  await server.stop()
  return bytes / 2 ** 20
}
