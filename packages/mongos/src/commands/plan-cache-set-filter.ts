import type { CommandRow } from '@shardlab/actor'
import { planCacheSetFilterSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { repliesByShard } from '../routing/replies-by-shard.js'

export const planCacheSetFilter: CommandRow<MongosInvocation> = {
  ...planCacheSetFilterSpec,
  routing: 'all-shards',
  status: 'full',
  summary:
    'Sets the only indexes that plans for a query shape may use, on every shard that owns a part of the collection.',
  run: repliesByShard,
}
