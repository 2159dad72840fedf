import { DocumentWriter, findField } from '@shardlab/bson'
import { scramMechanisms, type ScramMechanism } from './mechanism.js'

/** As in `system.users`, with bytes in base64. Server: scram::Secrets, generateCredentials. */
export interface ScramCredentials {
  readonly iterationCount: number
  readonly salt: string
  readonly storedKey: string
  readonly serverKey: string
}

/** Between two steps others may run. */
const iterationsInStep = 500

/**
 * Takes as long as iterations × 1.3 µs; each step is short.
 *
 * @param password as `passwordOf` returns it
 * @param salt `mechanism.saltLength` random bytes
 */
export function* makeCredentials(
  mechanism: ScramMechanism,
  password: string,
  iterationCount: number,
  salt: Uint8Array,
): Generator<void, ScramCredentials> {
  const salted = yield* saltedPassword(mechanism, password, iterationCount, salt)
  const clientKey = mechanism.sign(salted, Buffer.from('Client Key'))
  return {
    iterationCount,
    salt: base64(salt),
    storedKey: base64(mechanism.hash(clientKey)),
    serverKey: base64(mechanism.sign(salted, Buffer.from('Server Key'))),
  }
}

/** PBKDF2 for one block. */
function* saltedPassword(
  mechanism: ScramMechanism,
  password: string,
  iterationCount: number,
  salt: Uint8Array,
): Generator<void, Uint8Array> {
  const key = Buffer.from(password)
  const sign = mechanism.signer(key)
  const round = mechanism.sign(key, Buffer.concat([salt, Buffer.from([0, 0, 0, 1])]))
  const salted = Uint8Array.from(round)
  for (let i = 1; i < iterationCount; i++) {
    sign(round)
    for (let at = 0; at < salted.length; at++) salted[at]! ^= round[at]!
    if (i % iterationsInStep === 0) yield
  }
  return salted
}

/** As a document of `credentials`. */
export function writeCredentials(credentials: ScramCredentials): Uint8Array {
  return new DocumentWriter()
    .int32('iterationCount', credentials.iterationCount)
    .string('salt', credentials.salt)
    .string('storedKey', credentials.storedKey)
    .string('serverKey', credentials.serverKey)
    .finish()
}

/** @returns null: the user has none for this mechanism, or they are damaged */
export function readCredentials(credentials: Uint8Array, mechanism: string): ScramCredentials | null {
  const stored = findField(credentials, mechanism)?.slice()
  if (stored === undefined) return null
  const text = (name: string): string | undefined => findField(stored, name)?.asString()
  const iterationCount = findField(stored, 'iterationCount')?.asNumber()
  const [salt, storedKey, serverKey] = ['salt', 'storedKey', 'serverKey'].map(text)
  if (iterationCount === undefined || salt === undefined || storedKey === undefined || serverKey === undefined)
    return null
  const { length } = scramMechanisms.get(mechanism)!
  if (bytesOf(storedKey).length !== length || bytesOf(serverKey).length !== length) return null
  return { iterationCount, salt, storedKey, serverKey }
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64')
