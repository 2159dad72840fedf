/** `shardlab up`: a cluster in the foreground until a signal ends it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ShardedCluster } from '@shardlab/cluster'
import { exitCodes } from '../exit-codes.js'
import { clusterOptions } from './cluster-options.js'
import type { UpOptions } from './up-options.js'

/** An end in order may take this long; then connections that are still busy are cut. A signal has to end `up` within a second. */
const stopGraceMs = 800

/** Runs a cluster and ends the process with code 0 once `stopped` resolves; rejects when the cluster cannot start. */
export async function up(options: UpOptions, stopped: Promise<void>): Promise<void> {
  const startedMs = performance.now()
  const cluster = await Promise.race([ShardedCluster.start(clusterOptions(options)), stopped])
  // Nothing of a cluster that is still starting outlives the process.
  if (cluster === undefined) process.exit(exitCodes.fine)
  cluster.on('member', (event) => {
    if (event.state === 'crashed' && event.error !== undefined) process.stderr.write(`shardlab: ${event.member} died: ${event.error}\n`)
  })
  cluster.on('log', ({ level, member, message, fields }) => {
    if (options.quiet !== true && (level === 'warn' || level === 'error'))
      process.stderr.write(`${member}: ${message} ${JSON.stringify(fields)}\n`)
  })
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ ready: true, uri: cluster.uri, shards: cluster.shards, mongos: cluster.mongos })}\n`)
  } else if (options.quiet !== true) {
    process.stdout.write(welcome(cluster, options, performance.now() - startedMs))
  }
  await stopped
  await Promise.race([cluster.stop(), sleep(stopGraceMs)])
  process.exit(exitCodes.fine)
}

function welcome(cluster: ShardedCluster, options: UpOptions, tookMs: number): string {
  const members = cluster.shards.map(({ id, uri }) => `    ${id}  ${uri}`).join('\n')
  return `
  A sharded cluster is up: ${options.shards} shard${options.shards === 1 ? '' : 's'}, config server, ${options.mongos} mongos, balancer (${Math.round(tookMs)} ms).
  It behaves as MongoDB ${options.emulate}. It is an emulator: data lives in memory and goes with the process.

    ${cluster.uri}

  Each shard by itself:
${members}

  What to try next:
    mongosh "${cluster.uri}" --eval "sh.status()"
    mongosh "${cluster.uri}" --eval 'sh.enableSharding("shop"); sh.shardCollection("shop.orders", { customer: "hashed" })'

  Ctrl-C ends it.
`
}
