import type { EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../../host/mongos-host.js'
import type { ShardRequests } from './shard-requests.js'
import type { WriteCommand } from '../write-command.js'

export interface WriteBatch {
  readonly command: WriteCommand
  readonly invocation: MongosInvocation
  readonly evaluation: EvaluationContext
  readonly shards: ShardRequests
}
