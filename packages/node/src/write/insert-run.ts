/** Storing many new documents at once, as far as nothing is wrong with any of them. Server: insertDocuments of write_ops_exec.cpp, which tries a batch first too. */
import { CommandError } from '@shardlab/bson'
import { hasValidator } from '../validation/check-document.js'
import { fixDocumentForInsert } from './fix-document.js'
import type { WriteScope } from './write-scope.js'
import type { RetryableWrite } from '../host/node-host.js'

/**
 * Inserts documents from position `from` on, at most so many, and stops before the first one that has to be looked at by itself: one that is refused,
 * that was inserted before, whose collection is made by it, is capped or has a validator, or for which there may be no room.
 * @returns how many were inserted
 */
export function insertRun(
  { invocation, ns, bypassValidation, keepsEmptyTimestamps }: WriteScope,
  documents: readonly Uint8Array[],
  from: number,
  limit: number,
  retryable: RetryableWrite | null,
): number {
  const { host } = invocation
  const collection = host.collection(ns)
  if (collection === undefined || collection.capped !== null || (!bypassValidation && hasValidator(host, collection)))
    return 0
  const fixed: Uint8Array[] = []
  const stmtIds: number[] = []
  let bytes = 0
  for (let i = from; i < documents.length && fixed.length < limit; i++) {
    if (retryable !== null) {
      const stmtId = retryable.stmtId(i)
      if (host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId) !== undefined) break
      stmtIds.push(stmtId)
    }
    const document = fixedOrNull(host, documents[i]!, keepsEmptyTimestamps)
    if (document === null) break
    fixed.push(document)
    bytes += document.length
  }
  if (fixed.length < 2 || !host.hasRoom(bytes, fixed.length)) return 0
  const session =
    retryable === null
      ? null
      : { key: retryable.session.key, lsid: retryable.session.document, txnNumber: retryable.txnNumber, stmtIds }
  return host.insertEach(collection, fixed, session)
}

function fixedOrNull(
  host: WriteScope['invocation']['host'],
  document: Uint8Array,
  keepsEmptyTimestamps: boolean,
): Uint8Array | null {
  try {
    return fixDocumentForInsert(host, document, { keepsEmptyTimestamps })
  } catch (error) {
    if (error instanceof CommandError) return null
    throw error
  }
}
