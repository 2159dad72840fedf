import type { ClusterOptions, EmulatedVersion } from '@shardlab/cluster'
import type { UpOptions } from './up-options.js'

/** Options of `up` as the API takes them; the API checks the values. */
export function clusterOptions(options: UpOptions): ClusterOptions {
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
    strict: options.strict ?? false,
  }
}
