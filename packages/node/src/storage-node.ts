/**
 * One mongod without sharding: it owns the engine, the log, cursors and sessions, and runs commands. A role (shard, config
 * server) sits on top and says who may touch what.
 */
import {
  ClusterClock,
  CommandArguments,
  CommandTable,
  cursorId,
  refusePartial,
  createObjectIdFactory,
  DiskFullError,
  StepFailedError,
  writeTimes,
  type ActorContext,
  type ClientCommand,
  type ClientReply,
  type CommandRow,
  type MessageKind,
  type NodeCommand,
  type NodeReply,
} from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, firstFieldName, writeError } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { checkOpQueryCommand } from '@shardlab/wire'
import { createMemoryEngine, type Collection, type LogEntry, type StorageEngine } from '@shardlab/storage'
import { commonRows } from './common/common-rows.js'
import type { CommonHost } from './common/common-invocation.js'
import { CursorManager } from './cursors/cursor-manager.js'
import type { NodeInvocation, RetryableWrite } from './invocation.js'
import { NodeLog, type LogChange } from './log/node-log.js'
import { nodeRows } from './node-rows.js'
import type { NodeRole } from './role.js'
import { RetryHistory } from './sessions/retry-history.js'
import { SessionCatalog, type SessionId } from './sessions/session-catalog.js'

export interface StorageNodeOptions {
  readonly behaviours: Behaviours
  /** Highest wire version that hello announces. */
  readonly maxWireVersion: number
  /** Refuse what is only partly supported. Default false. */
  readonly strict?: boolean
  /** See {@link NodeLogOptions}; default 64 MB. */
  readonly checkpointAfterBytes?: number
}

export class StorageNode implements CommonHost {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  readonly options: StorageNodeOptions
  readonly role: NodeRole
  readonly process = 'mongod'
  readonly startedAtMs: number
  readonly clock: ClusterClock
  readonly sessions: SessionCatalog
  readonly retries = new RetryHistory()
  readonly cursors: CursorManager
  readonly engine: StorageEngine = createMemoryEngine()
  readonly table: CommandTable<NodeInvocation>
  readonly opcounters = { insert: 0, query: 0, update: 0, delete: 0, getmore: 0, command: 0 }
  /** The process id part of hello's topologyVersion. */
  readonly processId: Uint8Array
  readonly newObjectId: () => Uint8Array
  /** Aborted when the member shuts down: ends what only waits. */
  readonly stopping = new AbortController()
  readonly #log: NodeLog
  readonly #connections = new Set<number>()

