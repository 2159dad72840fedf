import { CommandError } from '@shardlab/bson'
import { listSource } from '@shardlab/member'
import type { NodeStageSource } from './source.js'

/** Plans are not cached (D302). Server: document_source_plan_cache_stats.cpp. */
export const planCacheStatsSource: NodeStageSource = {
  name: '$planCacheStats',
  open({ invocation: { host }, ns }) {
    if (host.collection(ns) === undefined) throw new CommandError(50933, `collection '${ns}' does not exist`)
    return listSource([])
  },
}
