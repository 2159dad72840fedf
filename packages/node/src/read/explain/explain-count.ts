import type { DocumentWriter } from '@shardlab/bson'
import { evaluationOf, compileCount } from '@shardlab/member'
import { planCounting } from '../read-count.js'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation } from './plan-explanation.js'

export function explainCount(
  { invocation, ns, access, verbosity }: ExplainRequest,
  writer: DocumentWriter,
): ExplainTail {
  const { host, args } = invocation
  const collection = host.collection(ns) ?? null
  const query = compileCount(args, evaluationOf(host, args, collection?.defaultCollation ?? null))
  const plan = collection === null ? null : planCounting(collection, query, access.ownership)
  const collation = collationOf(args.document('collation'), collection)
  writePlanExplanation(
    writer,
    host,
    { ns, collection, plan, filter: query.filter, sort: null, projection: null, collation },
    verbosity,
  )
  return { shapeHash: null, isPipeline: false }
}
