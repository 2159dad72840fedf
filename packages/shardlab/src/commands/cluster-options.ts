import type { ClusterOptions } from '@shardlab/cluster'
import type { UpOptions } from './up-options.js'

/** The options of `up` for the API, which has the same names and checks the values. */
export function clusterOptions({ json: _json, quiet: _quiet, ...options }: UpOptions): ClusterOptions {
  return options as ClusterOptions
}
