import type { DocumentWriter } from '@shardlab/bson'
import { evaluationOf } from '../crud/evaluation.js'
import { compileDistinct, planDistinctRows } from '../crud/read-distinct.js'
import { collationOf } from './collation.js'
import type { ExplainRequest } from './explainers.js'
import { writePlanExplanation } from './plan-explanation.js'

export function explainDistinct({ invocation, ns, verbosity }: ExplainRequest, writer: DocumentWriter): void {
  const { host, args } = invocation
  const collection = host.collection(ns) ?? null
  const query = compileDistinct(args, evaluationOf(host, args, collection?.defaultCollation ?? null), host.behaviours)
  const plan = collection === null ? null : planDistinctRows(collection, query)
  const collation = collationOf(args.document('collation'), collection)
  writePlanExplanation(writer, host, { ns, collection, plan, filter: query.filter, sort: null, projection: null, collation }, verbosity)
}
