/**
 * The outcome of a connection's last command, which getLastError reports. Server: last_error.cpp,
 * batch_write_op of the router (batchErrorToLastError).
 */
import type { CommandArguments } from '@shardlab/actor'
import {
  BsonType,
  elementsOf,
  findField,
  firstFieldName,
  textOf,
  type CommandError,
  type DocumentWriter,
  type RawValue,
} from '@shardlab/bson'
import { unsatisfied } from '../concerns/concerns.js'
import { writeCode, type CodeNames } from '../replies/code-name.js'

export interface LastError {
  readonly error: { readonly code: number; readonly message: string } | null
  /** null: the command was no update */
  readonly updatedExisting: boolean | null
  /** The value, in a document of its own; null: no document was inserted by the last statement */
  readonly upserted: RawValue | null
  readonly n: number
  /** Members that the command wrote to. */
  readonly members: readonly string[]
}

/** The outcome of the last command that wrote or failed, for getPrevError. */
export interface PreviousError {
  readonly outcome: LastError
  /** 1: the last one. */
  readonly commandsAgo: number
}

export const nothingHappened: LastError = { error: null, updatedExisting: null, upserted: null, n: 0, members: [] }

const batchArguments = new Map([
  ['insert', 'documents'],
  ['update', 'updates'],
  ['delete', 'deletes'],
])

/** A member, as far as this file needs it. */
interface LastErrorHost {
  readonly connections: {
    find(id: number): { lastError: LastError; previousError: PreviousError | null } | undefined
  }
}

export interface EndedCommand {
  readonly connectionId: number
  readonly body: Uint8Array
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
}

const ownNames: ReadonlySet<string> = new Set(['getLastError', 'getlasterror', 'getPrevError', 'getpreverror'])

/** Called after every command, only in versions that have getLastError. */
export function noteLastError(
  { connections }: LastErrorHost,
  ended: EndedCommand,
  reply: Uint8Array,
  members: Iterable<string> = [],
): void {
  const connection = connections.find(ended.connectionId)
  const command = firstFieldName(ended.body) ?? ''
  if (connection === undefined || ownNames.has(command)) return
  const outcome = { ...outcomeOf(command, ended, reply), members: [...members] }
  connection.lastError = outcome
  const { previousError: before } = connection
  if (outcome.error !== null || batchArguments.has(command)) connection.previousError = { outcome, commandsAgo: 1 }
  else if (before !== null) connection.previousError = { ...before, commandsAgo: before.commandsAgo + 1 }
}

/** By resetError. */
export function forgetErrors({ connections }: LastErrorHost, connectionId: number): void {
  const connection = connections.find(connectionId)
  if (connection !== undefined) connection.previousError = null
}

/** Taken by getPrevError. Server: LastError::appendSelf. */
export function writePreviousError(
  writer: DocumentWriter,
  { connections, behaviours }: LastErrorHost & { readonly behaviours: CodeNames },
  connectionId: number,
): DocumentWriter {
  const previous = connections.find(connectionId)?.previousError ?? null
  const outcome = previous?.outcome ?? nothingHappened
  if (outcome.error === null) writer.null('err')
  writeLastError(writer, outcome, behaviours)
  return writer.int32('nPrev', previous?.commandsAgo ?? -1)
}

function outcomeOf(command: string, { body, sequences }: EndedCommand, reply: Uint8Array): LastError {
  if (findField(reply, 'ok')?.asNumber() !== 1) {
    const code = findField(reply, 'code')?.asNumber() ?? 0
    return { ...nothingHappened, error: { code, message: textOf(findField(reply, 'errmsg')) } }
  }
  const argument = batchArguments.get(command)
  if (argument === undefined) return nothingHappened
  const count =
    sequences.find(([name]) => name === argument)?.[1].length ?? elementsOf(findField(body, argument)!).length
  const errors = findField(reply, 'writeErrors')
  const lastError = errors === undefined ? undefined : elementsOf(errors).at(-1)
  if (lastError !== undefined && (command === 'insert' || indexIn(lastError) === count - 1)) {
    const code = findField(lastError.bytes, 'code', lastError.start)?.asNumber() ?? 0
    const message = textOf(findField(lastError.bytes, 'errmsg', lastError.start))
    return { ...nothingHappened, error: { code, message } }
  }
  const n = findField(reply, 'n')?.asNumber() ?? 0
  if (command === 'delete') return { ...nothingHappened, n }
  if (command === 'insert') return nothingHappened
  const upserts = findField(reply, 'upserted')
  const upserted = upserts === undefined ? [] : elementsOf(upserts)
  const last = upserted.at(-1)
  return {
    ...nothingHappened,
    n,
    updatedExisting: n > upserted.length,
    upserted: last !== undefined && indexIn(last) === count - 1 ? idIn(last) : null,
  }
}

const indexIn = (entry: RawValue): number => findField(entry.bytes, 'index', entry.start)!.asNumber()

/** A copy: the reply is a buffer of the connection. */
function idIn(entry: RawValue): RawValue {
  const document = entry.slice()
  return findField(document, '_id')!
}

/** @returns whether the last command failed */
export function writeLastError(writer: DocumentWriter, last: LastError, behaviours: CodeNames): boolean {
  const { error, updatedExisting, upserted, n } = last
  if (error !== null) {
    writer.string('err', error.message)
    if (error.code !== 0) writeCode(writer, error.code, behaviours)
  }
  if (updatedExisting !== null) writer.bool('updatedExisting', updatedExisting)
  if (upserted !== null) writer.value('upserted', upserted)
  writer.int32('n', n)
  return error !== null
}

/** Taken by getLastError itself. */
export function lastErrorOf({ connections }: LastErrorHost, connectionId: number): LastError {
  return connections.find(connectionId)?.lastError ?? nothingHappened
}

/** Why one member cannot satisfy the argument `w`; null: it can. */
export function unsatisfiedW(args: CommandArguments): CommandError | null {
  const w = args.value('w')
  if (w === undefined) return null
  return unsatisfied(w.type === BsonType.string ? w.asString() : w.isNumber() ? w.asNumber() : 1)
}
