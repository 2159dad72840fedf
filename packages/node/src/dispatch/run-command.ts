/** Server: service_entry_point_shard_role.cpp. */
import {
  CommandArguments,
  commandErrorOf,
  type ClientCommand,
  type CommandRow,
  type NodeCommand,
} from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import {
  checkApiVersion,
  checkConcerns,
  checkReadTime,
  checkSnapshotReads,
  clientSession,
  ConnectionClosedError,
  evaluateFailCommand,
  finishOperation,
  helpOf,
  maxTimeMsAtFailPoints,
  maxTimeMsOf,
  mayRetryAfter,
  readSessionOptions,
  publicCommand,
  relabelled,
  RunningOperation,
  supportsWriteConcern,
  takesWriteConcern,
  timeCheckOf,
  TimeLimit,
  withAtClusterTime,
  withErrorLabels,
  withFailedWriteConcern,
  writeFailure,
  type Concerns,
  type FailableCommand,
} from '@shardlab/member'
import { afterOutcome, confirmRead, prepareRead } from '../replication/concerns/read-concern.js'
import { stateChange } from '../replication/serving/state-change.js'
import { awaitWriteConcern } from '../replication/concerns/write-concern.js'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { isWriting } from '../host/write-lock.js'
import { argumentsOf, authorizedBody, checkDatabase } from './authorize-client.js'
import { checkMayRun } from './check-may-run.js'
import { withDefaultsOfSet } from './defaults-of-set.js'
import { findRow } from './find-row.js'
import { retryableWriteOf } from './retryable-write.js'
import { codeOfWriteConcernError, writeTopologyVersion } from './topology-version.js'
import { afterTransactions, awaitEnd, awaitUnlock, definitionsOf } from '../transactions/await-transactions.js'
import { confirmUnknown } from '../transactions/confirm-unknown.js'
import { runInTransaction } from '../transactions/run-in-transaction.js'
import type { Transaction } from '../transactions/transaction.js'
import { UndecidedRead } from '../transactions/undecided-reads.js'
import { SessionIsPrepared } from '../transactions/transaction-errors.js'
import { withSettingsOfCommand } from '../query-settings/settings-of-command.js'
import { checkCommand, checkConcernsOnStandalone, checkTransactionNumber } from '../standalone/standalone-rules.js'
import { runResolvingViews } from '../views/run-resolving-views.js'

export interface CommandRequest {
  readonly body: Uint8Array
  readonly sequences: NodeCommand['sequences']
  readonly db: string
  readonly routed: NodeCommand | null
  readonly client: ClientCommand | null
  /** Set by the command: {@link ClientReply.again} of the reply. */
  repeats: boolean
}

/**
 * The reply holds errors of the client and no times yet. Null: send no reply and close the client's
 * connection. Returns no promise if the command awaits nothing.
 */
export function runCommand(
  node: NodeHost,
  request: CommandRequest,
): Promise<DocumentWriter | null> | DocumentWriter | null {
  return new CommandRun(node, request).begin()
}

class CommandRun {
  readonly #node: NodeHost
  readonly #request: CommandRequest
  #operation: RunningOperation | null = null
  #invocation: NodeInvocation | null = null
  #row: CommandRow<NodeInvocation> | null = null
  /** Null: no fail point is enabled. */
  #failable: FailableCommand | null = null

  constructor(node: NodeHost, request: CommandRequest) {
    this.#node = node
    this.#request = request
  }

