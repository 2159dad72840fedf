import type { CommandRow } from '@shardlab/actor'
import { runCount } from '@shardlab/storage'
import { evaluationOf, withTimeLimit, compileCount, countSpec, writeCount } from '@shardlab/member'
import { planCounting } from '../read/read-count.js'
import { checkTableScan } from '../read/table-scan.js'
import type { NodeInvocation } from '../host/node-host.js'

export const count: CommandRow<NodeInvocation> = {
  ...countSpec,
  routing: 'shard-key',
  status: 'full',
  summary: 'Counts documents.',
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
