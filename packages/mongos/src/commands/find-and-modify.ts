import type { CommandRow } from '@shardlab/actor'
import { findAndModifySpec, readFindAndModify, checkLet } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { sampleFindAndModify } from '../query-analysis/sampled-writes.js'
import { runFindAndModify } from '../writes/single-document/find-and-modify.js'

export const findAndModify: CommandRow<MongosInvocation> = {
  ...findAndModifySpec,
  routing: 'shard-key',
  status: 'full',
  summary:
    'Updates, replaces, upserts or deletes one document and answers with it; moves it if its shard key value asks for it.',
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    checkLet(invocation)
    const request = readFindAndModify(args)
    return runFindAndModify(sampleFindAndModify(invocation, ns), ns, request)
  },
}
