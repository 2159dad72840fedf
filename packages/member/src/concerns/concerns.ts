/**
 * A set of one member cannot fulfil some concerns and read preferences, and reports that where the
 * server does. Server: read_concern_args.cpp, write_concern_options.cpp, read_preference.cpp,
 * service_entry_point_shard_role.cpp. Manual: reference/read-concern, reference/write-concern,
 * core/read-preference.
 */
import {
  compareTimestamps,
  timestampPair,
  type CommandArguments,
  type CommandRow,
  type TimestampPair,
} from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  firstFieldName,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { writeCode, type CodeNames } from '../replies/code-name.js'
import { isTransactionCommand } from '../sessions/transaction-commands.js'
import { checkReadPreference } from './read-preference.js'
import { parseWriteConcern, type WriteConcern } from './write-concern.js'

export type ReadConcernLevel = 'local' | 'available' | 'majority' | 'linearizable' | 'snapshot'

export interface ReadConcern {
  /** Null: none was named, which means local. */
  readonly level: ReadConcernLevel | null
  readonly afterClusterTime: TimestampPair | null
  /** With `snapshot` only: the time to read at; null: the server selects one. */
  readonly atClusterTime: TimestampPair | null
}

export interface Concerns {
  readonly read: ReadConcern
  /** Null: none was named. */
  readonly write: WriteConcern | null
}

type CheckedRow = Pick<CommandRow<never>, 'name' | 'access'>

const noReadConcern: ReadConcern = { level: null, afterClusterTime: null, atClusterTime: null }
export const noConcerns: Concerns = { read: noReadConcern, write: null }

/**
 * @throws CommandError 9, 72, 14, 2, 160 for a malformed concern or one that the command does not
 *   take
 */
export function checkConcerns(row: CheckedRow, args: CommandArguments, behaviours: Behaviours): Concerns {
  const readConcern = args.document('readConcern')
  const writeConcern = args.document('writeConcern')
  const readPreference = args.document('$readPreference')
  if (readPreference !== undefined) checkReadPreference(readPreference)
  if (readConcern === undefined && writeConcern === undefined) return noConcerns
  const read = readConcern === undefined ? noReadConcern : parseReadConcern(readConcern)
  if (args.has('autocommit')) checkConcernsInTransaction(row.name, args, read)
  else if (readConcern !== undefined) checkLevel(row, args, read, readConcern, behaviours)
  const write = writeConcern === undefined ? null : parseWriteConcern(writeConcern, behaviours)
  if (write !== null && !takesWriteConcern(row, args))
    throw new CommandError('InvalidOptions', 'Command does not support writeConcern')
  return { read: cursorCommands.has(row.name) ? noReadConcern : read, write }
}

/** A cursor keeps the read concern that it was opened with. */
const cursorCommands: ReadonlySet<string> = new Set(['getMore', 'killCursors'])

const levels: readonly string[] = [
  'local',
  'majority',
  'linearizable',
  'available',
  'snapshot',
] satisfies ReadConcernLevel[]

/** @throws CommandError 72 InvalidOptions, 14 TypeMismatch, 9 FailedToParse */
export function parseReadConcern(document: Uint8Array): ReadConcern {
  let level: ReadConcernLevel | null = null
  let afterClusterTime: TimestampPair | null = null
  let atClusterTime: TimestampPair | null = null
  for (const it = new FieldIterator(document); it.next();) {
    const value = it.value()
    switch (it.name()) {
      case 'level':
        level = levelOf(value)
        break
      case 'afterClusterTime':
        afterClusterTime = timeOf('afterClusterTime', value)
        break
      case 'atClusterTime':
        atClusterTime = timeOf('atClusterTime', value)
        break
      case 'provenance':
        break
      default:
        throw new CommandError('InvalidOptions', `Unrecognized option in readConcern: ${it.name()}`)
    }
  }
  if (afterClusterTime !== null && atClusterTime !== null) {
    throw new CommandError(
      'InvalidOptions',
      'Specifying a timestamp for readConcern snapshot in a causally consistent session is not allowed. See https://docs.mongodb.com/manual/core/read-isolation-consistency-recency/#causal-consistency',
    )
  }
  if (afterClusterTime !== null && (level === 'available' || level === 'linearizable')) {
    throw new CommandError(
      'InvalidOptions',
      'afterClusterTime field can be set only if level is equal to majority, local, or snapshot',
    )
  }
  if (atClusterTime !== null && level !== 'snapshot')
    throw new CommandError('InvalidOptions', 'atClusterTime field can be set only if level is equal to snapshot')
  return { level, afterClusterTime, atClusterTime }
}

