/** Server: onPrimaryTransactionalWrite of transaction_participant.cpp. */
import { CommandError, findField, sameBytes } from '@shardlab/bson'
import { SessionCatalog, type FailPoints, type RunningOperation } from '@shardlab/member'
import type { LogSession } from '@shardlab/storage'
import { sessionText } from './session-text.js'

interface Failing {
  readonly failPoints: FailPoints
  readonly operations: Iterable<RunningOperation>
}

/** For documents that are otherwise inserted one by one. */
export function failsTransactionalWrite(node: Failing, session: LogSession): boolean {
  try {
    failTransactionalWrite(node, session)
    return false
  } catch (error) {
    if (error instanceof CommandError) return true
    throw error
  }
}

/**
 * Called before a statement of a retryable write, or an entry of a transaction, is written.
 * @throws CommandError with the code `failBeforeCommitExceptionCode` in the data of the fail point
 */
export function failTransactionalWrite({ failPoints, operations }: Failing, { lsid, txnNumber }: LogSession): void {
  const data = failPoints.enter('onPrimaryTransactionalWrite')
  if (data === null) return
  if (findField(data, 'closeConnection')?.isTruthy() ?? true)
    for (const operation of operations)
      if (operation.session !== null && sameBytes(operation.session.document, lsid)) operation.closesConnection = true
  const code = findField(data, 'failBeforeCommitExceptionCode')
  if (code === undefined) return
  throw new CommandError(
    code.asNumber(),
    `Failing write for ${sessionText(SessionCatalog.parseAny(lsid).key)}:${txnNumber} due to failpoint. The write must not be reflected.`,
  )
}
