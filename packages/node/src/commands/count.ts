import type { CommandRow } from '@shardlab/actor'
import { countBy } from '@shardlab/storage'
import { evaluationOf, withTimeLimit, compileCount, countSpec, writeCount } from '@shardlab/member'
import { readAll } from '../cursors/resume-source.js'
import { catchUpKeys } from '../read/catch-up-keys.js'
import { newSlice } from '../read/new-slice.js'
import { planCounting } from '../read/read-count.js'
import { PlanSource } from '../read/read-source.js'
import { checkTableScan } from '../read/table-scan.js'
import type { NodeInvocation } from '../host/node-host.js'

const ignoreRow = (): void => {}

export const count: CommandRow<NodeInvocation> = {
  ...countSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D109', 'D502', 'D505'],
  summary: 'Counts documents.',
  async run(invocation) {
    const { host, args, db, operation } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const waiting = catchUpKeys(host, operation, host.readable(ns))
    if (waiting !== null) await waiting
    const entered = host.role.enter(ns, invocation)
    const { ownership } = entered instanceof Promise ? await entered : entered
    const collection = host.readable(ns)
    const evaluation = evaluationOf(host, args, collection?.defaultCollation ?? null)
    const query = compileCount(args, withTimeLimit(evaluation, operation), host)
    if (collection === undefined) return writeCount(0)
    const plan = planCounting(collection, query, ownership)
    checkTableScan(host, plan, query.hint.hint)
    const source = new PlanSource(plan, { slice: newSlice(host), effort: host.statistics.queries, host })
    await readAll(invocation, source, ignoreRow)
    source.recordCost()
    return writeCount(countBy(source.executor))
  },
}
