/** Runs the test files against a cluster of each emulated version. */
import type { EmulatedVersion } from '@shardlab/sharding'
import { runConformance, type Report, type RunOptions } from './runner.js'

export type ProfileRunOptions = Omit<RunOptions, 'uri' | 'checkExceptions'>

/** Starts a cluster of this version, runs the files against it and checks the listed exceptions. */
export async function runProfile(version: EmulatedVersion, options: ProfileRunOptions): Promise<Report> {
  // Loaded only here: a run against another cluster does not need Shardlab.
  const { ShardedCluster } = await import('shardlab')
  await using cluster = await ShardedCluster.start({ shards: 2, mongos: 2, runtime: 'inline', emulate: version })
  return await runConformance({ ...options, uri: cluster.uri, checkExceptions: true })
}
