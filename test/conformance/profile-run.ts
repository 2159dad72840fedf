/** Runs the test files against a cluster of each emulated version. */
import type { EmulatedVersion } from '@shardlab/sharding'
import { areOnHosts, onHosts } from '../support/on-hosts.js'
import { withRoot } from '../support/with-root.js'
import { runConformance, type Report, type RunOptions } from './runner.js'

export interface ProfileRunOptions extends Omit<RunOptions, 'uri' | 'checkExceptions'> {
  /** The cluster has access control, and tests log in as root. */
  readonly auth?: boolean
}

/** Starts a cluster of this version, runs the files against it and checks the listed exceptions. */
export async function runProfile(
  version: EmulatedVersion,
  { auth = false, ...options }: ProfileRunOptions,
): Promise<Report> {
  // Loaded only here: a run against another cluster does not need Shardlab.
  const { ShardedCluster } = await import('shardlab')
  const size = areOnHosts ? { shards: 12, members: 3 } : { shards: 2 }
  await using cluster = await ShardedCluster.start(
    onHosts({ ...size, mongos: 2, runtime: 'inline', emulate: version, auth }),
  )
  const uri = auth ? await withRoot(cluster.uri) : cluster.uri
  return await runConformance({ ...options, uri, checkExceptions: true })
}
