/**
 * Runs one simulated cluster in its own process, so that its memory can be measured; prints the
 * result as a line of JSON.
 */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'

/** Shards join a cluster of equally full ones; ends when nothing moves. */
export interface GrowthTask {
  readonly kind: 'growth'
  readonly shards: number
  readonly added: number
  readonly chunks: number
}

/** A cluster without clients: only its own periodic work and balancer rounds. */
export interface QuietTask {
  readonly kind: 'quiet'
  readonly shards: number
  readonly days: number
}

export type SimulateTask = GrowthTask | QuietTask

/** Milliseconds of CPU of all threads of the process, except where stated otherwise. */
export interface SimulateResult {
  readonly startMs: number
  readonly chunksMs: number
  readonly runMs: number
  /** Wall clock, from start to end. */
  readonly wallMs: number
  readonly virtualMs: number
  readonly migrations: number
  readonly rounds: number
  readonly peakBytes: number
}

/** Versions until 6.0.2 balance by the number of chunks, so empty chunks move too. */
const emulate = '4.4'
const hourMs = 3_600_000

async function run(task: SimulateTask): Promise<SimulateResult> {
  const beganMs = performance.now()
  let last = processorMs()
  const lap = () => {
    const before = last
    last = processorMs()
    return last - before
  }
  const isGrowth = task.kind === 'growth'
  const cluster = await createSimulatedCluster({
    seed: 1,
    shards: task.shards,
    attaches: true,
    checkpointAfterBytes: 64 * 1024,
    samplesQueries: false,
    ...(isGrowth ? { emulate } : {}),
  })
  const startMs = lap()
  await admin(cluster, { enableSharding: 'app' })
  await admin(cluster, { balancerStop: 1 })
  await admin(cluster, {
    shardCollection: 'app.c',
    key: { k: 'hashed' },
    numInitialChunks: isGrowth ? task.chunks : 2 * task.shards,
  })
  const chunksMs = lap()
  if (isGrowth) for (let i = 0; i < task.added; i++) await cluster.addShard()
  const virtualFromMs = cluster.now()
  let migrations = 0
  let rounds = 0
  let isQuiet = false
  cluster.watch(['balancer-round'])
  cluster.onEvent((event) => {
    if (event.type !== 'balancer-round' || event.skipped !== null) return
    rounds++
    isQuiet = event.migrations.length === 0
    migrations += event.migrations.filter(({ outcome }) => outcome === 'moved').length
  })
  await admin(cluster, { balancerStart: 1 })
  if (isGrowth) while (!isQuiet) await cluster.advance(10_000)
  else for (let hour = 0; hour < task.days * 24; hour++) await cluster.advance(hourMs)
  return {
    startMs,
    chunksMs,
    runMs: lap(),
    wallMs: performance.now() - beganMs,
    virtualMs: cluster.now() - virtualFromMs,
    migrations,
    rounds,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }
}

async function admin(cluster: SimulatedCluster, command: Document): Promise<void> {
  const reply = decode(await cluster.command(encode({ ...command, $db: 'admin' })))
  if (reply['ok'] !== 1) throw new Error(`${Object.keys(command)[0]} failed: ${String(reply['errmsg'])}`)
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2]!) as SimulateTask))}\n`)
