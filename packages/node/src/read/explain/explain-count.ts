import type { DocumentWriter } from '@shardlab/bson'
import { evaluationOf, withTimeLimit, compileCount } from '@shardlab/member'
import { planCounting } from '../read-count.js'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation } from './plan-explanation.js'

export async function explainCount(
  { invocation, ns, access, verbosity }: ExplainRequest,
  writer: DocumentWriter,
): Promise<ExplainTail> {
  const { host, args } = invocation
  const collection = host.readable(ns) ?? null
  const query = compileCount(
    args,
    withTimeLimit(evaluationOf(host, args, collection?.defaultCollation ?? null), invocation.operation),
    host,
  )
  const plan = collection === null ? null : planCounting(collection, query, access.ownership)
  const collation = collationOf(args.document('collation'), collection)
  await writePlanExplanation(
    writer,
    invocation,
    { ns, collection, plan, filter: query.filter, sort: null, projection: null, collation },
    verbosity,
  )
  return { isPipeline: false }
}
