/** The load that workers of NATS generate together, relative to that of one. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childOfTest, NatsServer } from '@shardlab/nats/testing'
import { run, up } from '../support/up.js'

const bin = fileURLToPath(new URL('../../../packages/shardlab/bin/shardlab.js', import.meta.url))
const mostGenerators = 4
const measured = '4s'
/** Of all generators together, so that the server has the same number of clients. */
const concurrency = 32

export interface GeneratedLoad {
  /** Operations a second of four generators, divided by those of one, in each round. */
  readonly ratios: readonly number[]
  /** Of one generator, in each round. */
  readonly perSecond: readonly number[]
}

/** Reads by key from a cluster in a process of its own. Each generator has a worker. */
export async function generatedLoad(rounds: number): Promise<GeneratedLoad> {
  const server = await NatsServer.start()
  const cluster = await up('--port', '0', '--quiet', '--shards', '4')
  const workers: ChildProcess[] = []
  try {
    for (let i = 0; i < mostGenerators; i++) workers.push(await worker(server.url))
    const ratios: number[] = []
    const perSecond: number[] = []
    for (let round = 0; round < rounds; round++) {
      const one = await throughput(cluster.ready.uri, server.url, 1)
      perSecond.push(one)
      ratios.push((await throughput(cluster.ready.uri, server.url, mostGenerators)) / one)
    }
    return { ratios, perSecond }
  } finally {
    for (const each of workers) each.kill('SIGKILL')
    await cluster.stop()
    await server.stop()
  }
}

async function worker(url: string): Promise<ChildProcess> {
  const args = [bin, 'worker', '--nats', url, '--concurrency', '1']
  const child = childOfTest(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }))
  await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the worker has ended'))),
  ])
  return child
}

async function throughput(uri: string, url: string, generators: number): Promise<number> {
  const { code, stdout, stderr } = await run(process.execPath, [
    ...[bin, 'load', '--uri', uri, '--nats', url, '--generators', String(generators), '--workload', 'c'],
    ...[
      '--duration',
      measured,
      '--warm-up',
      '1s',
      '--concurrency',
      String(concurrency),
      '--drop',
      '--no-check',
      '--json',
    ],
  ])
  if (code !== 0) throw new Error(`shardlab load ended with code ${code}: ${stderr}`)
  return (JSON.parse(stdout) as { readonly throughput: number }).throughput
}
