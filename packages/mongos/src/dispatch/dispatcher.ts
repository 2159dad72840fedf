/** Server: strategy.cpp, the router's service_entry_point. */
import {
  CommandArguments,
  commandErrorOf,
  compareTimestamps,
  noAnswer,
  ownRemote,
  refuseLacking,
  type ClientCommand,
  type ClientReply,
  type CommandRow,
  type CommandTable,
  type TimestampPair,
} from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import {
  bytesOfMessage,
  checkApiVersion,
  checkConcerns,
  checkSnapshotReads,
  clientSession,
  ConnectionClosedError,
  evaluateFailCommand,
  finishOperation,
  helpOf,
  maxTimeMsAtFailPoints,
  maxTimeMsOf,
  noteConnected,
  noteLastError,
  readSessionOptions,
  publicCommand,
  relabelled,
  supportsWriteConcern,
  timeCheckOf,
  withDefaultConcerns,
  withErrorLabels,
  withFailedWriteConcern,
  writeConcernErrorOf,
  writeFailure,
  writeTimesFor,
  type Concerns,
  type Connection,
  type FailableCommand,
} from '@shardlab/member'
import { checkOpQueryCommand } from '@shardlab/wire'
import type { MongosHost, MongosInvocation } from '../host/mongos-host.js'
import { withSettingsOfCommand } from '../routing/settings-of-command.js'
import { errorIn } from '../statistics/error-in-reply.js'
import type { OperationSums } from '../statistics/operation-sums.js'
import type { RouterTimeKeys } from '../users/router-time-keys.js'
import { runOnResolved, runResolvingViews } from '../views/run-resolving-views.js'
import { runInTransaction } from '../transactions/run-in-transaction.js'
import { argumentsOf, databaseOf } from './arguments-of-client.js'
import { authorizeClient, withUser } from './authorize-client.js'
import { Operation } from './operation.js'
import { runSnapshotRead } from './snapshot-read.js'
import { withoutStateChanges } from './state-changes.js'

export interface DispatchHost extends MongosHost {
  readonly operationSums: OperationSums
  readonly timeKeys: RouterTimeKeys | null
  readonly table: CommandTable<MongosInvocation>
  /** Called with the id of an operation that was killed: ends its reads on other members. */
  readonly endReads: (operationId: number) => void
}

const noTime: TimestampPair = [0, 0]

/**
 * The client's errors are in the reply. Replies synchronously if nothing has to be awaited.
 * @param internal whether the router itself sends the command: failCommand does not apply
 */
export function dispatch(
  host: DispatchHost,
  command: ClientCommand,
  internal = false,
): Promise<ClientReply> | ClientReply {
  noteConnected(host, command.connectionId, command.remote)
  return new Dispatch(host, command, internal).begin()
}

class Dispatch {
  readonly #host: DispatchHost
  /** With access control, ids of sessions get their user. */
  #command: ClientCommand
  #operation: Operation | null = null
  #row: CommandRow<MongosInvocation> | null = null
  #invocation: MongosInvocation | null = null
  /** Of the client. Null: there is no access control, or the router itself sends the command. */
  #connection: Connection | null = null
  /** Null: no fail point is on. */
  #failable: FailableCommand | null = null

  readonly #internal: boolean

  constructor(host: DispatchHost, command: ClientCommand, internal: boolean) {
    this.#host = host
    this.#command = command
    this.#internal = internal
  }

