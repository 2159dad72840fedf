import type { ReplyOf } from '@shardlab/actor'
import { CommandError, encode, errorDocument, type Document } from '@shardlab/bson'
import { BusyWorldError } from '@shardlab/runtime'
import { OptionError } from './option-error.js'

/** The reply to the command `shardlab`: the document, or the error of the server for a failure. */
export async function replyOf(run: () => Promise<Document>): Promise<ReplyOf<'cluster.command'>> {
  try {
    return { reply: encode(await run()), error: null }
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error)
    return { reply: encode({}), error: errorDocument(new CommandError(codeNameOf(error), sentence)) }
  }
}

function codeNameOf(error: unknown): 'BadValue' | 'ConflictingOperationInProgress' | 'OperationFailed' {
  if (error instanceof OptionError) return 'BadValue'
  return error instanceof BusyWorldError ? 'ConflictingOperationInProgress' : 'OperationFailed'
}
