import type { DocumentWriter } from '@shardlab/bson'
import { evaluationOf, withTimeLimit, compileDistinct } from '@shardlab/member'
import { planDistinctRows } from '../read-distinct.js'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation } from './plan-explanation.js'
import { queryShapeHash, type ShapeWithCollation } from './query-hash.js'

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
  const plan = collection === null ? null : planDistinctRows(collection, query)
  const collation = collationOf(args.document('collation'), collection)
  const shape: ShapeWithCollation = { filter: query.filter.root, sort: null, projection: null, collation }
  await writePlanExplanation(
    writer,
    invocation,
    { ns, collection, plan, filter: query.filter, sort: null, projection: null, collation },
    verbosity,
  )
  return { shapeHash: queryShapeHash('distinct', `${ns} ${args.string('key')}`, shape), isPipeline: false }
}
