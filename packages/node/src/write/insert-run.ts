/**
 * Inserts many documents at once as long as none needs individual treatment. Server:
 * insertDocuments of write_ops_exec.cpp, which also tries a batch first.
 */
import { CommandError } from '@shardlab/bson'
import { hasValidator } from '../validation/check-document.js'
import { fixDocumentForInsert } from './fix-document.js'
import { keyOfInserted } from './write-insert.js'
import type { WriteScope } from './write-scope.js'
import type { RetryableWrite } from '../host/node-host.js'

/**
 * Inserts up to `limit` documents from position `from` on. Stops before the first document that
 * must be inserted alone, because it is refused, was inserted before, or may find no room. Inserts
 * none if the collection does not exist, is capped or has a validator.
 * @returns number of inserted documents
 */
export function insertRun(
  { invocation, ns, access, bypassValidation, keepsEmptyTimestamps }: WriteScope,
  documents: readonly Uint8Array[],
  from: number,
  limit: number,
  retryable: RetryableWrite | null,
): number {
  const { host } = invocation
  // A document may have to wait for a transaction.
  if (!host.transactions.keys.isEmpty && invocation.transaction === undefined) return 0
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
  return host.insertEach(collection, fixed, session, keyOfInserted(host, access))
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
