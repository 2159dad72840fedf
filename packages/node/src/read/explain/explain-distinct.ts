import type { DocumentWriter } from '@shardlab/bson'
import { evaluationOf, compileDistinct } from '@shardlab/member'
import { planDistinctRows } from '../read-distinct.js'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation } from './plan-explanation.js'
import { queryShapeHash, type ShapeWithCollation } from './query-hash.js'

export function explainDistinct({ invocation, ns, verbosity }: ExplainRequest, writer: DocumentWriter): ExplainTail {
  const { host, args } = invocation
  const collection = host.collection(ns) ?? null
  const query = compileDistinct(args, evaluationOf(host, args, collection?.defaultCollation ?? null))
  const plan = collection === null ? null : planDistinctRows(collection, query)
  const collation = collationOf(args.document('collation'), collection)
  const shape: ShapeWithCollation = { filter: query.filter.root, sort: null, projection: null, collation }
  writePlanExplanation(
    writer,
    host,
    { ns, collection, plan, filter: query.filter, sort: null, projection: null, collation },
    verbosity,
  )
  return { shapeHash: queryShapeHash('distinct', `${ns} ${args.string('key')}`, shape), isPipeline: false }
}
