import type { CommandRow } from '@shardlab/actor'
import { aggregateSpec, batchSizeOf, checkCursorArgument, wantsSingleReply, withSingleReply } from '@shardlab/member'
import { runAggregate } from '../aggregation/run-aggregate.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { explainItself } from '../explain/explain-pipeline.js'

export const aggregate: CommandRow<MongosInvocation> = {
  ...aggregateSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D109', 'D202', 'D203', 'D301', 'D401', 'D404', 'D501', 'D502', 'D505', 'D609', 'D613'],
  summary:
    'Runs a pipeline on one shard, or its first part on several shards and the rest on one of them or on the router.',
  run(invocation) {
    const { args, host } = invocation
    if (args.bool('explain') === true) return explainItself(invocation)
    if (wantsSingleReply(invocation)) return withSingleReply(invocation, runAggregate, (id) => host.cursors.kill(id))
    checkCursorArgument(args)
    batchSizeOf(args)
    return runAggregate(invocation)
  },
}
