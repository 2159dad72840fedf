/** With them a cluster signs its times. Server: keys_collection_document.idl, key_generator.cpp. */
import { BsonType, DocumentWriter, findField, readUint32 } from '@shardlab/bson'

export type ClusterTime = readonly [seconds: number, increment: number]

export interface TimeKey {
  readonly keyId: bigint
  readonly key: Uint8Array
  /** The first time that it does not sign. */
  readonly expiresAt: ClusterTime
}

export const timeKeyBytes = 20

const purpose = 'HMAC'
const secondsMax = 0xffff_ffff

/** Null: malformed, or a key for something else. */
export function readTimeKey(document: Uint8Array): TimeKey | null {
  const id = findField(document, '_id')
  const use = findField(document, 'purpose')
  const key = findField(document, 'key')
  const expiresAt = findField(document, 'expiresAt')
  if (id?.type !== BsonType.int64 || use?.type !== BsonType.string || use.asString() !== purpose) return null
  if (key?.type !== BsonType.binary || expiresAt?.type !== BsonType.timestamp) return null
  const bytes = new Uint8Array(key.asBinary())
  if (bytes.length !== timeKeyBytes) return null
  const { bytes: within, start } = expiresAt
  return { keyId: id.asBigInt(), key: bytes, expiresAt: [readUint32(within, start + 4), readUint32(within, start)] }
}

export function writeTimeKey({ keyId, key, expiresAt }: TimeKey): Uint8Array {
  return new DocumentWriter(96)
    .int64('_id', keyId)
    .string('purpose', purpose)
    .binary('key', 0, key)
    .timestamp('expiresAt', ...expiresAt)
    .finish()
}

/** The order in which keys are used. */
export function byExpiry(a: TimeKey, b: TimeKey): number {
  return compareTimes(a.expiresAt, b.expiresAt)
}

export function compareTimes(a: ClusterTime, b: ClusterTime): number {
  return a[0] === b[0] ? a[1] - b[1] : a[0] - b[0]
}

/**
 * The keys to create so that one signs now and another one follows it.
 * @param validForSeconds how long each of them signs
 */
export function missingTimeKeys(
  known: readonly TimeKey[],
  now: ClusterTime,
  validForSeconds: number,
  newKey: () => Uint8Array,
): TimeKey[] {
  const [seconds, increment] = now
  const valid = known.filter(({ expiresAt }) => compareTimes(expiresAt, now) > 0).sort(byExpiry)
  let expirySeconds = valid[0]?.expiresAt[0] ?? seconds
  let keyId = BigInt.asIntN(64, (BigInt(seconds) << 32n) | BigInt(increment))
  const missing: TimeKey[] = []
  for (let count = valid.length; count < 2; count++) {
    expirySeconds = Math.min(expirySeconds + validForSeconds, secondsMax)
    missing.push({ keyId: keyId++, key: newKey(), expiresAt: [expirySeconds, 0] })
  }
  return missing
}
