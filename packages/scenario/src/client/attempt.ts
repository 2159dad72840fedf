/**
 * An attempt on one mongos: adds the fields that drivers add, and reacts to the outcome as they do.
 */
import type { Document, Long, Timestamp } from '@shardlab/bson'
import type { ClusterTimes } from './cluster-times.js'
import type { Connection } from './connection-pool.js'
import { CommandFailure, NetworkFailure } from './failures.js'
import { codeOf, labelsOf } from './reply.js'
import {
  isShuttingDown,
  isStateChange,
  retryableWriteError,
  waitsForSession,
  type CommandKind,
  type Sequences,
} from './retry-rules.js'
import type { Router } from './router.js'
import type { Session } from './sessions.js'

export interface Sending {
  readonly command: Document
  readonly sequences: Sequences
  readonly kind: CommandKind
  /** null: without a session. */
  readonly session: Session | null
  /** The same in each attempt; null: not a retryable write. */
  readonly txnNumber: Long | null
}

export interface AttemptParts {
  readonly times: ClusterTimes
  readonly onSend: (body: Document) => void
  /** If true, network errors are labelled accordingly. */
  readonly retryWrites: boolean
}

/** A reply with `ok: 1`, including a possible write concern error, or the failure. */
export type Attempt =
  | { readonly reply: Document; readonly error: CommandFailure | null }
  | CommandFailure
  | NetworkFailure

export async function sendOnce(sending: Sending, router: Router, parts: AttemptParts): Promise<Attempt> {
  const { pool } = router
  let connection: Connection | null = null
  try {
    connection = await pool.checkOut()
    const body = bodyOf(sending, router, parts.times)
    parts.onSend(body)
    if (sending.kind.unacknowledged) {
      pool.commandUnanswered(connection, body, sending.sequences)
      pool.checkIn(connection, false)
      return { reply: { ok: 1 }, error: null }
    }
    const reply = await pool.command(connection, body, sending.sequences)
    const attempt = understood(reply, sending, parts.times)
    if (attempt instanceof CommandFailure) notice(attempt, router, connection)
    else if (attempt.error !== null) notice(attempt.error, router, connection)
    pool.checkIn(connection, false)
    return attempt
  } catch (error) {
    if (!(error instanceof NetworkFailure || error instanceof CommandFailure)) throw error
    // Of a handshake or a login.
    if (error instanceof CommandFailure) parts.times.learn(error.reply)
    if (connection === null || error instanceof CommandFailure) {
      notice(error, router, null)
      return error
    }
    return broken(error, sending, router, connection, parts.retryWrites)
  }
}

function bodyOf({ command, session, kind, txnNumber }: Sending, router: Router, times: ClusterTimes): Document {
  const body = { ...command }
  // A command with its own lsid manages its own retries.
  if (session !== null && command['lsid'] === undefined && router.sessionTimeoutMs !== null && !kind.unacknowledged) {
    session.server.lastUsedMs = Math.max(session.server.lastUsedMs, session.now())
    body['lsid'] = session.lsid
    if (txnNumber !== null) body['txnNumber'] = txnNumber
    if (session.isCausal && session.operationTime !== null && waitsForSession(kind.name))
      body['readConcern'] = {
        ...(body['readConcern'] as Document | undefined),
        afterClusterTime: session.operationTime satisfies Timestamp,
      }
    session.transaction?.decorate(body, kind.name)
  }
  times.learn(command)
  if (times.newest !== null) body['$clusterTime'] = times.newest
  return body
}

function understood(reply: Document, { session }: Sending, times: ClusterTimes): Exclude<Attempt, NetworkFailure> {
  times.learn(reply)
  session?.learn(reply)
  session?.transaction?.learn(reply)
  if (reply['ok'] !== 1)
    return new CommandFailure(codeOf(reply['code']), String(reply['errmsg']), labelsOf(reply), reply)
  const concern = reply['writeConcernError'] as Document | undefined
  if (concern === undefined) return { reply, error: null }
  return {
    reply,
    error: new CommandFailure(codeOf(concern['code']), String(concern['errmsg']), labelsOf(reply), reply),
  }
}

function broken(
  error: NetworkFailure,
  { session }: Sending,
  router: Router,
  connection: Connection,
  retryWrites: boolean,
): NetworkFailure {
  // Commands that wait for a connection fail too, instead of opening another one.
  notice(error, router, connection)
  router.pool.checkIn(connection, true)
  if (session !== null) session.server.isDirty = true
  if (!retryWrites || router.sessionTimeoutMs === null) return error
  const { message, isTimeout, isUndelivered, labels } = error
  return new NetworkFailure(message, { isTimeout, isUndelivered }, [...labels, retryableWriteError])
}

/** Marks a mongos unknown. Specification Server Discovery and Monitoring, "Error handling". */
function notice(error: NetworkFailure | CommandFailure, router: Router, connection: Connection | null): void {
  if (connection !== null && connection.generation < router.pool.generation) return
  if (error instanceof CommandFailure) {
    if (isStateChange(error.code)) router.markUnknown(isShuttingDown(error.code))
  } else if (connection !== null && !error.isTimeout) router.lost()
}
