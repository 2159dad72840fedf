import type { CommandRow } from '@shardlab/actor'
import { planCacheClearFiltersSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { repliesByShard } from '../routing/replies-by-shard.js'

export const planCacheClearFilters: CommandRow<MongosInvocation> = {
  ...planCacheClearFiltersSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Removes index filters on every shard that owns a part of the collection.',
  run: repliesByShard,
}
