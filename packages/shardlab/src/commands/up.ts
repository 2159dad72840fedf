import { setTimeout as sleep } from 'node:timers/promises'
import {
  ClusterSnapshot,
  OptionError,
  resolveOptions,
  ShardedCluster,
  type ClusterOptions,
  type ResolvedOptions,
} from '@shardlab/cluster'
import { exitCodes } from '../exit-codes.js'
import { clusterOptions } from './cluster-options.js'
import type { UpOptions } from './up-options.js'

/** After this time busy connections are closed, so that `up` ends within a second of a signal. */
const stopGraceMs = 800

/** Ends the process with code 0 when `stopped` resolves. Rejects when the cluster cannot start. */
export async function up(options: UpOptions, stopped: Promise<void>): Promise<void> {
  const startedMs = performance.now()
  const started = await Promise.race([start(clusterOptions(options)), stopped])
  // A cluster that is still starting needs no stop: nothing of it outlives the process.
  if (started === undefined) process.exit(exitCodes.fine)
  const { cluster, resolved } = started
  cluster.on('member', (event) => {
    if (event.state === 'crashed' && event.error !== undefined)
      process.stderr.write(`shardlab: ${event.member} crashed: ${event.error}\n`)
  })
  cluster.on('log', ({ level, member, message, fields }) => {
    if (options.quiet !== true && (level === 'warn' || level === 'error'))
      process.stderr.write(`${member}: ${message} ${JSON.stringify(fields)}\n`)
  })
  if (options.json === true) {
    process.stdout.write(
      `${JSON.stringify({ ready: true, uri: cluster.uri, shards: cluster.shards, mongos: cluster.mongos })}\n`,
    )
  } else if (options.quiet !== true) {
    process.stdout.write(welcome(cluster, resolved, performance.now() - startedMs))
  }
  await stopped
  await Promise.race([cluster.stop(), sleep(stopGraceMs)])
  process.exit(exitCodes.fine)
}

/** @throws OptionError */
async function start(options: ClusterOptions): Promise<{ cluster: ShardedCluster; resolved: ResolvedOptions }> {
  const { from } = options
  const given = typeof from === 'string' ? { ...options, from: await ClusterSnapshot.load(from) } : options
  const resolved = resolveOptions(given)
  if (resolved.clock === 'manual')
    throw new OptionError(
      `${String(from)} is the snapshot of a cluster with a manual clock, which up cannot advance: use a snapshot of a cluster with a real clock.`,
    )
  return { cluster: await ShardedCluster.start(given), resolved }
}

function welcome({ uri, shards, mongos }: ShardedCluster, { emulate }: ResolvedOptions, tookMs: number): string {
  const members = shards.map(({ id, uri: own }) => `    ${id}  ${own}`).join('\n')
  return `
  A sharded cluster is running: ${shards.length} shard${shards.length === 1 ? '' : 's'}, config server, ${mongos.length} mongos, balancer (${Math.round(tookMs)} ms).
  It emulates MongoDB ${emulate}. Data is held in memory and is lost when the process ends.

    ${uri}

  Single shards:
${members}

  Try next:
    mongosh "${uri}" --eval "sh.status()"
    mongosh "${uri}" --eval 'sh.enableSharding("shop"); sh.shardCollection("shop.orders", { customer: "hashed" })'

  Ctrl-C stops it.
`
}
