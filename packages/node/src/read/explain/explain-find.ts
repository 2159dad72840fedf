import { isEmptyDocument, type DocumentWriter } from '@shardlab/bson'
import { evaluationOf, withTimeLimit, compileFind, type FindQuery } from '@shardlab/member'
import { planFind } from '../read-plan.js'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation } from './plan-explanation.js'

export async function explainFind(
  { invocation, ns, access, verbosity }: ExplainRequest,
  writer: DocumentWriter,
): Promise<ExplainTail> {
  const { host, args } = invocation
  const collection = host.readable(ns) ?? null
  const query = compileFind(
    args,
    withTimeLimit(evaluationOf(host, args, collection?.defaultCollation ?? null), invocation.operation),
  )
  const plan = collection === null ? null : planFind(collection, query, access.ownership, invocation.querySettings)
  const { filter, sort, shape } = query
  const projection = shape.projectionDocument
  const collation = collationOf(args.document('collation'), collection)
  const mayBeExpress = !args.has('batchSize') && args.bool('showRecordId') !== true
  await writePlanExplanation(
    writer,
    invocation,
    {
      ns,
      collection,
      plan,
      filter,
      sort,
      projection,
      collation,
      execute: { allowDiskUse: query.allowDiskUse ?? host.behaviours.sortsUseDiskByDefault },
      express: mayBeExpress ? expressOf(query) : 'none',
    },
    verbosity,
  )
  return { isPipeline: false }
}

/** Lookups with an EXPRESS stage. Server: query_utils.h, isExpressEligible. */
function expressOf({ sort, hint, skip, min, max, returnKey, shape, tailable }: FindQuery): 'none' | 'id' | 'equality' {
  const isPlain =
    hint.hint === undefined && skip === 0 && isAbsent(min) && isAbsent(max) && !returnKey && tailable === 'no'
  if (!isPlain) return 'none'
  return sort === null && shape.projectionDocument === null ? 'equality' : 'id'
}

function isAbsent(document: Uint8Array | null): boolean {
  return document === null || isEmptyDocument(document)
}
