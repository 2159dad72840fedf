import { uuidV4 } from '@shardlab/actor'
import { uuidText, type WriteSink } from '@shardlab/node'
import type { EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../command/invocation.js'
import { isConfigDatabase } from '../routing/route.js'

/** Writes by commands of this router, as its clients write. */
export function routerSink(invocation: MongosInvocation, evaluation: EvaluationContext, collation: Uint8Array | null): WriteSink {
  const { host, args, operation, connectionId, remote } = invocation
  return {
    run: (body, sequences) => host.runInternally({ connectionId, remote, legacy: false, body, sequences: [...sequences] }),
    async shardKeyOf(db, collection) {
      if (isConfigDatabase(db)) return null
      const placement = await host.catalog.collection(`${db}.${collection}`, operation)
      return placement === null || placement.isUnsplittable ? null : placement.shardKey.paths
    },
    newUuid: () => uuidText(uuidV4(host.context.random)),
    evaluation,
    bypassDocumentValidation: args.bool('bypassDocumentValidation') === true,
    writeConcern: args.document('writeConcern'),
    collation,
    isRouter: true,
  }
}