  begin(): Promise<ClientReply> | ClientReply {
    const host = this.#host
    if (!this.#internal) host.commandBegins()
    try {
      const row = (this.#row = findRow(host, this.#command))
      host.statistics.commandBegins(row.name)
      const operation = (this.#operation = host.operations.begin(newOperation(host, this.#command, row)))
      if (!host.hasAccessControl || this.#internal) return this.#begin(row, operation)
      const { connectionId, remote } = this.#command
      // A client may close it while keys or users are read.
      const connection = (this.#connection = host.connections.of(connectionId, remote))
      const keys = remote === ownRemote ? null : (host.timeKeys?.awaitFirst() ?? null)
      if (keys === null) return this.#authorize(row, operation, connection)
      return keys.then(() => this.#authorize(row, operation, connection))
    } catch (error) {
      return this.#fail(error)
    }
  }

  #authorize(
    row: CommandRow<MongosInvocation>,
    operation: Operation,
    connection: Connection,
  ): Promise<ClientReply> | ClientReply {
    try {
      const authorized = authorizeClient(this.#host, this.#command, row, operation, connection)
      if (authorized === null) return this.#begin(row, operation)
      return authorized.then(
        () => this.#begin(row, operation),
        (error: unknown) => this.#fail(error),
      )
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** The client may run the command. */
  #begin(row: CommandRow<MongosInvocation>, operation: Operation): Promise<ClientReply> | ClientReply {
    const host = this.#host
    try {
      // Users that were dropped have been logged out.
      host.clock.advanceFrom(this.#command.body, this.#internal ? null : timeCheckOf(host, this.#command, row))
      if (this.#connection !== null) this.#command = withUser(host, row, this.#command, this.#connection)
      let invocation = (this.#invocation = prepare(host, this.#command, row, operation))
      if (host.querySettings !== null)
        invocation = this.#invocation = withSettingsOfCommand(invocation, row, host.querySettings)
      if (host.failPoints.active) return this.#passFailPoints(failableOf(invocation, row, this.#internal))
      return this.#perform()
    } catch (error) {
      return this.#fail(error)
    }
  }

  async #passFailPoints(failable: FailableCommand): Promise<ClientReply> {
    try {
      this.#failable = failable
      await evaluateFailCommand(failable)
      return await this.#perform()
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** The caller replies with thrown errors. */
  #perform(): Promise<ClientReply> | ClientReply {
    const row = this.#row!
    const invocation = this.#invocation!
    if (invocation.args.has('autocommit')) return this.#performInTransaction(row, invocation)
    const result = helpOf(row, invocation.args) ?? this.#run(row, invocation)
    return result instanceof DocumentWriter
      ? this.#complete(result)
      : result.then(
          (writer) => this.#result(writer),
          (error: unknown) => this.#failed(error),
        )
  }

  #performInTransaction(row: CommandRow<MongosInvocation>, invocation: MongosInvocation): Promise<ClientReply> {
    return runInTransaction(row, invocation, this.#findRow).then(
      (writer) => this.#result(writer),
      (error: unknown) => this.#fail(error),
    )
  }

  #run(row: CommandRow<MongosInvocation>, invocation: MongosInvocation): Promise<DocumentWriter> | DocumentWriter {
    if (invocation.concerns.read.level !== 'snapshot') return row.run(invocation)
    return runSnapshotRead(row, invocation, (on) => runResolvingViews(row, on, this.#findRow))
  }

  /** A command on a view runs again on the underlying collection. */
  #failed(error: unknown): Promise<ClientReply> | ClientReply {
    const invocation = this.#invocation!
    const onView =
      invocation.concerns.read.level === 'snapshot' ? null : runOnResolved(this.#row!, invocation, error, this.#findRow)
    if (onView === null) return this.#fail(error)
    return onView.then(
      (writer) => this.#result(writer),
      (again: unknown) => this.#fail(again),
    )
  }

  get #findRow(): (name: string) => CommandRow<MongosInvocation> | undefined {
    return (name) => this.#host.table.find(name, this.#host.behaviours)
  }

  #result(writer: DocumentWriter): ClientReply {
    try {
      return this.#complete(writer)
    } catch (error) {
      return this.#fail(error)
    }
  }

  #complete(result: DocumentWriter): ClientReply {
    const { args, concerns } = this.#invocation!
    let writer = withConcernError(result, this.#row!, concerns, this.#host)
    if (this.#failable !== null && supportsWriteConcern(this.#row!, args))
      writer = withFailedWriteConcern(this.#failable, writer)
    if (this.#row!.name !== 'abortTransaction') this.#operation!.transaction?.writeRecoveryToken(writer)
    writer.double('ok', 1)
    return this.#reply(writer, null)
  }

  #fail(error: unknown): ClientReply {
    const failure = failureOf(this.#host, this.#command, this.#operation, error)
    const writer = new DocumentWriter(512)
    writeFailure(writer, failure, this.#host.behaviours)
    return this.#reply(writer, failure)
  }

  #reply(writer: DocumentWriter, failure: CommandError | null): ClientReply {
    const host = this.#host
    const operation = this.#operation
    if (operation !== null) finishOperation(host, operation, failure, false)
    const isSummed = operation !== null && (operation.routed !== null || failure !== null)
    const watched = isSummed && host.context.wants('operations') ? this.#invocation : null
    if (failure instanceof ConnectionClosedError) {
      if (watched !== null) host.operationSums.note(watched, failure.codeName)
      return this.#ended(noAnswer)
    }
    const { time } = host.clock
    const operationTime = operation?.operationTime ?? noTime
    const timed = compareTimestamps(operationTime, noTime) === 0 ? time : operationTime
    const reply = writeTimesFor(host, this.#command, writer, timed).finishToSend()
    if (watched !== null) host.operationSums.note(watched, errorIn(reply))
    const body = mayContainStateErrors(host, operation, failure)
      ? withoutStateChanges(reply, host.stopping.signal.aborted)
      : reply
    host.statistics.exchanged(bytesOfMessage(this.#command.body, this.#command.sequences), body.length)
    if (host.behaviours.lastErrors) noteLastError(host, this.#command, body, operation?.members ?? [])
    return this.#ended(body)
  }

  /** Called last and once: if building a reply fails, an error reply is built instead. */
  #ended(body: Uint8Array): ClientReply {
    if (!this.#internal) this.#host.commandEnds()
    return { body, again: this.#operation?.repeats === true }
  }
}

function failureOf(
  host: MongosHost,
  { body }: ClientCommand,
  operation: Operation | null,
  error: unknown,
): CommandError {
  const failure = commandErrorOf(error, firstFieldName(body) ?? '', host.context)
  if (failure instanceof ConnectionClosedError) return failure
  const labels = operation?.errorLabels ?? null
  return labels === null ? withErrorLabels(failure, body, host) : relabelled(failure, labels)
}

/** Whether the reply can contain errors about other members' state that clients must not see. */
function mayContainStateErrors(
  { behaviours, table }: DispatchHost,
  operation: Operation | null,
  failure: CommandError | null,
): boolean {
  if (!behaviours.stateChangesHidden || operation?.showsStateChanges === true) return false
  return failure !== null || (operation !== null && table.find(operation.command, behaviours)?.access === 'write')
}

function failableOf(
  { host, operation }: MongosInvocation,
  row: CommandRow<MongosInvocation>,
  internal: boolean,
): FailableCommand {
  return { host, row, operation, internal, deadlineMs: operation.deadlineMs }
}

/** These commands report write concern errors of shards themselves. */
const statementCommands: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'bulkWrite'])

/**
 * Every shard of one member returns this error for a write concern that no such shard can satisfy.
 * Shards of several members report their own.
 */
function withConcernError(
  reply: DocumentWriter,
  { name }: CommandRow<MongosInvocation>,
  { write }: Concerns,
  { behaviours, context, shards }: DispatchHost,
): DocumentWriter {
  if (write === null || statementCommands.has(name)) return reply
  if (shards.known.some((shard) => context.resolve(shard).length > 1)) return reply
  const error = writeConcernErrorOf(write, behaviours)
  if (error === null) return reply
  const body = reply.finish()
  const writer = new DocumentWriter(body.length + error.length + 192).fields(body)
  return findField(body, 'writeConcernError') === undefined ? writer.document('writeConcernError', error) : writer
}

/**
 * @throws CommandError 59 CommandNotFound, 91 ShutdownInProgress, 352 for commands that must not be
 *   sent as OP_QUERY
 */
function findRow(host: DispatchHost, command: ClientCommand): CommandRow<MongosInvocation> {
  const { body, legacy } = command
  const name = firstFieldName(body) ?? ''
  if (legacy && !host.behaviours.commandsByOpQuery) checkOpQueryCommand(name)
  const row = host.table.find(name, host.behaviours)
  if (row === undefined) {
    host.statistics.unknownCommands++
    throw new CommandError('CommandNotFound', `no such cmd: ${name}`)
  }
  if (host.stopping.signal.aborted)
    throw new CommandError('ShutdownInProgress', 'The server is in quiesce mode and will shut down')
  if (host.options.strict === true) refuseLacking(row)
  return row
}

function newOperation(
  host: DispatchHost,
  { body, connectionId, remote }: ClientCommand,
  row: CommandRow<MongosInvocation>,
): Operation {
  const db = findField(body, '$db')
  const operation = new Operation(host.operations.nextId(), {
    command: row.name,
    db: db?.type === BsonType.string ? db.asName() : '',
    body: publicCommand(body, row, (name) => host.table.find(name, host.behaviours)),
    connectionId,
    remote,
    startedAtMs: host.context.now(),
    startedSteadyMs: host.context.steadyNow(),
  })
  operation.onInterrupt = host.endReads
  if (host.behaviours.lastErrors) operation.members = new Set()
  return operation
}

/** @throws CommandError if a check that all commands share fails */
function prepare(
  host: MongosHost,
  { body, sequences, connectionId, remote }: ClientCommand,
  row: CommandRow<MongosInvocation>,
  operation: Operation,
): MongosInvocation {
  const db = databaseOf(row, operation, body)
  const args = argumentsOf(row, body, sequences)
  checkApiVersion(args, row, host.parameters.bool('requireApiVersion'))
  operation.args = args
  const concerns = args.fixed(row, host.behaviours, (fixed) => checkedConcerns(row, fixed, host.behaviours))
  const { shardedTransactions: transactions, transactionsCreateCollections } = host.behaviours
  const options = readSessionOptions(args, row, db, { transactions, transactionsCreateCollections })
  const { session } = options
  const txnNumber = options.transaction === null ? options.txnNumber : null
  if (session !== null) {
    const client = clientSession(session)
    host.sessions.touch(client, operation.startedAtMs)
    operation.session = client
  }
  operation.limit(maxTimeMsAtFailPoints(host, maxTimeMsOf(args)))
  const invocation = { host, db, body, args, sequences, session, txnNumber, concerns, operation, connectionId, remote }
  const defaults = host.concernDefaults.document
  const completed = defaults === null ? null : withDefaultConcerns(row, body, args, concerns, defaults)
  if (completed === null) return invocation
  const completedArgs = argumentsOf(row, completed, sequences)
  return {
    ...invocation,
    body: completed,
    args: completedArgs,
    concerns: checkConcerns(row, completedArgs, host.behaviours),
  }
}

/** @throws CommandError those of {@link checkConcerns} and {@link checkSnapshotReads} */
function checkedConcerns(
  row: CommandRow<MongosInvocation>,
  args: CommandArguments,
  behaviours: MongosHost['behaviours'],
): Concerns {
  const concerns = checkConcerns(row, args, behaviours)
  if (!args.has('autocommit')) checkSnapshotReads(concerns.read, behaviours)
  return concerns
}