  constructor(context: ActorContext, options: StorageNodeOptions, makeRole: (node: StorageNode) => NodeRole) {
    this.context = context
    this.behaviours = options.behaviours
    this.options = options
    this.startedAtMs = context.now()
    this.clock = new ClusterClock(() => context.now())
    this.sessions = new SessionCatalog(undefined, (key) => this.#sessionEnded(key))
    const cursorIds = context.random.fork('cursor-ids')
    this.cursors = new CursorManager(() => cursorId(cursorIds))
    const objectIds = createObjectIdFactory(context.random.fork('object-ids'))
    this.newObjectId = () => objectIds(context.now())
    this.processId = this.newObjectId()
    this.#log = new NodeLog({
      engine: this.engine,
      disk: context.disk,
      clock: this.clock,
      now: () => context.now(),
      retries: this.retries,
      options: { checkpointAfterBytes: options.checkpointAfterBytes ?? 64 * 1024 * 1024 },
    })
    this.role = makeRole(this)
    this.table = new CommandTable<NodeInvocation>([
      ...(commonRows as readonly CommandRow<NodeInvocation>[]),
      ...nodeRows,
      ...this.role.rows,
    ])
  }

  /** Rebuilds the state from the disk and starts housekeeping. */
  start(): void {
    this.#log.recover()
    this.context.setTimer('housekeeping', 60_000)
  }

  /** Serves the node's own timers; false when the name is not one of them. */
  wake(timer: string): boolean {
    if (timer !== 'housekeeping') return false
    const now = this.context.now()
    this.cursors.expire(now)
    this.sessions.expire(now)
    this.context.setTimer('housekeeping', 60_000)
    return true
  }

  /** Ends what clients wait for; other members are still served. */
  stop(): void {
    this.stopping.abort()
  }

  collection(ns: string): Collection | undefined {
    return this.engine.collection(ns)
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  /** What evaluating expressions may use. */
  evaluation(): EvaluationContext {
    const random = this.context.random
    return { nowMs: this.context.now(), random: () => random.fraction(), newObjectId: this.newObjectId }
  }

  /** Applies one change; see {@link NodeLog.apply}. {@link flush} before it is acknowledged. */
  apply(change: LogChange): LogEntry {
    return this.#log.apply(change)
  }

  /** Resolves when everything applied so far is on the disk. @throws CommandError 14031 OutOfDiskSpace */
  async flush(): Promise<void> {
    try {
      await this.#log.flush()
    } catch (error) {
      if (error instanceof DiskFullError) throw new CommandError('OutOfDiskSpace', error.message)
      throw error
    }
  }

  /** Serves the messages that every storage node serves; undefined for other kinds. */
  serve(kind: MessageKind, request: unknown): Promise<unknown> | object | undefined {
    switch (kind) {
      case 'node.command':
        return this.nodeCommand(request as NodeCommand)
      case 'client.command':
        return this.clientCommand(request as ClientCommand)
      case 'client.disconnected':
        this.#connections.delete((request as { connectionId: number }).connectionId)
        return {}
      default:
        return undefined
    }
  }

  /** A command of a client that is connected to this member. */
  async clientCommand(command: ClientCommand): Promise<ClientReply> {
    this.#connections.add(command.connectionId)
    const db = findField(command.body, '$db')
    const writer = await this.#run(command.body, command.sequences, db?.type === BsonType.string ? db.asString() : 'admin', null, command)
    return { body: writeTimes(writer, this.clock.time, this.clock.time).finish() }
  }

  /** A command of another member. */
  async nodeCommand(command: NodeCommand): Promise<NodeReply> {
    this.clock.advance(command.clusterTime)
    const writer = await this.#run(command.body, command.sequences, command.db, command, null)
    return { body: writer.finish(), operationTime: this.clock.time, clusterTime: this.clock.time }
  }

  async #run(
    body: Uint8Array,
    sequences: NodeCommand['sequences'],
    db: string,
    routed: NodeCommand | null,
    client: ClientCommand | null,
  ): Promise<DocumentWriter> {
    try {
      const name = firstFieldName(body) ?? ''
      if (client?.legacy === true && !this.behaviours.commandsByOpQuery) checkOpQueryCommand(name)
      const row = this.table.find(name)
      if (row === undefined) throw new CommandError('CommandNotFound', `no such command: '${name}'`)
      if (this.options.strict === true) refusePartial(row)
      if (row.adminOnly === true && db !== 'admin')
        throw new CommandError('Unauthorized', `${name} may only be run against the admin database.`)
      const args = CommandArguments.parse(
        body,
        row.fields ?? null,
        sequences.map(([id]) => id),
      )
      if (routed === null) this.clock.advanceFrom(body)
      const session = this.#session(args)
      const invocation: NodeInvocation = {
        host: this,
        db,
        body,
        args,
        sequences,
        routed,
        session,
        retryable: this.#retryableWrite(row, args, session, routed),
        connectionId: client?.connectionId ?? 0,
        remote: client?.remote ?? '',
      }
      const running = row.run(invocation)
      const writer = running instanceof DocumentWriter ? running : await running
      return writer.double('ok', 1)
    } catch (error) {
      return errorWriter(error)
    }
  }

  #session(args: CommandArguments): SessionId | null {
    const lsid = args.document('lsid')
    if (lsid === undefined) return null
    const session = SessionCatalog.parse(lsid)
    this.sessions.touch(session, this.context.now())
    return session
  }

  #retryableWrite(
    row: CommandRow<NodeInvocation>,
    args: CommandArguments,
    session: SessionId | null,
    routed: NodeCommand | null,
  ): RetryableWrite | null {
    const txnNumber = args.value('txnNumber')
    if (txnNumber === undefined) return null
    if (session === null) throw new CommandError('InvalidOptions', 'Transaction number requires a session ID to be specified')
    if (args.has('startTransaction') || args.has('autocommit')) {
      throw new CommandError('IllegalOperation', 'Transaction numbers are only allowed on a replica set member or mongos')
    }
    if (row.retryable !== true)
      throw new CommandError(
        50768,
        `txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and ${row.name} is not a retryable write command.`,
      )
    const number = txnNumber.asBigInt()
    if (number < 0n) throw new CommandError('InvalidOptions', 'Transaction number cannot be negative')
    this.retries.begin(session.key, number)
    const stmtIds = routed?.stmtIds ?? null
    return { session, txnNumber: number, stmtId: (index) => stmtIds?.[index] ?? index }
  }

  #sessionEnded(key: string): void {
    this.retries.forget(key)
    this.cursors.closeWhere((cursor) => cursor.session === key)
  }
}

/** An error reply; what is no error of a command goes on and crashes the actor. */
export function errorWriter(error: unknown): DocumentWriter {
  const commandError = error instanceof StepFailedError ? new CommandError('OperationFailed', error.message) : error
  if (!(commandError instanceof CommandError)) throw error
  const writer = new DocumentWriter(256)
  writeError(writer, commandError)
  return writer
}
