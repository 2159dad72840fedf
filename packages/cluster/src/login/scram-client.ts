/** The client's side of SCRAM. RFC 5802, sections 3 and 5. */
import { passwordOf, scramMechanisms } from '@shardlab/auth'
import { preparePasswordsByLibrary } from '@shardlab/runtime'
import { createHash, createHmac, pbkdf2, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { LoginError } from './login-error.js'

export type ScramName = 'SCRAM-SHA-1' | 'SCRAM-SHA-256'

export const nonceBytes = 24
/** As drivers require; a server with fewer would make passwords easy to guess. */
const iterationsMin = 4096

/** Where randomness and keys come from. */
export interface ScramMeans {
  /** Of {@link nonceBytes}. */
  readonly nonce: () => Uint8Array
  readonly derive: (
    password: string,
    salt: Buffer,
    iterations: number,
    bytes: number,
    digest: string,
  ) => Buffer | Promise<Buffer>
}

export const realMeans: ScramMeans = { nonce: () => randomBytes(nonceBytes), derive: promisify(pbkdf2) }

/** No work on other threads, and so the same order of events in each run. */
export function simulatedMeans(nonce: () => Uint8Array): ScramMeans {
  return { nonce, derive: pbkdf2Sync }
}

/** A client that logs in again does not compute all iterations again. */
const saltedPasswords = new Map<string, Buffer>()
const saltedPasswordsMax = 100

export class ScramClient {
  readonly mechanism: ScramName
  readonly #algorithm: string
  readonly #password: string
  readonly #derive: ScramMeans['derive']
  readonly #nonce: string
  readonly #bare: string
  #serverSignature: Buffer | null = null

  /** @throws CommandError BadValue when SASLprep refuses the password */
  constructor(mechanism: ScramName, user: string, password: string, { nonce, derive }: ScramMeans = realMeans) {
    preparePasswordsByLibrary()
    this.mechanism = mechanism
    this.#derive = derive
    this.#nonce = Buffer.from(nonce()).toString('base64')
    this.#algorithm = mechanism === 'SCRAM-SHA-1' ? 'sha1' : 'sha256'
    this.#password = passwordOf(scramMechanisms.get(mechanism)!, user, password)
    this.#bare = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${this.#nonce}`
  }

  get first(): string {
    return `n,,${this.#bare}`
  }

  /** @throws LoginError the server's message is malformed, or not an answer to {@link first} */
  async last(challenge: string): Promise<string> {
    const [, nonce, salt, iterations] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(challenge) ?? []
    if (nonce?.startsWith(this.#nonce) !== true || Number(iterations) < iterationsMin)
      throw new LoginError('the server has sent a malformed challenge')
    const salted = await this.#salted(salt!, Number(iterations))
    const clientKey = this.#sign(salted, 'Client Key')
    const withoutProof = `c=biws,r=${nonce}`
    const signed = `${this.#bare},${challenge},${withoutProof}`
    const signature = this.#sign(createHash(this.#algorithm).update(clientKey).digest(), signed)
    this.#serverSignature = this.#sign(this.#sign(salted, 'Server Key'), signed)
    const proof = Buffer.from(clientKey.map((byte, i) => byte ^ signature[i]!))
    return `${withoutProof},p=${proof.toString('base64')}`
  }

  /** @throws LoginError the server does not know the password */
  check(final: string): void {
    const signature = Buffer.from(/^v=(.*)$/.exec(final)?.[1] ?? '', 'base64')
    const own = this.#serverSignature
    if (own === null || signature.length !== own.length || !timingSafeEqual(signature, own))
      throw new LoginError('the server does not know the password')
  }

  async #salted(salt: string, iterations: number): Promise<Buffer> {
    const key = JSON.stringify([this.#algorithm, this.#password, salt, iterations])
    const known = saltedPasswords.get(key)
    if (known !== undefined) return known
    const { length } = scramMechanisms.get(this.mechanism)!
    const salted = await this.#derive(this.#password, Buffer.from(salt, 'base64'), iterations, length, this.#algorithm)
    if (saltedPasswords.size >= saltedPasswordsMax) saltedPasswords.delete(saltedPasswords.keys().next().value!)
    saltedPasswords.set(key, salted)
    return salted
  }

  #sign(key: Buffer, text: string): Buffer {
    return createHmac(this.#algorithm, key).update(text).digest()
  }
}
