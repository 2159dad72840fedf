/**
 * Which commands drivers send a second time, and after which errors.
 * Drivers' specifications: Retryable Reads, Retryable Writes, Server Discovery and Monitoring, Client Backpressure.
 */
import { BsonType, findField, type Document } from '@shardlab/bson'

/** What a command is to a driver. */
export interface CommandKind {
  /** Its name: the first field of the command. */
  readonly name: string
  readonly aspect: 'read' | 'write' | 'other'
  /** May it be sent once more after a passing error? */
  readonly retryable: boolean
  /** Nobody answers: write concern `{ w: 0 }`. */
  readonly unacknowledged: boolean
}

/** Argument documents that come beside the command. */
export type Sequences = readonly (readonly [identifier: string, documents: readonly Uint8Array[]])[]

const reads: ReadonlySet<string> = new Set([
  'find',
  'aggregate',
  'distinct',
  'count',
  'listCollections',
  'listDatabases',
  'listIndexes',
])
const writes: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'delete',
  'findAndModify',
  'findandmodify',
  'bulkWrite',
])
/** Writes without a statement number, and what a driver builds with its own helpers; other commands are `runCommand`. */
const otherWrites: ReadonlySet<string> = new Set([
  'create',
  'createIndexes',
  'drop',
  'dropDatabase',
  'dropIndexes',
  'renameCollection',
])

/** @param helper whether it is sent as the driver's helper for it sends it, or as `runCommand` does */
export function kindOf(command: Document, sequences: Sequences, helper: boolean): CommandKind {
  const name = Object.keys(command)[0] ?? ''
  const unacknowledged = command['writeConcern']?.w === 0
  if (!helper) return { name, aspect: 'other', retryable: false, unacknowledged }
  if (reads.has(name)) {
    const isWrite = name === 'aggregate' && hasWriteStage(command['pipeline'] as readonly Document[])
    return {
      name,
      aspect: isWrite ? 'write' : 'read',
      retryable: !isWrite && command['explain'] === undefined,
      unacknowledged,
    }
  }
  if (writes.has(name))
    return { name, aspect: 'write', retryable: !unacknowledged && !hasMulti(command, sequences), unacknowledged }
  return { name, aspect: otherWrites.has(name) ? 'write' : 'other', retryable: false, unacknowledged }
}

function hasWriteStage(pipeline: readonly Document[] | undefined): boolean {
  const last = pipeline?.at(-1)
  return last !== undefined && ('$out' in last || '$merge' in last)
}

/** Is there a statement that may change several documents? */
function hasMulti(command: Document, sequences: Sequences): boolean {
  for (const name of ['updates', 'deletes', 'ops']) {
    for (const statement of (command[name] as readonly Document[] | undefined) ?? [])
      if (statement['multi'] === true || isZero(statement['limit'])) return true
  }
  for (const [name, documents] of sequences) {
    if (name === 'documents' || name === 'nsInfo') continue
    for (const document of documents) {
      const multi = findField(document, 'multi')
      if (multi?.type === BsonType.bool && multi.asBool()) return true
      const limit = findField(document, 'limit')
      if (limit?.isNumber() === true && limit.asNumber() === 0) return true
    }
  }
  return false
}

const isZero = (limit: unknown): boolean => limit !== undefined && Number(limit) === 0

/** Errors of a member that goes away or is not primary, and of the way to it. Specification Retryable Reads; 134 and 262 among them. */
const passingCodes: ReadonlySet<number> = new Set([
  6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
])
/** The member that answered is not what it was. Specification Server Discovery and Monitoring: not primary, recovering. */
const stateChangeCodes: ReadonlySet<number> = new Set([91, 189, 10058, 10107, 11600, 11602, 13435, 13436])
/** It goes away altogether. */
const shuttingDownCodes: ReadonlySet<number> = new Set([91, 11600])

export const isPassing = (code: number | null): boolean => code !== null && passingCodes.has(code)
export const isStateChange = (code: number | null): boolean => code !== null && stateChangeCodes.has(code)
export const isShuttingDown = (code: number | null): boolean => code !== null && shuttingDownCodes.has(code)

export const retryableWriteError = 'RetryableWriteError'
/** Nothing of the write was done: what an earlier attempt came to says more. */
export const noWritesPerformed = 'NoWritesPerformed'
/** A connection could not even be made, or the server says that it has too much to do: tried again after a pause. */
export const overloadLabels = ['SystemOverloadedError', 'RetryableError'] as const
/** How often after such an error, and the shortest and longest pause in ms. */
export const overloadRetriesMax = 2
const backoffBaseMs = 100
const backoffMsMax = 10_000

/** Longest pause before the attempt with this number, the first one being 0. */
export function backoffMs(attempt: number): number {
  return Math.min(backoffMsMax, backoffBaseMs * 2 ** attempt)
}

const withCausalTime: ReadonlySet<string> = new Set([
  ...[
    'aggregate',
    'count',
    'distinct',
    'find',
    'geoNear',
    'bulkWrite',
    'create',
    'createIndexes',
    'delete',
    'drop',
    'dropDatabase',
  ],
  ...['dropIndexes', 'findAndModify', 'insert', 'update'],
])

/** Does a causally consistent session have this command wait for what it has seen? */
export const waitsForSession = (name: string): boolean => withCausalTime.has(name)
