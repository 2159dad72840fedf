/** From a command that has reached a node to its reply. Server: service_entry_point_shard_role.cpp. */
import { CommandArguments, commandErrorOf, refuseLacking, type ClientCommand, type CommandRow, type NodeCommand } from '@shardlab/actor'
import { CommandError, DocumentWriter, firstFieldName, writeError } from '@shardlab/bson'
import { checkOpQueryCommand } from '@shardlab/wire'
import { checkApiVersion } from './common/api-version.js'
import { helpOf } from './common/help.js'
import { finishOperation } from './common/member-log.js'
import { checkConcerns, checkReadTime, takesWriteConcern, writeConcernErrorOf, type Concerns } from './crud/concerns.js'
import { ConnectionClosedError, evaluateFailCommand, withFailedWriteConcern, type FailableCommand } from './fail-points/fail-command.js'
import { maxTimeMsAtFailPoints } from './fail-points/max-time.js'
import type { NodeInvocation, RetryableWrite } from './invocation.js'
import { RunningOperation } from './operations/running-operation.js'
import { maxTimeMsOf, TimeLimit } from './operations/time-limit.js'
import { relabelled, withErrorLabels } from './sessions/error-labels.js'
import { checkSnapshotReads, nodeAtTime, withAtClusterTime } from './sessions/snapshot-read.js'
import { readSessionOptions, type SessionOptions } from './sessions/session-options.js'
import type { StorageNode } from './storage-node.js'
import { runResolvingViews } from './views/run-resolving-views.js'

/** A command with where it comes from: a router or a client. */
export interface CommandRequest {
  readonly body: Uint8Array
  readonly sequences: NodeCommand['sequences']
  readonly db: string
  readonly routed: NodeCommand | null
  readonly client: ClientCommand | null
}

/**
 * Runs a command; what a client did wrong is in the reply, which lacks the times. Null: there is no answer, and the client's connection is to be
 * closed.
 */
export async function runCommand(node: StorageNode, request: CommandRequest): Promise<DocumentWriter | null> {
  let operation: RunningOperation | null = null
  let failure: CommandError | null = null
  try {
    const row = findRow(node, request)
    node.statistics.commandBegins(row.name)
    operation = node.operations.begin(newOperation(node, request, row))
    const invocation = prepare(node, request, row, operation)
    const failable: FailableCommand | null = node.failPoints.active
      ? { host: node, row, operation, internal: request.client === null, deadlineMs: null }
      : null
    if (failable !== null) await evaluateFailCommand(failable)
    const running = helpOf(row, invocation.args) ?? runResolvingViews(row, invocation)
    const writer = running instanceof DocumentWriter ? running : await running
    const { read, write } = invocation.concerns
    if (read.atClusterTime !== null) return withAtClusterTime(writer, read.atClusterTime).double('ok', 1)
    const concernError = write === null ? null : writeConcernErrorOf(write)
    if (concernError !== null) writer.document('writeConcernError', concernError)
    const reply = failable !== null && takesWriteConcern(row, invocation.args) ? withFailedWriteConcern(failable, writer) : writer
    return reply.double('ok', 1)
  } catch (error) {
    const { client, body } = request
    const commandError = commandErrorOf(error, firstFieldName(body) ?? '', node.context)
    const labels = operation?.errorLabels ?? null
    if (commandError instanceof ConnectionClosedError) failure = commandError
    else if (labels !== null) failure = relabelled(commandError, labels)
    else failure = client === null ? commandError : withErrorLabels(commandError, body, node)
    return failure instanceof ConnectionClosedError ? null : errorWriter(failure)
  } finally {
    if (operation !== null) finishOperation(node, operation, failure, true)
  }
}

/** @throws CommandError 59 CommandNotFound, 352 for commands that may not come as OP_QUERY */
function findRow(node: StorageNode, { body, client }: CommandRequest): CommandRow<NodeInvocation> {
  const name = firstFieldName(body) ?? ''
  if (client?.legacy === true && !node.behaviours.commandsByOpQuery) checkOpQueryCommand(name)
  const row = node.table.find(name, node.behaviours)
  if (row === undefined) {
    node.statistics.unknownCommands++
    throw new CommandError('CommandNotFound', `no such command: '${name}'`)
  }
  if (node.options.strict === true) refuseLacking(row)
  node.primary.checkMayRun(row, body)
  return row
}

function newOperation(node: StorageNode, { body, client, db }: CommandRequest, row: CommandRow<NodeInvocation>): RunningOperation {
  return new RunningOperation(node.operations.nextId(), {
    command: row.name,
    db,
    body,
    connectionId: client?.connectionId ?? 0,
    remote: client?.remote ?? '',
    startedAtMs: node.context.now(),
  })
}

/** Everything that is checked alike for all commands. @throws CommandError */
function prepare(
  node: StorageNode,
  { body, sequences, db, routed, client }: CommandRequest,
  row: CommandRow<NodeInvocation>,
  operation: RunningOperation,
): NodeInvocation {
  if (row.adminOnly === true && db !== 'admin')
    throw new CommandError('Unauthorized', `${row.name} may only be run against the admin database.`)
  const args = CommandArguments.parse(
    body,
    row.fields ?? null,
    sequences.map(([id]) => id),
    row.ignoresUnknownFields === true ? 'ignored' : 'refused',
  )
  if (routed === null) node.clock.advanceFrom(body)
  if (client !== null) checkApiVersion(args, row, false)
  const maxTimeMs = maxTimeMsAtFailPoints(node, maxTimeMsOf(args))
  if (maxTimeMs > 0) operation.timeLimit = new TimeLimit(() => node.context.now(), operation.startedAtMs, maxTimeMs)
  const concerns = concernsOf(node, row, args)
  const { atClusterTime } = concerns.read
  const options = readSessionOptions(args, row)
  const { session } = options
  if (session !== null) node.sessions.touch(session, node.context.now())
  operation.session = session
  return {
    host: atClusterTime === null ? node : nodeAtTime(node, atClusterTime),
    db,
    body,
    args,
    sequences,
    routed,
    operation,
    session,
    retryable: retryableWriteOf(node, options, routed),
    concerns,
    connectionId: operation.connectionId,
    remote: operation.remote,
  }
}

/** The concerns of a command; a snapshot has its time. @throws CommandError those of {@link checkConcerns} and {@link checkReadTime} */
function concernsOf(node: StorageNode, row: CommandRow<NodeInvocation>, args: CommandArguments): Concerns {
  const concerns = checkConcerns(row, args, node.behaviours)
  const { read } = concerns
  checkReadTime(read, node.clock.time)
  checkSnapshotReads(read, node.behaviours)
  return read.level === 'snapshot' ? { ...concerns, read: { ...read, atClusterTime: read.atClusterTime ?? node.clock.time } } : concerns
}

/** The retryable write of a command, which begins with it. @throws CommandError 225 TransactionTooOld */
function retryableWriteOf(node: StorageNode, { session, txnNumber }: SessionOptions, routed: NodeCommand | null): RetryableWrite | null {
  if (txnNumber === null || session === null) return null
  node.retries.begin(session.key, txnNumber)
  const stmtIds = routed?.stmtIds ?? null
  return { session, txnNumber, stmtId: (index) => stmtIds?.[index] ?? index }
}

function errorWriter(error: CommandError): DocumentWriter {
  const writer = new DocumentWriter(256)
  writeError(writer, error)
  return writer
}
