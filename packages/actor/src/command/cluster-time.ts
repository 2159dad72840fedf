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

/** What a `$clusterTime` has besides the time. Server: SignedLogicalTime. */
export interface SentSignature {
  readonly hash: Uint8Array
  readonly keyId: bigint
}

/**
 * Checks the time of a client.
 * @returns false: the clock does not advance to it
 * @throws CommandError for a signature that is wrong
 */
export type TimeCheck = (time: TimestampPair, signature: SentSignature) => boolean

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
   * @param check null: the sender may advance the clock without signature
   * @throws CommandError 205 ClusterTimeFailsRateLimiter when it is more than a year ahead, 4
   *   NoSuchKey, 12 UnsupportedFormat and 14 TypeMismatch for a malformed one, and those of `check`
   */
  advanceFrom(body: Uint8Array, check: TimeCheck | null = null): void {
    const sent = findField(body, '$clusterTime')
    if (sent?.type !== BsonType.object) return
    const time = expectedField(sent, 'clusterTime', BsonType.timestamp)
    const signature = expectedField(sent, 'signature', BsonType.object)
    checkSignature(signature)
    const pair = timestampPair(time)
    if (check !== null && !check(pair, signatureIn(signature))) return
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

const hashBytes = 20

/** Clients return the signature that they were sent, so nearly all commands have the same one. */
let lastSignature = new Uint8Array(0)

/** Checks the format only. Server: SignedComponentFormat, SHA1Block::fromBinData. */
function checkSignature(signature: RawValue): void {
  const { bytes, start, end } = signature
  if (compareBytes(bytes, start, end, lastSignature, 0, lastSignature.length) === 0) return
  const hash = expectedField(signature, 'hash', BsonType.binary)
  if (hash.bytes[hash.start + 4] !== 0)
    throw new CommandError('UnsupportedFormat', 'SHA1Block only accepts BinDataGeneral type')
  const { length } = hash.asBinary()
  if (length !== hashBytes) throw new CommandError('UnsupportedFormat', `Unsupported SHA1Block hash length: ${length}`)
  const keyId = findField(signature.bytes, 'keyId', signature.start)
  if (keyId === undefined) throw missingField('keyId')
  if (!keyId.isNumber())
    throw new CommandError(
      'TypeMismatch',
      `Expected field "keyId" to have numeric type, but found ${typeName(keyId.type)}`,
    )
  lastSignature = new Uint8Array(signature.slice())
}

/** The hash is a view of the command. */
function signatureIn({ bytes, start }: RawValue): SentSignature {
  const keyId = findField(bytes, 'keyId', start)!
  const number = keyId.asNumber()
  const isInteger = keyId.type === BsonType.int64 || keyId.type === BsonType.int32
  return {
    hash: findField(bytes, 'hash', start)!.asBinary(),
    keyId: isInteger ? keyId.asBigInt() : Number.isSafeInteger(number) ? BigInt(number) : 0n,
  }
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

const noHash = new Uint8Array(hashBytes)

/** Added to every reply. The values in it are overwritten each time. */
const timesDocument = Buffer.from(
  new DocumentWriter(128)
    .startDocument('$clusterTime')
    .timestamp('clusterTime', 0, 0)
    .startDocument('signature')
    .binary('hash', 0, noHash)
    .int64('keyId', 0n)
    .end()
    .end()
    .timestamp('operationTime', 0, 0)
    .finish(),
)
const sentTime = findField(timesDocument, '$clusterTime')!
const clusterTimeAt = findField(timesDocument, 'clusterTime', sentTime.start)!.start
const signatureAt = findField(timesDocument, 'signature', sentTime.start)!.start
const hashAt = findField(timesDocument, 'hash', signatureAt)!.end - hashBytes
const keyIdAt = findField(timesDocument, 'keyId', signatureAt)!.start
const operationTimeAt = findField(timesDocument, 'operationTime')!.start

/** For receivers that do not check it. */
const noSignature: SentSignature = { hash: noHash, keyId: 0n }
let writtenSignature = noSignature

/** @param signature default: none, as on a cluster without access control */
export function writeTimes(
  writer: DocumentWriter,
  clusterTime: TimestampPair,
  operationTime: TimestampPair,
  signature: SentSignature = noSignature,
): DocumentWriter {
  writeTimestamp(clusterTimeAt, clusterTime)
  writeTimestamp(operationTimeAt, operationTime)
  // Signers return the same object for all times of a second.
  if (signature !== writtenSignature) writeSignature(signature)
  return writer.fields(timesDocument)
}

function writeSignature(signature: SentSignature): void {
  timesDocument.set(signature.hash, hashAt)
  timesDocument.writeBigInt64LE(signature.keyId, keyIdAt)
  writtenSignature = signature
}

function writeTimestamp(at: number, [seconds, increment]: TimestampPair): void {
  writeInt32(timesDocument, at, increment)
  writeInt32(timesDocument, at + 4, seconds)
}
