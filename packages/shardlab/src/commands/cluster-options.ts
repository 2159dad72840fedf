import type { ClusterOptions } from '@shardlab/cluster'
import type { UpOptions } from './up-options.js'

/** The API has the same option names, and checks the values. */
export function clusterOptions({
  json: _json,
  quiet: _quiet,
  exitWithParent: _exitWithParent,
  ...options
}: UpOptions): ClusterOptions {
  return options as ClusterOptions
}
