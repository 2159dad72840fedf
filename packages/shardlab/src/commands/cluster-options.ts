import type { ClusterOptions } from '@shardlab/cluster'
import type { UpOptions } from './up-options.js'

/** Options of `up` as the API takes them, which has the same names; the API checks the values. */
export function clusterOptions({ json: _json, quiet: _quiet, ...options }: UpOptions): ClusterOptions {
  return options as ClusterOptions
}
