import type { EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../../host/mongos-host.js'
import type { ShardRequests } from './shard-requests.js'
import type { WriteCommand } from '../write-command.js'

/** A write batch as the parts that target and send its statements see it. */
export interface WriteBatch {
  readonly command: WriteCommand
  readonly invocation: MongosInvocation
  readonly evaluation: EvaluationContext
  readonly shards: ShardRequests
}