  begin(): Promise<DocumentWriter | null> | DocumentWriter | null {
    const node = this.#node
    const request = this.#request
    try {
      const row = (this.#row = findRow(node, request))
      node.statistics.commandBegins(row.name)
      const operation = (this.#operation = node.operations.begin(newOperation(node, request, row)))
      return this.#prepare(row, operation)
    } catch (error) {
      return error instanceof SessionIsPrepared ? this.#prepareAfter(error.holder) : this.#fail(error)
    }
  }

  #prepare(
    row: CommandRow<NodeInvocation>,
    operation: RunningOperation,
  ): Promise<DocumentWriter | null> | DocumentWriter | null {
    const node = this.#node
    const { client } = this.#request
    const body = node.hasAccessControl && client !== null ? authorizedBody(node, client, row, operation) : null
    this.#invocation = prepare(node, body === null ? this.#request : { ...this.#request, body }, row, operation)
    if (node.querySettings !== null) this.#invocation = withSettingsOfCommand(this.#invocation, row, node.querySettings)
    return node.failPoints.active ? this.#passFailPoints(row, operation) : this.#perform()
  }

  async #prepareAfter(holder: Transaction): Promise<DocumentWriter | null> {
    const operation = this.#operation!
    try {
      await awaitEnd({ host: this.#node, operation }, holder)
      return await this.#prepare(this.#row!, operation)
    } catch (error) {
      return error instanceof SessionIsPrepared ? this.#prepareAfter(error.holder) : this.#fail(error)
    }
  }

  async #passFailPoints(row: CommandRow<NodeInvocation>, operation: RunningOperation): Promise<DocumentWriter | null> {
    try {
      const { timeLimit } = operation
      const deadlineMs = timeLimit === null ? null : this.#node.context.now() + timeLimit.leftMs
      this.#failable = { host: this.#node, row, operation, internal: this.#request.client === null, deadlineMs }
      await evaluateFailCommand(this.#failable)
      return await this.#perform()
    } catch (error) {
      return this.#fail(error)
    }
  }

  #perform(): Promise<DocumentWriter | null> | DocumentWriter | null {
    if (this.#node.writeLock.held === null || !isWriting(this.#row!)) return this.#performUnlocked()
    return awaitUnlock(this.#invocation!).then(
      () => this.#performUnlocked(),
      (error: unknown) => this.#fail(error),
    )
  }

  #performUnlocked(): Promise<DocumentWriter | null> | DocumentWriter | null {
    const invocation = this.#invocation!
    if (invocation.transaction !== undefined)
      return this.#settle(runInTransaction(this.#row!, invocation, (inside) => this.#runRow(inside)))
    if (this.#row!.access !== 'read' && this.#row!.retryable !== true) {
      const covers = definitionsOf(this.#row!.name, invocation)
      if (covers !== null) return this.#settle(afterTransactions(invocation, covers, () => this.#runRow(invocation)))
    }
    if (this.#row!.access !== 'read') return this.#run()
    try {
      const prepared = prepareRead(this.#invocation!)
      if (!(prepared instanceof Promise)) return this.#runPrepared(prepared)
      return prepared.then(
        (invocation) => this.#runPrepared(invocation),
        (error: unknown) => this.#fail(error),
      )
    } catch (error) {
      return this.#fail(error)
    }
  }

  #runPrepared(invocation: NodeInvocation): Promise<DocumentWriter | null> | DocumentWriter | null {
    this.#invocation = invocation
    return this.#run()
  }

  #run(): Promise<DocumentWriter | null> | DocumentWriter | null {
    try {
      const running = this.#runRow(this.#invocation!)
      return running instanceof DocumentWriter ? this.#result(running) : this.#settle(running)
    } catch (error) {
      return error instanceof UndecidedRead ? this.#beginAgain(error) : this.#fail(error)
    }
  }

  async #beginAgain({ transactions }: UndecidedRead): Promise<DocumentWriter | null> {
    try {
      this.#checkState()
      const prepared = await afterOutcome(this.#invocation!, transactions)
      return await this.#runPrepared({ ...prepared, isRepeated: true })
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** The role that would admit or confirm a read that has outlasted its state has ended, too. */
  #checkState(): void {
    if (this.#node.reads.node !== this.#node) throw stateChange()
  }

  #runRow(invocation: NodeInvocation): Promise<DocumentWriter> | DocumentWriter {
    return helpOf(this.#row!, invocation.args) ?? runResolvingViews(this.#row!, invocation)
  }

  #settle(running: Promise<DocumentWriter>): Promise<DocumentWriter | null> {
    return running.then(
      (writer) => this.#result(writer),
      (error: unknown) => (error instanceof UndecidedRead ? this.#beginAgain(error) : this.#fail(error)),
    )
  }

  #result(writer: DocumentWriter): Promise<DocumentWriter | null> | DocumentWriter | null {
    try {
      const invocation = this.#invocation!
      if (invocation.concerns.read.level === 'linearizable') this.#checkState()
      const proof = this.#row!.access === 'read' ? confirmRead(invocation) : null
      if (proof !== null) return this.#completeAfter(writer, proof)
      const waits = takesWriteConcern(this.#row!, invocation.args) ? awaitWriteConcern(invocation) : null
      return waits === null ? this.#complete(writer, null) : this.#completeAfter(writer, waits)
    } catch (error) {
      return this.#fail(error)
    }
  }

  async #completeAfter(writer: DocumentWriter, wait: Promise<Uint8Array | null>): Promise<DocumentWriter | null> {
    try {
      return this.#complete(writer, await wait)
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** @param waited the failure of waiting for the write concern; null: none */
  #complete(writer: DocumentWriter, waited: Uint8Array | null): DocumentWriter | null {
    const { args, concerns } = this.#invocation!
    const { read } = concerns
    let reply = writer
    let failedCode = waited === null ? 0 : findField(waited, 'code')!.asNumber()
    if (read.atClusterTime !== null && this.#invocation!.transaction === undefined)
      reply = withAtClusterTime(writer, read.atClusterTime)
    else {
      if (waited !== null) writer.document('writeConcernError', waited)
      if (this.#failable !== null && supportsWriteConcern(this.#row!, args)) {
        reply = withFailedWriteConcern(this.#failable, writer)
        if (reply !== writer) {
          const body = reply.finish()
          failedCode = codeOfWriteConcernError(body)
          reply = new DocumentWriter(body.length + 192).fields(body)
        }
      }
    }
    reply.double('ok', 1)
    if (waited !== null) this.#labelWait(reply, waited)
    if (this.#request.client !== null) writeTopologyVersion(reply, this.#node, failedCode)
    this.#request.repeats = this.#operation!.repeats
    this.#end(null)
    return this.#operation!.closesConnection ? null : reply
  }

  /** A router has retried already, so only clients of this node get the label. */
  #labelWait(reply: DocumentWriter, writeConcernError: Uint8Array): void {
    const { client, body } = this.#request
    const code = findField(writeConcernError, 'code')!.asNumber()
    if (client !== null && mayRetryAfter(code, body, this.#node))
      reply.startArray('errorLabels').string('0', 'RetryableWriteError').end()
  }

  #fail(error: unknown): Promise<DocumentWriter | null> | DocumentWriter | null {
    const failure = commandErrorOf(error, firstFieldName(this.#request.body) ?? '', this.#node.context)
    const confirming = this.#invocation === null ? null : confirmUnknown(this.#row!, this.#invocation, failure)
    return confirming === null ? this.#failed(failure) : confirming.then((confirmed) => this.#failed(confirmed))
  }

  #failed(commandError: CommandError): DocumentWriter | null {
    const { client, body } = this.#request
    const labels = this.#operation?.errorLabels ?? null
    let failure: CommandError
    if (commandError instanceof ConnectionClosedError) failure = commandError
    else if (labels !== null) failure = relabelled(commandError, labels)
    else failure = client === null ? commandError : withErrorLabels(commandError, body, this.#node)
    this.#end(failure)
    const closes = failure instanceof ConnectionClosedError || this.#operation?.closesConnection === true
    return closes ? null : this.#errorWriter(failure)
  }

  #errorWriter(error: CommandError): DocumentWriter {
    const writer = new DocumentWriter(256)
    if (this.#request.client !== null) writeTopologyVersion(writer, this.#node, error.code)
    writeFailure(writer, error, this.#node.behaviours)
    return writer
  }

  #end(failure: CommandError | null): void {
    if (this.#operation !== null) finishOperation(this.#node, this.#operation, failure, true)
  }
}

function newOperation(
  node: NodeHost,
  { body, client, db, routed }: CommandRequest,
  row: CommandRow<NodeInvocation>,
): RunningOperation {
  const operation = new RunningOperation(node.operations.nextId(), {
    command: row.name,
    db,
    body: publicCommand(body, row, (name) => node.table.find(name, node.behaviours)),
    connectionId: client?.connectionId ?? 0,
    remote: client?.remote ?? '',
    startedAtMs: node.context.now(),
    startedSteadyMs: node.context.steadyNow(),
  })
  if (routed !== null) operation.requesterKey = routed.operationKey
  return operation
}

function prepare(
  node: NodeHost,
  { body, sequences, db, routed, client }: Omit<CommandRequest, 'repeats'>,
  row: CommandRow<NodeInvocation>,
  operation: RunningOperation,
): NodeInvocation {
  checkDatabase(row, db, client)
  if (node.isStandalone) checkCommand(row)
  const args = argumentsOf(row, body, sequences, routed !== null)
  operation.args = args
  if (routed === null && !node.isStandalone)
    node.clock.advanceFrom(body, client === null ? null : timeCheckOf(node, client, row))
  if (client !== null) checkApiVersion(args, row, false)
  checkMayRun(node, row, body)
  const maxTimeMs = maxTimeMsAtFailPoints(node, maxTimeMsOf(args))
  if (maxTimeMs > 0) operation.timeLimit = new TimeLimit(() => node.context.now(), operation.startedAtMs, maxTimeMs)
  const concerns = concernsOf(node, row, args)
  const completed = client === null ? null : withDefaultsOfSet(node, row, body, args, concerns)
  if (completed !== null) return prepare(node, { body: completed, sequences, db, routed, client }, row, operation)
  if (node.isStandalone) checkTransactionNumber(args)
  const options = readSessionOptions(args, row, db, node.behaviours)
  const { session } = options
  const ofClient = session === null ? null : clientSession(session)
  if (ofClient !== null) node.sessions.touch(ofClient, node.context.now())
  operation.session = ofClient
  const invocation: NodeInvocation = {
    host: node,
    db,
    body,
    args,
    sequences,
    routed,
    operation,
    session,
    retryable: retryableWriteOf(node, row, options, routed),
    concerns,
    connectionId: operation.connectionId,
    remote: operation.remote,
  }
  if (options.transaction === null) return invocation
  const [starts, txnNumber] = [options.transaction === 'starts', options.txnNumber!]
  return { ...invocation, transaction: { session: session!, txnNumber, starts, open: null } }
}

/**
 * @throws CommandError those of {@link checkConcerns} and {@link checkReadTime}
 */
function concernsOf(node: NodeHost, row: CommandRow<NodeInvocation>, args: CommandArguments): Concerns {
  const concerns = args.fixed(row, node.behaviours, (fixed) => checkConcerns(row, fixed, node.behaviours))
  if (node.isStandalone) checkConcernsOnStandalone(concerns)
  checkReadTime(concerns.read, node.clock.time)
  if (!args.has('autocommit')) checkSnapshotReads(concerns.read, node.behaviours)
  return concerns
}
