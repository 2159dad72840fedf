/** Classifies errors of replies: transient obstacles, and answers. */
import type { Document } from '@shardlab/bson'

/** Code of an error; some errors of old versions have none. */
export type Code = number | undefined

/**
 * A member that is away, does not answer or is not what it was (6, 7, 89, 91, 133, 189, 202, 9001,
 * 10107, 11600, 11602, 13435, 13436, and 65 for several of them), what takes too long (262),
 * routing that changes faster than it is looked up (82, 249, 13388), documents and databases that
 * are being moved (112, 319), collections that go away under an operation (175), operations that
 * exclude each other (46, 117, 338), a full disk (14031). What they say nothing of is whether a
 * write was done.
 */
const passing: ReadonlySet<number> = new Set([
  ...[6, 7, 46, 65, 82, 89, 91, 112, 117, 133, 175, 189, 202, 249, 262, 319, 338],
  ...[9001, 10_107, 11_600, 11_602, 13_388, 13_435, 13_436, 14_031],
])

/**
 * Whether the error reports a transient obstacle. A step failed by a fault has a code of its own.
 */
export function isPassing({ code, errmsg }: Document): boolean {
  return passing.has(code as number) || String(errmsg).includes('was made to fail')
}

/**
 * All errors in a reply: its own, and those of batch statements, bulkWrite operations and single
 * shards.
 */
export function errorsOf(reply: Document): Document[] {
  const ofShards = Object.values<Document>(reply['raw'] ?? {}).filter(({ ok }) => ok === 0)
  const ofStatements = (reply['writeErrors'] as Document[] | undefined) ?? []
  const ofBulk = ((reply['cursor']?.firstBatch as Document[] | undefined) ?? []).filter(
    ({ ok, code }) => ok === 0 && code !== undefined,
  )
  const ofConcern = reply['writeConcernError'] as Document | undefined
  return [
    ...(reply['ok'] === 1 ? [] : [reply]),
    ...ofStatements,
    ...ofBulk,
    ...ofShards,
    ...(ofConcern === undefined ? [] : [ofConcern]),
  ]
}

/** A reply that no client may ever get. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError'
}

/** The command without its session, for people. */
export function nameOf(command: Document): string {
  return JSON.stringify(command, (key, value: unknown) => (key === 'lsid' || key === '$db' ? undefined : value)).slice(
    0,
    240,
  )
}
