import {
  BsonType,
  CommandError,
  compareBytes,
  DocumentWriter,
  findField,
  readUint32,
  typeName,
  writeInt32,
  type RawValue,
} from '@shardlab/bson'
import type { TimestampPair } from '../catalogue/exchange.js'

export function compareTimestamps(a: TimestampPair, b: TimestampPair): number {
  return a[0] !== b[0] ? (a[0] < b[0] ? -1 : 1) : a[1] === b[1] ? 0 : a[1] < b[1] ? -1 : 1
}

export function timestampPair(value: RawValue): TimestampPair {
  return [readUint32(value.bytes, value.start + 4), readUint32(value.bytes, value.start)]
}

/** maxAcceptableLogicalClockDriftSecs: a year. */
const driftSecondsMax = 31_536_000

/**
 * One member's copy of the cluster's logical clock: it follows the member's clock in seconds, never
 * goes back, and advances to newer times of other members and clients. Server: vector clock,
 * LogicalTime.
 */
export class ClusterClock {
  #time: TimestampPair = [0, 0]
  readonly #now: () => number

  /** @param now milliseconds on the member's clock */
  constructor(now: () => number) {
    this.#now = now
  }

  get time(): TimestampPair {
    return this.#time
  }

  /** Returns a time later than {@link time}, for one change of data or metadata. */
  tick(): TimestampPair {
    const seconds = Math.floor(this.#now() / 1000)
    this.#time = seconds > this.#time[0] ? [seconds, 1] : [this.#time[0], this.#time[1] + 1]
    return this.#time
  }

  /** Takes `count` consecutive increments. @returns the first */
  tickOften(count: number): TimestampPair {
    const [seconds, increment] = this.tick()
    this.#time = [seconds, increment + count - 1]
    return [seconds, increment]
  }

  advance(time: TimestampPair): void {
    if (compareTimestamps(time, this.#time) > 0) this.#time = time
  }

  /**
   * Advances to the `$clusterTime` of a command, if it has one.
   * @param isAllowed false: the time is read only, because the client has no user
   * @throws CommandError 205 ClusterTimeFailsRateLimiter when it is more than a year ahead, 4
   *   NoSuchKey and 14 TypeMismatch for a malformed one
   */
  advanceFrom(body: Uint8Array, isAllowed = true): void {
    const sent = findField(body, '$clusterTime')
    if (sent?.type !== BsonType.object) return
    const time = expectedField(sent, 'clusterTime', BsonType.timestamp)
    checkSignature(expectedField(sent, 'signature', BsonType.object))
    if (!isAllowed) return
    const pair = timestampPair(time)
    const nowSeconds = Math.floor(this.#now() / 1000)
    // Accepting it would be permanent: the clock never goes back.
    if (pair[0] > nowSeconds + driftSecondsMax)
      throw new CommandError(
        'ClusterTimeFailsRateLimiter',
        `New cluster time, ${pair[0]}, is too far from this node's wall clock time, ${nowSeconds}.`,
      )
    this.advance(pair)
  }
}

/** Clients return the signature that they were sent, so nearly all commands have the same one. */
let lastSignature = new Uint8Array(0)

/** The hash has no meaning without authentication. Server: SignedComponentFormat. */
function checkSignature(signature: RawValue): void {
  const { bytes, start, end } = signature
  if (compareBytes(bytes, start, end, lastSignature, 0, lastSignature.length) === 0) return
  expectedField(signature, 'hash', BsonType.binary)
  const keyId = findField(signature.bytes, 'keyId', signature.start)
  if (keyId === undefined) throw missingField('keyId')
  if (!keyId.isNumber())
    throw new CommandError(
      'TypeMismatch',
      `Expected field "keyId" to have numeric type, but found ${typeName(keyId.type)}`,
    )
  lastSignature = new Uint8Array(signature.slice())
}

/** Server: bson_extract.cpp. */
function expectedField(document: RawValue, name: string, type: number): RawValue {
  const value = findField(document.bytes, name, document.start)
  if (value === undefined) throw missingField(name)
  if (value.type !== type)
    throw new CommandError(
      'TypeMismatch',
      `"${name}" had the wrong type. Expected ${typeName(type)}, found ${typeName(value.type)}`,
    )
  return value
}

function missingField(name: string): CommandError {
  return new CommandError('NoSuchKey', `Missing expected field "${name}"`)
}

/** Added to every reply. The times in it are overwritten each time. */
const timesDocument = Buffer.from(
  new DocumentWriter(128)
    .startDocument('$clusterTime')
    .timestamp('clusterTime', 0, 0)
    .startDocument('signature')
    .binary('hash', 0, new Uint8Array(20))
    .int64('keyId', 0n)
    .end()
    .end()
    .timestamp('operationTime', 0, 0)
    .finish(),
)
const clusterTimeAt = findField(timesDocument, 'clusterTime', findField(timesDocument, '$clusterTime')!.start)!.start
const operationTimeAt = findField(timesDocument, 'operationTime')!.start

/** Unsigned, as on a cluster without authentication. */
export function writeTimes(
  writer: DocumentWriter,
  clusterTime: TimestampPair,
  operationTime: TimestampPair,
): DocumentWriter {
  writeTimestamp(clusterTimeAt, clusterTime)
  writeTimestamp(operationTimeAt, operationTime)
  return writer.fields(timesDocument)
}

function writeTimestamp(at: number, [seconds, increment]: TimestampPair): void {
  writeInt32(timesDocument, at, increment)
  writeInt32(timesDocument, at + 4, seconds)
}
