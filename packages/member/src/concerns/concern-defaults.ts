/**
 * The concerns of commands that name none, which an administrator has set for the cluster. They are
 * stored in config.settings. Manual: reference/command/setDefaultRWConcern. Server:
 * read_write_concern_defaults.cpp, rwc_defaults_commands.cpp.
 */
import type { CommandArguments, CommandRow, TimestampPair } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator, findField, isEmptyDocument } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import {
  levelsRefused,
  localStage,
  parseReadConcern,
  takesWriteConcern,
  type Concerns,
  type ReadConcern,
} from './concerns.js'
import { parseWriteConcern, type WriteConcern } from './write-concern.js'

export const concernDefaultsId = 'ReadWriteConcernDefaults'

/**
 * The new document:
 * `{ _id, defaultReadConcern?, defaultWriteConcern?, updateOpTime, updateWallClockTime }`.
 * @param current the stored document; null: defaults were never set
 * @throws CommandError 2 BadValue for concerns that cannot be defaults; since 5.0, 20
 *   IllegalOperation for unsetting the write concern; the errors of the concerns
 */
export function concernDefaultsOf(
  args: CommandArguments,
  current: Uint8Array | null,
  behaviours: Behaviours,
  { time, nowMs }: { readonly time: TimestampPair; readonly nowMs: number },
): Uint8Array {
  const read = args.document('defaultReadConcern')
  const write = args.document('defaultWriteConcern')
  if (read !== undefined) checkRead(parseReadConcern(read), read)
  const parsedWrite = write === undefined ? null : parseWriteConcern(write, behaviours)
  if (read === undefined && write === undefined)
    throw new CommandError(
      'BadValue',
      'At least one of the "defaultReadConcern" or "defaultWriteConcern" fields must be present',
    )
  if (write !== undefined && parsedWrite !== null) checkWrite(parsedWrite.w, write)
  const writer = new DocumentWriter(256).string('_id', concernDefaultsId)
  const keep = (name: string) => {
    const value = current === null ? undefined : findField(current, name)
    if (value !== undefined) writer.value(name, value)
  }
  if (read === undefined) keep('defaultReadConcern')
  else if (!isEmptyDocument(read)) writer.document('defaultReadConcern', read)
  if (write === undefined) keep('defaultWriteConcern')
  else if (parsedWrite !== null) writer.document('defaultWriteConcern', completeWriteConcern(write))
  else if (
    behaviours.defaultWriteConcernIsFinal &&
    current !== null &&
    findField(current, 'defaultWriteConcern') !== undefined
  )
    throw new CommandError('IllegalOperation', 'The global default write concern cannot be unset once it is set.')
  return writer.timestamp('updateOpTime', time[0], time[1]).date('updateWallClockTime', nowMs).finish()
}

function checkRead({ level, afterClusterTime, atClusterTime }: ReadConcern, document: Uint8Array): void {
  if (level === 'snapshot' || level === 'linearizable') throw notSuitable(`level: '${level}'`, 'read')
  if (afterClusterTime !== null) throw notSuitable("'afterClusterTime'", 'read')
  if (atClusterTime !== null) throw notSuitable("'atClusterTime'", 'read')
  if (findField(document, 'provenance') !== undefined)
    throw new CommandError('BadValue', "'provenance' must be unset in default read concern")
}

function checkWrite(w: WriteConcern['w'], document: Uint8Array): void {
  if (w === 0)
    throw new CommandError('BadValue', 'Unacknowledged write concern is not suitable for the default write concern')
  if (findField(document, 'provenance') !== undefined)
    throw new CommandError('BadValue', "'provenance' must be unset in default write concern")
}

const notSuitable = (what: string, kind: string): CommandError =>
  new CommandError('BadValue', `${what} is not suitable for the default ${kind} concern`)

