import { md5 } from '@noble/hashes/legacy.js'
import { CommandError } from '@shardlab/bson'
import type { ScramMechanism } from './mechanism.js'

type Preparation = (password: string) => string

let preparation: Preparation | null = null

/**
 * SASLprep of a library. Its tables take long to load, so that members load it with the first
 * user.
 */
export function usePreparation(prepare: Preparation): void {
  preparation = prepare
}

const printableAscii = /^[\x20-\x7e]*$/

/**
 * What a mechanism hashes of a password.
 *
 * @param isDigested the client has sent the digest (`digestPassword: false`)
 * @throws CommandError BadValue when SASLprep refuses it
 */
export function passwordOf(mechanism: ScramMechanism, user: string, password: string, isDigested = false): string {
  if (!mechanism.isDigested) return prepared(password)
  return isDigested ? password : hex(md5(Buffer.from(`${user}:mongo:${password}`)))
}

/** Printable ASCII is not changed. */
function prepared(password: string): string {
  if (printableAscii.test(password)) return password
  if (preparation === null) throw new Error('no library prepares passwords beyond ASCII')
  try {
    return preparation(password)
  } catch (error) {
    throw new CommandError('BadValue', `Error preflighting UTF-8 string: ${(error as Error).message}`)
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
