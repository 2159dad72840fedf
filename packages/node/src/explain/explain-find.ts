import type { DocumentWriter } from '@shardlab/bson'
import { evaluationOf } from '../crud/evaluation.js'
import { compileFind } from '../crud/read-find.js'
import { planFind } from '../crud/read-plan.js'
import { collationOf } from './collation.js'
import type { ExplainRequest } from './explainers.js'
import { writePlanExplanation } from './plan-explanation.js'

export function explainFind({ invocation, ns, access, verbosity }: ExplainRequest, writer: DocumentWriter): void {
  const { host, args } = invocation
  const collection = host.collection(ns) ?? null
  const query = compileFind(args, evaluationOf(host, args, collection?.defaultCollation ?? null))
  const plan = collection === null ? null : planFind(collection, query, access.ownership)
  writePlanExplanation(
    writer,
    host,
    {
      ns,
      collection,
      plan,
      filter: query.filter,
      sort: query.sort,
      projection: query.shape.projectionDocument,
      collation: collationOf(args.document('collation'), collection),
      execute: { allowDiskUse: query.allowDiskUse ?? host.behaviours.sortsUseDiskByDefault },
    },
    verbosity,
  )
}
