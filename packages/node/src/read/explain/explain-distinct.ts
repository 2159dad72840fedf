import type { DocumentWriter } from '@shardlab/bson'
import { evaluationOf, withTimeLimit, compileDistinct } from '@shardlab/member'
import { planDistinctRows } from '../read-distinct.js'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation } from './plan-explanation.js'

export async function explainDistinct(
  { invocation, ns, verbosity }: ExplainRequest,
  writer: DocumentWriter,
): Promise<ExplainTail> {
  const { host, args } = invocation
  const collection = host.readable(ns) ?? null
  const query = compileDistinct(
    args,
    withTimeLimit(evaluationOf(host, args, collection?.defaultCollation ?? null), invocation.operation),
  )
  const plan = collection === null ? null : planDistinctRows(collection, query, invocation.querySettings)
  const collation = collationOf(args.document('collation'), collection)
  await writePlanExplanation(
    writer,
    invocation,
    { ns, collection, plan, filter: query.filter, sort: null, projection: null, collation },
    verbosity,
  )
  return { isPipeline: false }
}