function levelOf(value: RawValue): ReadConcernLevel {
  if (value.type !== BsonType.string)
    throw new CommandError('TypeMismatch', `"level" had the wrong type. Expected string, found ${typeName(value.type)}`)
  const level = value.asString()
  if (!levels.includes(level)) {
    throw new CommandError(
      'FailedToParse',
      "readConcern.level must be either 'local', 'majority', 'linearizable', 'available', or 'snapshot'",
    )
  }
  return level as ReadConcernLevel
}

function timeOf(name: string, value: RawValue): TimestampPair {
  if (value.type !== BsonType.timestamp)
    throw new CommandError(
      'TypeMismatch',
      `"${name}" had the wrong type. Expected timestamp, found ${typeName(value.type)}`,
    )
  const time = timestampPair(value)
  if (time[0] === 0 && time[1] === 0) throw new CommandError('InvalidOptions', `${name} cannot be a null timestamp`)
  return time
}

/** Commands that take other levels than `local`, each with the levels that it refuses. */
export const levelsRefused: Readonly<Record<string, readonly ReadConcernLevel[]>> = {
  find: [],
  aggregate: [],
  distinct: [],
  count: ['snapshot'],
  explain: ['snapshot'],
}

function checkLevel(
  { name }: CheckedRow,
  args: CommandArguments,
  { level }: ReadConcern,
  document: Uint8Array,
  behaviours: Behaviours,
): void {
  if (cursorCommands.has(name) && (name === 'killCursors' || behaviours.getMoreAcceptsReadConcern)) return
  const why = level === null || level === 'local' ? null : reasonAgainst(name, args, level, behaviours)
  if (why === null) return
  const supplied = new DocumentWriter(document.length + 48)
    .fields(document)
    .string('provenance', 'clientSupplied')
    .finish()
  throw new CommandError(
    'InvalidOptions',
    `Command ${name} does not support { readConcern: ${formatDocument(supplied)} } :: caused by :: ${why}`,
  )
}

function reasonAgainst(
  name: string,
  args: CommandArguments,
  level: ReadConcernLevel,
  { language }: Behaviours,
): string | null {
  const refused = levelsRefused[name]
  if (refused === undefined) return 'read concern not supported'
  if (refused.includes(level)) return `read concern ${level} not supported`
  const local = localStage(name, args)
  if (local !== null && language.has('stage', local))
    return `Aggregation stage ${local} cannot run with a readConcern other than 'local'. Current readConcern: ${level}`
  const stage = level === 'linearizable' ? writingStage(name, args) : null
  return stage === null ? null : `${stage} cannot be used with a 'linearizable' read concern level`
}

/** First stages that read the state of members. Server: onlyReadConcernLocalSupported. */
const localStages: ReadonlySet<string> = new Set([
  '$currentOp',
  '$listClusterCatalog',
  '$listLocalSessions',
  '$listSearchIndexes',
  '$planCacheStats',
])

/** The first stage of a pipeline, if it takes no other read concern than local; null: it does. */
export function localStage(name: string, args: CommandArguments): string | null {
  const first = name === 'aggregate' ? args.documents('pipeline')?.[0] : undefined
  const stage = first === undefined ? undefined : firstFieldName(first)
  return stage !== undefined && localStages.has(stage) ? stage : null
}

const levelsInTransactions: ReadonlySet<ReadConcernLevel | null> = new Set([null, 'local', 'majority', 'snapshot'])

/** Server: validateWriteConcernForTransaction, isReadConcernLevelAllowedInTransaction. */
function checkConcernsInTransaction(name: string, args: CommandArguments, { level }: ReadConcern): void {
  if (args.has('writeConcern') && !isTransactionCommand(name))
    throw new CommandError('InvalidOptions', 'writeConcern is not allowed within a multi-statement transaction')
  if (!args.has('readConcern')) return
  if (!args.has('startTransaction'))
    throw new CommandError('InvalidOptions', 'Only the first command in a transaction may specify a readConcern')
  if (!levelsInTransactions.has(level))
    throw new CommandError(
      'InvalidOptions',
      "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a transaction",
    )
}

