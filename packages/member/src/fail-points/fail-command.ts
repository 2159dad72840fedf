/**
 * A command fails before it runs, waits, loses its connection, or reports a write concern error.
 * Server: commands.cpp (shouldActivateFailCommandFailPoint, evaluateFailCommandFailPoint),
 * strategy.cpp, service_entry_point_shard_role.cpp.
 */
import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, elementsOf, findField, findPath, type RawValue } from '@shardlab/bson'
import { ConnectionClosedError } from '../connections/connection-closed-error.js'
import type { MemberHost } from '../member-host.js'
import { maxTimeExpired } from '../operations/time-limit.js'
import type { RunningOperation } from '../operations/running-operation.js'
import { namespaceOf } from '../statistics/member-statistics.js'

export interface CommandSender {
  readonly host: MemberHost
  readonly operation: RunningOperation
  /** Another member sent the command. */
  readonly internal: boolean
}

/** Its arguments are checked, and it is about to run. */
export interface FailableCommand extends CommandSender {
  readonly row: Pick<CommandRow<never>, 'name' | 'aliases'>
  /** End of maxTimeMS on the clock of the member; null: there is none, or it does not apply yet. */
  readonly deadlineMs: number | null
}

const message = "Failing command via 'failCommand' failpoint"

/**
 * Called before the command runs.
 * @throws CommandError the error that the fail point names; {@link ConnectionClosedError}; 72
 *   InvalidOptions without a block time; 50 and 11601 when maxTimeMS ends or the command is killed
 *   while it is blocked
 */
export async function evaluateFailCommand(command: FailableCommand): Promise<void> {
  const { host, operation } = command
  const data = host.failPoints.enter('failCommand', (each) => selectsCommand(each, command) && actsBefore(each, host))
  if (data === null) return
  operation.showsStateChanges = !isTrue(data, 'allowRewriteStateChange')
  const details = host.behaviours.failCommandDetails
  if (details) operation.errorLabels = labelsOf(data)
  if (details && isTrue(data, 'blockConnection')) await block(command, data)
  if (isTrue(data, 'closeConnection')) {
    note(command, 20431, "Failing command via 'failCommand' failpoint: closing connection")
    throw new ConnectionClosedError(message)
  }
  const code = integer(data, 'errorCode')
  if (code === null || code === 0) return
  note(command, 20435, "Failing command via 'failCommand' failpoint: returning error", { errorCode: code })
  const extra = details ? findField(data, 'errorExtraInfo') : undefined
  throw new CommandError(code, message, extra?.type === BsonType.object ? { extra: extra.slice() } : {})
}

/** Only for replies of successful writes. */
export function withFailedWriteConcern(command: FailableCommand, reply: DocumentWriter): DocumentWriter {
  const { host } = command
  const data = host.failPoints.enter(
    'failCommand',
    (each) => findField(each, 'writeConcernError') !== undefined && selectsCommand(each, command),
  )
  if (data === null) return reply
  command.operation.showsStateChanges = !isTrue(data, 'allowRewriteStateChange')
  const error = findField(data, 'writeConcernError')!
  const body = reply.finish()
  const writer = new DocumentWriter(body.length + data.length + 192).fields(body)
  if (findField(body, 'writeConcernError') === undefined) writer.value('writeConcernError', error)
  const labels = host.behaviours.failCommandDetails ? labelsOf(data) : null
  if (labels === null || labels.length === 0) return writer
  writer.startArray('errorLabels')
  labels.forEach((label, i) => writer.string(String(i), label))
  return writer.end()
}

function selectsCommand(data: Uint8Array, command: FailableCommand): boolean {
  const { host, row } = command
  if (row.name === 'configureFailPoint' || !selectsSender(data, command)) return false
  if (host.behaviours.failCommandForAll && findField(data, 'failAllCommands') !== undefined) return true
  const names = findField(data, 'failCommands')
  if (names?.type !== BsonType.array) return false
  return elementsOf(names).some((each) => each.type === BsonType.string && isNamed(row, each.asString()))
}

/** Ignores the name of the command. */
export function selectsSender(data: Uint8Array, { host, operation, internal }: CommandSender): boolean {
  if (internal && !isTrue(data, 'failInternalCommands')) return false
  if (!host.behaviours.failCommandDetails) return true
  const { connectionId, db, body } = operation
  if (differs(data, 'threadName', () => `conn${connectionId}`)) return false
  if (differs(data, 'appName', () => appNameOf(host, connectionId, body))) return false
  return !differs(data, 'namespace', () => namespaceOf(db, body) ?? db)
}

const isNamed = ({ name, aliases = [] }: FailableCommand['row'], other: string): boolean =>
  name === other || aliases.includes(other)

function actsBefore(data: Uint8Array, { behaviours }: MemberHost): boolean {
  return (
    isTrue(data, 'closeConnection') ||
    integer(data, 'errorCode') !== null ||
    (behaviours.failCommandDetails && isTrue(data, 'blockConnection'))
  )
}

/** @throws CommandError 72, 50, 11601 */
async function block(command: FailableCommand, data: Uint8Array): Promise<void> {
  const { host, operation, deadlineMs } = command
  const blockTime = integer(data, 'blockTimeMS')
  if (blockTime === null)
    throw new CommandError('InvalidOptions', "must specify 'blockTimeMS' when 'blockConnection' is true")
  if (blockTime < 0) throw new CommandError('InvalidOptions', "'blockTimeMS' must be non-negative")
  note(command, 20432, "Blocking command via 'failCommand' failpoint", { blockTime })
  const { context } = host
  const leftMs = deadlineMs === null ? Number.POSITIVE_INFINITY : Math.max(0, deadlineMs - context.now())
  await operation.sleep(context, Math.min(blockTime, leftMs))
  if (leftMs < blockTime) throw maxTimeExpired()
  note(command, 20433, "Unblocking command via 'failCommand' failpoint")
}

/** A first hello has the name in its own metadata. */
function appNameOf({ connections }: MemberHost, connectionId: number, body: Uint8Array): string {
  const connection = connections.find(connectionId)
  if (connection?.metadata !== null && connection !== undefined) return connection.appName
  const name =
    findField(body, 'client')?.type === BsonType.object ? findPath(body, 'client.application.name') : undefined
  return name?.type === BsonType.string ? name.asString() : ''
}

/** False if the data lack the field. */
function differs(data: Uint8Array, name: string, actual: () => string): boolean {
  const wanted = findField(data, name)
  return wanted !== undefined && (wanted.type === BsonType.string ? wanted.asString() : '') !== actual()
}

function labelsOf(data: Uint8Array): readonly string[] | null {
  const labels = findField(data, 'errorLabels')
  if (labels?.type !== BsonType.array) return null
  return elementsOf(labels).flatMap((each: RawValue) => (each.type === BsonType.string ? [each.asString()] : []))
}

function isTrue(data: Uint8Array, name: string): boolean {
  const value = findField(data, name)
  return value?.type === BsonType.bool && value.asBool()
}

function integer(data: Uint8Array, name: string): number | null {
  const value = findField(data, name)
  const number = value?.isNumber() === true ? value.asNumber() : Number.NaN
  return Number.isInteger(number) ? number : null
}

function note(
  { host, row, operation }: FailableCommand,
  id: number,
  text: string,
  attributes: Readonly<Record<string, unknown>> = {},
): void {
  host.logBuffer.add(host.context.now(), 'I', 'COMMAND', id, `conn${operation.connectionId}`, text, {
    command: row.name,
    ...attributes,
  })
}
