import type { CommandRow } from '@shardlab/actor'
import { planCacheListFiltersSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { repliesByShard } from '../routing/replies-by-shard.js'

export const planCacheListFilters: CommandRow<MongosInvocation> = {
  ...planCacheListFiltersSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Lists index filters on every shard that owns a part of the collection.',
  run: repliesByShard,
}
