import type { CommandRow } from '@shardlab/actor'
import { planCacheClearSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { repliesByShard } from '../routing/replies-by-shard.js'

export const planCacheClear: CommandRow<MongosInvocation> = {
  ...planCacheClearSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D302'],
  summary: 'Clears cached plans on every shard that owns a part of the collection.',
  run: repliesByShard,
}