/** `{ w, j?, fsync?, wtimeout }`. Server: WriteConcernOptions::toBSON. */
export function completeWriteConcern(document: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(96)
  const w = findField(document, 'w')
  if (w === undefined) writer.int32('w', 1)
  else writer.value('w', w)
  for (const name of ['j', 'fsync'] as const) {
    const value = findField(document, name)
    if (value !== undefined) writer.bool(name, value.isTruthy())
  }
  return writer.int32('wtimeout', Math.trunc(findField(document, 'wtimeout')?.asNumber() ?? 0)).finish()
}

/** `{ w, j?, fsync?, wtimeout, provenance? }` */
export function reportedWriteConcern(document: Uint8Array, { writeConcernsHaveProvenance }: Behaviours): Uint8Array {
  const complete = completeWriteConcern(document)
  if (!writeConcernsHaveProvenance) return complete
  const provenance = findField(document, 'provenance')?.asString() ?? 'clientSupplied'
  return new DocumentWriter(complete.length + 48).fields(complete).string('provenance', provenance).finish()
}

/**
 * Appends the reply of getDefaultRWConcern and setDefaultRWConcern.
 * @param defaults the stored document; null: none was ever set
 * @param localUpdateMs when the member read it
 * @param isImplicitMajority whether writes that name no concern wait for a majority: not with too
 *   many arbiters
 */
export function writeConcernDefaults(
  writer: DocumentWriter,
  defaults: Uint8Array | null,
  { implicitDefaultConcerns }: Behaviours,
  {
    localUpdateMs,
    inMemory,
    isImplicitMajority,
  }: { readonly localUpdateMs: number; readonly inMemory: boolean; readonly isImplicitMajority: boolean },
): DocumentWriter {
  const field = (name: string) => (defaults === null ? undefined : findField(defaults, name))
  const read = field('defaultReadConcern')
  const write = field('defaultWriteConcern')
  if (read !== undefined) writer.value('defaultReadConcern', read)
  else if (implicitDefaultConcerns) writer.startDocument('defaultReadConcern').string('level', 'local').end()
  if (write !== undefined) writer.value('defaultWriteConcern', write)
  else if (implicitDefaultConcerns && isImplicitMajority)
    writer.startDocument('defaultWriteConcern').string('w', 'majority').int32('wtimeout', 0).end()
  for (const name of ['updateOpTime', 'updateWallClockTime']) {
    const value = field(name)
    if (value !== undefined) writer.value(name, value)
  }
  if (implicitDefaultConcerns) {
    writer.string('defaultWriteConcernSource', write === undefined ? 'implicit' : 'global')
    writer.string('defaultReadConcernSource', read === undefined ? 'implicit' : 'global')
  }
  if (inMemory) writer.bool('inMemory', true)
  return writer.date('localUpdateWallClockTime', localUpdateMs)
}

/** null: the command needs no defaults */
export function withDefaultConcerns(
  row: Pick<CommandRow<never>, 'name' | 'access'>,
  body: Uint8Array,
  args: CommandArguments,
  { write }: Concerns,
  defaults: Uint8Array,
): Uint8Array | null {
  const given = args.document('readConcern')
  const read =
    (!args.has('autocommit') || args.has('startTransaction')) &&
    (given === undefined || isEmptyDocument(given)) &&
    Object.hasOwn(levelsRefused, row.name) &&
    row.name !== 'explain' &&
    localStage(row.name, args) === null
  const added = new Map<string, Uint8Array>()
  const add = (name: string, kept: string) => {
    const value = findField(defaults, kept)
    if (value !== undefined)
      added.set(name, new DocumentWriter(96).fields(value.slice()).string('provenance', 'customDefault').finish())
  }
  if (read) add('readConcern', 'defaultReadConcern')
  if (write === null && takesWriteConcern(row, args)) add('writeConcern', 'defaultWriteConcern')
  if (added.size === 0) return null
  const writer = new DocumentWriter(body.length + 160)
  for (const it = new FieldIterator(body); it.next();) if (!added.has(it.name())) writer.value(it.name(), it.value())
  for (const [name, concern] of added) writer.document(name, concern)
  return writer.finish()
}
