/** Server: logical_time_validator.cpp, time_proof_service.cpp, keys_collection_cache.cpp. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { CommandError, sameBytes } from '@shardlab/bson'
import type { AccessRules } from '../rules/access-rules.js'
import { byExpiry, compareTimes, type ClusterTime, type TimeKey } from './time-key.js'

export interface TimeSignature {
  readonly hash: Uint8Array
  readonly keyId: bigint
}

/** Times of one second whose increments differ in these bits only have the same signature. */
const rangeMask = 0xffff

interface Proof {
  readonly key: TimeKey
  /** The last time of the range. */
  readonly end: ClusterTime
  readonly signature: TimeSignature
}

/**
 * Signs the times that clients get, and checks those that they send. A member computes one
 * signature for each second, and keeps the last one.
 */
export class TimeSigner {
  readonly #rules: AccessRules
  readonly #needKeys: () => void
  /** Those that expire first come first. */
  #keys: readonly TimeKey[] = []
  #lastProof: Proof | null = null
  #lastSigned: ClusterTime = [0, 0]

  /** @param needKeys called when a key is missing, and when the last known one comes into use */
  constructor(rules: AccessRules, needKeys: () => void) {
    this.#rules = rules
    this.#needKeys = needKeys
  }

  get keys(): readonly TimeKey[] {
    return this.#keys
  }

  /** Replaces the known keys. */
  learn(keys: readonly TimeKey[]): void {
    this.#keys = keys.toSorted(byExpiry)
    this.#lastProof = null
  }

  /** @returns null: no key is known that signs this time */
  sign(time: ClusterTime): TimeSignature | null {
    const key = this.#keys.find(({ expiresAt }) => compareTimes(expiresAt, time) > 0)
    if (key === undefined) {
      this.#needKeys()
      return null
    }
    if (compareTimes(time, this.#lastSigned) > 0) this.#lastSigned = time
    return this.#signature(time, key)
  }

  /**
   * Accepts every time that is not later than the last one that was signed here: it cannot advance
   * the clock.
   * @throws CommandError 204 TimeProofMismatch, 211 KeyNotFound
   */
  check(time: ClusterTime, { hash, keyId }: TimeSignature): void {
    if (compareTimes(time, this.#lastSigned) <= 0) return
    const key = this.#keys.find((each) => each.keyId === keyId && compareTimes(each.expiresAt, time) >= 0)
    if (key === undefined) {
      this.#needKeys()
      const missing = this.#rules.has('cacheNamedForMissingKey') ? 'Cache Reader No keys' : 'No keys'
      const text = `{ ts: Timestamp(${time[0]}, ${time[1]}) }`
      throw new CommandError(
        'KeyNotFound',
        `${missing} found for HMAC that is valid for time: ${text} with id: ${keyId}`,
      )
    }
    if (!sameBytes(this.#signature(time, key).hash, hash))
      throw new CommandError('TimeProofMismatch', 'Proof does not match the cluster time')
  }

  #signature(time: ClusterTime, key: TimeKey): TimeSignature {
    const [seconds, increment] = time
    const end: ClusterTime = [seconds, (increment | rangeMask) >>> 0]
    const last = this.#lastProof
    if (last !== null && last.key === key && compareTimes(last.end, end) === 0) return last.signature
    // Once in a second, which leaves the owner of the keys time to create the next one.
    if (key === this.#keys.at(-1)) this.#needKeys()
    const signature = { hash: hmac(sha1, key.key, bytesOf(end)), keyId: key.keyId }
    this.#lastProof = { key, end, signature }
    return signature
  }
}

function bytesOf([seconds, increment]: ClusterTime): Uint8Array {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, increment, true)
  view.setUint32(4, seconds, true)
  return bytes
}
