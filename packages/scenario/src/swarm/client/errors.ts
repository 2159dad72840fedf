import type { Document } from '@shardlab/bson'
import { errorsOf as errorsOfReply } from '../../client/reply.js'

/** Some errors of old versions have no code. */
export type Code = number | undefined

/**
 * Codes of transient errors; after them the outcome of a write is unknown:
 *
 * - 6, 7, 89, 91, 133, 189, 202, 9001, 10107, 11600, 11602, 13435, 13436: a member is down, does
 *   not reply or has stepped down; 65 reports several of them
 * - 262: a command takes too long
 * - 82, 249, 13388: routes change faster than they are refreshed
 * - 112, 319: documents or databases are being moved
 * - 175: the collection is dropped during the operation
 * - 46, 117, 338: conflicting operations
 * - 14031: a full disk
 * - 18: a router cannot read the user who logs in
 * - 50, 134, 187: a member lacks what a read needs, or no majority is available
 */
const passing: ReadonlySet<number> = new Set([
  ...[6, 7, 18, 46, 50, 65, 82, 89, 91, 112, 117, 133, 134, 175, 187, 189, 202, 249, 262, 319, 338],
  ...[9001, 10_107, 11_600, 11_602, 13_388, 13_435, 13_436, 14_031],
])

/**
 * The error of a step that a fault failed has a code of its own, so its text is compared. A router
 * merges the errors that several shards have waiting for a majority into one with code 64, which is
 * otherwise a time-out of the command.
 */
export function isPassing({ code, errmsg }: Document): boolean {
  const text = String(errmsg)
  return (
    passing.has(code as number) ||
    text.includes('was made to fail') ||
    (code === 64 && /^multiple errors reported/i.test(text))
  )
}

/** Those of a driver, and the error of the write concern. */
export function errorsOf(reply: Document): Document[] {
  const ofConcern = reply['writeConcernError'] as Document | undefined
  return [...errorsOfReply(reply), ...(ofConcern === undefined ? [] : [ofConcern])]
}

/**
 * Whether a commit must be repeated although its shard knows no such transaction: a primary that
 * has been replaced does not know what its successor has committed.
 */
export function isUnconfirmed(reply: Document): boolean {
  return reply['code'] === noSuchTransaction && reply['writeConcernError'] !== undefined
}

const noSuchTransaction = 251

/** No client may ever get such a reply. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError'
  readonly command: Document

  constructor(command: Document, message: string) {
    super(message)
    this.command = command
  }
}

/** The command without its session, for people. */
export function nameOf(command: Document): string {
  return JSON.stringify(command, (key, value: unknown) => (key === 'lsid' || key === '$db' ? undefined : value)).slice(
    0,
    240,
  )
}
