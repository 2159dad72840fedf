/**
 * Drivers' specifications: Retryable Reads, Retryable Writes, Server Discovery and Monitoring,
 * Client Backpressure.
 */
import { BsonType, findField, type Document } from '@shardlab/bson'
import { isEnd } from './transactions.js'

export interface CommandKind {
  /** The first field of the command. */
  readonly name: string
  readonly aspect: 'read' | 'write' | 'other'
  /** Retried once after a transient error. */
  readonly retryable: boolean
  /** Write concern `{ w: 0 }`: no reply. */
  readonly unacknowledged: boolean
}

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
/**
 * Writes without statement number, and commands of driver helpers; others are sent like
 * `runCommand`.
 */
const otherWrites: ReadonlySet<string> = new Set([
  'create',
  'createIndexes',
  'drop',
  'dropDatabase',
  'dropIndexes',
  'renameCollection',
])

/**
 * @param helper sent like the driver's helper rather than like `runCommand`
 * @param inTransaction not retried alone: the whole transaction is
 */
export function kindOf(command: Document, sequences: Sequences, helper: boolean, inTransaction: boolean): CommandKind {
  const name = Object.keys(command)[0] ?? ''
  const unacknowledged = command['writeConcern']?.w === 0
  if (isEnd(name)) return { name, aspect: 'write', retryable: true, unacknowledged }
  if (inTransaction) return { name, aspect: writes.has(name) ? 'write' : 'other', retryable: false, unacknowledged }
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

/**
 * A member shuts down or is not primary, or the network fails. Specification Retryable Reads, which
 * includes 134 and 262.
 */
const passingCodes: ReadonlySet<number> = new Set([
  6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
])
/** The member is no longer primary, or recovers. Specification Server Discovery and Monitoring. */
const stateChangeCodes: ReadonlySet<number> = new Set([91, 189, 10058, 10107, 11600, 11602, 13435, 13436])
const shuttingDownCodes: ReadonlySet<number> = new Set([91, 11600])

export const isPassing = (code: number | null): boolean => code !== null && passingCodes.has(code)
export const isStateChange = (code: number | null): boolean => code !== null && stateChangeCodes.has(code)
export const isShuttingDown = (code: number | null): boolean => code !== null && shuttingDownCodes.has(code)

export const retryableWriteError = 'RetryableWriteError'
/** No part of the write was executed, so the outcome of an earlier attempt says more. */
export const noWritesPerformed = 'NoWritesPerformed'
/** No connection could be opened, or the server is overloaded: retried after a pause. */
export const overloadLabels = ['SystemOverloadedError', 'RetryableError'] as const
export const overloadRetriesMax = 2
const backoffBaseMs = 100
const backoffMsMax = 10_000

/** The first attempt is 0. */
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

/** In a causally consistent session, the command waits for the session's operation time. */
export const waitsForSession = (name: string): boolean => withCausalTime.has(name)