/** null: there is no writing stage, or the command is another one */
export function writingStage(name: string, args: CommandArguments): string | null {
  const last = name === 'aggregate' ? args.pipeline()?.at(-1) : undefined
  const stage = last === undefined ? undefined : firstFieldName(last)
  return stage === '$out' || stage === '$merge' ? stage : null
}

/** Commands that write, except the statement commands. */
const writingCommands: ReadonlySet<string> = new Set([
  'abortTransaction',
  'addShard',
  'addShardToZone',
  'cloneCollectionAsCapped',
  'collMod',
  'commitTransaction',
  'convertToCapped',
  'coordinateCommitTransaction',
  'create',
  'createIndexes',
  'drop',
  'dropDatabase',
  'dropIndexes',
  'enableSharding',
  'mapReduce',
  'moveChunk',
  'movePrimary',
  'moveRange',
  'prepareTransaction',
  'refineCollectionShardKey',
  'removeShard',
  'removeShardFromZone',
  'renameCollection',
  'reshardCollection',
  'setDefaultRWConcern',
  'setFeatureCompatibilityVersion',
  'shardCollection',
  'updateZoneKeyRange',
])

/** Statements of transactions take none; their preparation, commit and abort do. */
export function takesWriteConcern(row: CheckedRow, args: CommandArguments): boolean {
  return (!args.has('autocommit') || isTransactionCommand(row.name)) && supportsWriteConcern(row, args)
}

/** Whether the command takes a write concern outside of transactions. */
export function supportsWriteConcern({ name, access }: CheckedRow, args: CommandArguments): boolean {
  return name === 'aggregate' ? writingStage(name, args) !== null : access === 'write' || writingCommands.has(name)
}

/** The failure of waiting for the write concern; null: one member can satisfy it. */
export function unsatisfied(w: WriteConcern['w']): CommandError | null {
  if (w === 'majority' || (typeof w === 'number' && w <= 1)) return null
  // The members have no tags.
  if (typeof w === 'object') return new CommandError('NoSuchKey', `No replica set tag key ${w[0]![0]} in config`)
  if (typeof w === 'number') return new CommandError('UnsatisfiableWriteConcern', 'Not enough data-bearing nodes')
  return new CommandError(
    'UnknownReplWriteConcern',
    `No write concern mode named '${w}' found in replica set configuration`,
  )
}

/** The error of a write concern that a set of one member cannot fulfil; null: it is fulfilled. */
export function writeConcernErrorOf({ w, document }: WriteConcern, behaviours: CodeNames): Uint8Array | null {
  const error = unsatisfied(w)
  return error === null ? null : writeConcernErrorDocument(error, document, behaviours)
}

/**
 * `{ code, codeName, errmsg, errInfo }`.
 * @param concern as the client sent it, or with the `provenance` of a default
 * @param isLate the time for it is over
 */
export function writeConcernErrorDocument(
  error: CommandError,
  concern: Uint8Array,
  behaviours: CodeNames,
  isLate = false,
): Uint8Array {
  const writer = writeCode(new DocumentWriter(256), error.code, behaviours)
    .string('errmsg', error.message)
    .startDocument('errInfo')
  if (isLate) writer.bool('wtimeout', true)
  writer.startDocument('writeConcern')
  for (const name of ['w', 'j', 'fsync'] as const) {
    const value = findField(concern, name)
    if (value !== undefined) writer.value(name, value)
  }
  return writer
    .int32('wtimeout', Math.trunc(findField(concern, 'wtimeout')?.asNumber() ?? 0))
    .string('provenance', findField(concern, 'provenance')?.asString() ?? 'clientSupplied')
    .end()
    .end()
    .finish()
}

/**
 * The member has everything up to its cluster time, so a read at an earlier time never waits.
 * @throws CommandError 72 InvalidOptions for a time after the cluster time
 */
export function checkReadTime({ afterClusterTime, atClusterTime }: ReadConcern, now: TimestampPair): void {
  const text = ([seconds, increment]: TimestampPair) => `{ ts: Timestamp(${seconds}, ${increment}) }`
  const asked = afterClusterTime ?? atClusterTime
  if (asked === null || compareTimestamps(asked, now) <= 0) return
  throw new CommandError(
    'InvalidOptions',
    `readConcern ${afterClusterTime === null ? 'atClusterTime' : 'afterClusterTime'} value must not be greater than the current clusterTime. Requested clusterTime: ${text(asked)}; current clusterTime: ${text(now)}`,
  )
}
