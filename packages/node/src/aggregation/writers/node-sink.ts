import { uuidV4 } from '@shardlab/actor'
import { findField, isEmptyDocument } from '@shardlab/bson'
import { compileCollation, type EvaluationContext } from '@shardlab/query'
import { createCollection } from '../../crud/namespace.js'
import { temporaryOptions } from '../../crud/temporary.js'
import { uuidText } from '../../crud/uuid-text.js'
import { ConnectionClosedError } from '../../fail-points/fail-command.js'
import type { NodeInvocation } from '../../invocation.js'
import { runCommand } from '../../run-command.js'
import { presentNode } from '../../sessions/snapshot-read.js'
import type { WriteSink } from './write-sink.js'

/** Writes into collections of this node itself: for clients that are connected to it, past any router. */
export function nodeSink({ host, args }: NodeInvocation, evaluation: EvaluationContext): WriteSink {
  // Whatever time the documents are of, they are written now.
  const present = presentNode(host)
  return {
    async run(body, sequences) {
      const db = findField(body, '$db')!.asString()
      const reply = await runCommand(present, { body, sequences, db, routed: null, client: null })
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
    isRouter: false,
  }
}

/** A collation with all its fields; null for the simple one. */
export function collationOf(given: Uint8Array | undefined): Uint8Array | null {
  return given === undefined || isEmptyDocument(given) ? null : (compileCollation(given)?.document ?? null)
}
