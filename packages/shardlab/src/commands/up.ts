/** `shardlab up`: a cluster in the foreground until a signal ends it. */
import { ShardedCluster, type ClusterOptions, type EmulatedVersion } from '@shardlab/cluster'
import { exitCodes, reportError } from '../exit-codes.js'
import type { UpOptions } from './up-options.js'

export async function up(options: UpOptions): Promise<void> {
  const stopped = untilSignal()
  const startedMs = performance.now()
  const cluster = await ShardedCluster.start(clusterOptions(options))
  cluster.on('member', event => {
    if (event.state === 'crashed' && event.error !== undefined) process.stderr.write(`shardlab: ${event.member} died: ${event.error}\n`)
  })
  cluster.on('log', ({ level, member, message, fields }) => {
    if (options.quiet !== true && (level === 'warn' || level === 'error')) process.stderr.write(`${member}: ${message} ${JSON.stringify(fields)}\n`)
  })
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ ready: true, uri: cluster.uri, shards: cluster.shards, mongos: cluster.mongos })}\n`)
  } else if (options.quiet !== true) {
    process.stdout.write(welcome(cluster, options, performance.now() - startedMs))
  }
  await stopped
  await cluster.stop()
  // Standard output may be a pipe that nobody reads any more; nothing is left to wait for.
  process.exit(exitCodes.fine)
}

function clusterOptions(options: UpOptions): ClusterOptions {
  return {
    shards: options.shards,
    mongos: options.mongos,
    port: options.port,
    host: options.host,
    emulate: options.emulate as EmulatedVersion,
    runtime: options.runtime as 'threads' | 'inline',
    ...(options.chunkSize === undefined ? {} : { chunkSize: options.chunkSize }),
    ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
    nativeWire: options.nativeWire ?? false,
    serverTimings: options.serverTimings ?? false,
  }
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise(resolve => {
    let signals = 0
    const onSignal = () => {
      signals++
      if (signals === 1) resolve()
      else process.exit(exitCodes.fine)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
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
    mongosh "${cluster.uri}" --eval 'sh.shardCollection("shop.orders", { customer: "hashed" })'

  Ctrl-C ends it.
`
}

process.on('unhandledRejection', error => {
  process.exit(reportError(error))
})
