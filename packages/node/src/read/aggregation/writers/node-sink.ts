import { uuidV4 } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'
import { temporaryOptions, uuidText, ConnectionClosedError, type WriteSink, collationOf } from '@shardlab/member'
import { createCollection } from '../../../ddl/namespace.js'
import { runCommand } from '../../../dispatch/run-command.js'
import { liveNode } from '../../snapshots/live-node.js'
import type { NodeInvocation } from '../../../host/node-host.js'

/** For clients that are connected to this node directly. */
export function nodeSink({ host, args }: NodeInvocation, evaluation: EvaluationContext): WriteSink {
  // Writes go to the live collections even if the documents come from a snapshot.
  const present = liveNode(host)
  return {
    async run(body, sequences) {
      const db = findField(body, '$db')!.asString()
      const reply = await runCommand(present, { body, sequences, db, routed: null, client: null, repeats: false })
      if (reply === null) throw new ConnectionClosedError()
      return reply.finish()
    },
    async createTemporary(db, name, options) {
      present.requireRoom()
      createCollection(present, `${db}.${name}`, temporaryOptions(options))
      await present.flush()
    },
    shardKeyOf: () => Promise.resolve(null),
    newUuid: () => uuidText(uuidV4(host.context.random)),
    evaluation,
    bypassDocumentValidation: args.bool('bypassDocumentValidation') === true,
    writeConcern: args.document('writeConcern'),
    collation: collationOf(args.document('collation')),
    errorContext: null,
    isRouter: false,
  }
}
