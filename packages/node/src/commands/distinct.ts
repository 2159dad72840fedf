import type { CommandRow } from '@shardlab/actor'
import {
  evaluationOf,
  withTimeLimit,
  compileDistinct,
  distinctSpec,
  DistinctValues,
  withExecutorContext,
  writeValues,
} from '@shardlab/member'
import { readAll } from '../cursors/resume-source.js'
import { catchUpKeys } from '../read/catch-up-keys.js'
import { newSlice } from '../read/new-slice.js'
import { forEachValueAt, planDistinctRows } from '../read/read-distinct.js'
import { PlanSource } from '../read/read-source.js'
import { checkTableScan } from '../read/table-scan.js'
import type { NodeInvocation } from '../host/node-host.js'

export const distinct: CommandRow<NodeInvocation> = {
  ...distinctSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D304', 'D501', 'D502', 'D505', 'D600'],
  summary: 'Lists the distinct values of a field.',
  async run(invocation) {
    const { host, args, db, operation } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const waiting = catchUpKeys(host, operation, host.readable(ns))
    if (waiting !== null) await waiting
    const entered = host.role.enter(ns, invocation)
    // No ownership filter: like the server, distinct on a shard includes orphans.
    if (entered instanceof Promise) await entered
    const collection = host.readable(ns)
    const evaluation = evaluationOf(host, args, collection?.defaultCollation ?? null)
    const query = compileDistinct(args, withTimeLimit(evaluation, operation))
    const values = new DistinctValues(query.context.strings)
    if (collection !== undefined) {
      const plan = planDistinctRows(collection, query, invocation.querySettings)
      checkTableScan(host, plan, query.hint.hint)
      const source = new PlanSource(plan, { slice: newSlice(host), effort: host.statistics.queries, host })
      try {
        await readAll(invocation, source, (document) =>
          forEachValueAt(document, 0, query.key, (value) => values.add(value)),
        )
      } catch (error) {
        throw withExecutorContext(error, host.behaviours, 'Executor error during distinct command')
      }
      source.recordCost()
    }
    return writeValues(values.sorted())
  },
}
