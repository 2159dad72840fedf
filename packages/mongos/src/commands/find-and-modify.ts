import type { CommandRow } from '@shardlab/actor'
import { findAndModifySpec, readFindAndModify } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { sampleFindAndModify } from '../query-analysis/sampled-writes.js'
import { runFindAndModify } from '../writes/single-document/find-and-modify.js'

export const findAndModify: CommandRow<MongosInvocation> = {
  ...findAndModifySpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D503', 'D504', 'D896'],
  summary:
    'Updates, replaces, upserts or deletes one document and returns it; moves it if its new shard key value belongs to another shard.',
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const request = readFindAndModify(args)
    return runFindAndModify(sampleFindAndModify(invocation, ns), ns, request)
  },
}
