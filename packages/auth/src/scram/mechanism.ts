/** Server: src/mongo/crypto/mechanism_scram.h. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'

export interface ScramMechanism {
  readonly name: 'SCRAM-SHA-1' | 'SCRAM-SHA-256'
  /** The server's name of the hash type, for error texts: `SHA256Block`. */
  readonly block: string
  /** Of new users: the server's `scramIterationCount`, `scramSHA256IterationCount`. */
  readonly iterations: number
  /** Bytes of a hash. */
  readonly length: number
  /** The server's salts leave room for a counter of four bytes. */
  readonly saltLength: number
  /** Whether a password is digested with its user instead of being prepared. */
  readonly isDigested: boolean
  hash(bytes: Uint8Array): Uint8Array
  sign(key: Uint8Array, bytes: Uint8Array): Uint8Array
  /** A function that signs with one key many times, and replaces the bytes by their signature. */
  signer(key: Uint8Array): (bytes: Uint8Array) => void
}

type Hash = typeof sha1 | typeof sha256

function mechanism(
  name: ScramMechanism['name'],
  hash: Hash,
  length: number,
  iterations: number,
  isDigested: boolean,
): ScramMechanism {
  return {
    name,
    block: `SHA${length === 20 ? 1 : 256}Block`,
    iterations,
    length,
    saltLength: length - 4,
    isDigested,
    hash: (bytes) => hash(bytes),
    sign: (key, bytes) => hmac(hash, key, bytes),
    signer(key) {
      const keyed = hmac.create(hash, key)
      const running = keyed.clone()
      // A clone for each signature would take twice the time.
      return (bytes) => keyed._cloneInto(running).update(bytes).digestInto(bytes)
    },
  }
}

/** By name, the one that the server offers first comes first. */
export const scramMechanisms: ReadonlyMap<string, ScramMechanism> = new Map(
  [mechanism('SCRAM-SHA-256', sha256, 32, 15_000, false), mechanism('SCRAM-SHA-1', sha1, 20, 10_000, true)].map(
    (each) => [each.name, each],
  ),
)
