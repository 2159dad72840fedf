import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { runCount } from '@shardlab/storage'
import { evaluationOf, withTimeLimit } from '../crud/evaluation.js'
import { compileCount, countFields, planCounting } from '../crud/read-count.js'
import { checkTableScan } from '../crud/table-scan.js'
import type { NodeInvocation } from '../invocation.js'

export const count: CommandRow<NodeInvocation> = {
  name: 'count',
  routing: 'shard-key',
  access: 'read',
  apiVersion1: true,
  manual: 'reference/command/count',
  status: 'full',
  summary: 'Counts documents.',
  fields: countFields,
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const entered = host.role.enter(ns, invocation)
    const { ownership } = entered instanceof Promise ? await entered : entered
    const collection = host.collection(ns)
    const evaluation = evaluationOf(host, args, collection?.defaultCollation ?? null)
    const query = compileCount(args, withTimeLimit(evaluation, invocation.operation))
    if (collection === undefined) return writeCount(0)
    const plan = planCounting(collection, query, ownership)
    checkTableScan(host, plan, query.hint.hint)
    return writeCount(runCount(plan, {}, (stats) => host.statistics.queries.add(plan.root, stats, null)))
  },
}

/** `{ n }` as the server appends numbers: int32 where it fits. */
export function writeCount(n: number, writer = new DocumentWriter(128)): DocumentWriter {
  return n < 2 ** 31 ? writer.int32('n', n) : writer.int64('n', n)
}
