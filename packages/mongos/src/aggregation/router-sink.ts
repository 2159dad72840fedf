import { uuidV4 } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { aggregateErrorContext, temporaryOptions, uuidText, type WriteSink } from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'
import { createWhereDatabaseIs } from '../commands/create.js'
import { isConfigDatabase } from '../routing/route.js'

/** Runs commands of this router, as clients do. */
export function routerSink(
  invocation: MongosInvocation,
  ns: string,
  evaluation: EvaluationContext,
  collation: Uint8Array | null,
): WriteSink {
  const { host, args, operation, connectionId, remote } = invocation
  return {
    async createTemporary(db, name, options) {
      const body = new DocumentWriter(256)
        .string('create', name)
        .fields(temporaryOptions(options))
        .string('$db', db)
        .finish()
      // Bypasses the create command, which rejects `temp` from clients.
      await createWhereDatabaseIs({ ...invocation, db, body, sequences: [] })
    },
    run: (body, sequences) =>
      host.runInternally({ connectionId, remote, legacy: false, body, sequences: [...sequences] }),
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
    errorContext: host.behaviours.thrownErrorsNameExecutor ? aggregateErrorContext(host.behaviours, ns) : null,
    isRouter: true,
  }
}
