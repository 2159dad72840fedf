/** Server: sasl_scram_server_conversation.cpp. RFC 5802, sections 5 and 7. */
import { CommandError } from '@shardlab/bson'
import { AuthenticationError } from './authentication-error.js'
import { decodeBase64 } from './base64.js'
import { base64, bytesOf, type ScramCredentials } from './credentials.js'
import type { ScramMechanism } from './mechanism.js'
import { readFinal, readFirst, type ClientFirst } from './messages.js'

export interface ScramReply {
  readonly payload: string
  /** The client has proved its password. */
  readonly isDone: boolean
}

/** Of the server, in front of base64. */
const nonceBytes = 24

interface Challenge {
  readonly credentials: ScramCredentials
  readonly nonce: string
  /** What both sides sign, so far. */
  readonly message: string
}

/**
 * The server's side of one authentication: `first`, `challenge`, `last`, and for clients that ask
 * for it one more empty exchange.
 */
export class ScramConversation {
  readonly mechanism: ScramMechanism
  readonly #skipsEmptyExchange: boolean
  #first: ClientFirst | null = null
  #challenge: Challenge | null = null
  #isProved = false

  /** @param skipsEmptyExchange option `skipEmptyExchange` of saslStart */
  constructor(mechanism: ScramMechanism, skipsEmptyExchange: boolean) {
    this.mechanism = mechanism
    this.#skipsEmptyExchange = skipsEmptyExchange
  }

  /**
   * The first message of the client.
   * @returns the user's name
   * @throws AuthenticationError
   */
  first(payload: string): string {
    this.#first = readFirst(payload)
    return this.#first.user
  }

  /**
   * The answer to {@link first}.
   * @param credentials null: the user is unknown or has none for this mechanism
   * @param random {@link ScramConversation.nonceBytes} bytes that cannot be guessed
   * @throws AuthenticationError
   */
  challenge(credentials: ScramCredentials | null, random: Uint8Array): ScramReply {
    if (credentials === null) throw new AuthenticationError(`no ${this.mechanism.name} credentials`)
    const { bare, nonce: clientNonce } = this.#first!
    const nonce = clientNonce + base64(random)
    const payload = `r=${nonce},s=${credentials.salt},i=${credentials.iterationCount}`
    this.#challenge = { credentials, nonce, message: `${bare},${payload}` }
    return { payload, isDone: false }
  }

  /**
   * The client's next message.
   * @throws AuthenticationError, CommandError 10270, 40537, InvalidLength for a malformed proof
   */
  last(payload: string): ScramReply {
    if (this.#isProved) return this.#emptyExchange()
    if (this.#challenge === null) throw new AuthenticationError('a step came before its time')
    const { credentials, nonce, message } = this.#challenge
    this.#challenge = null
    const final = readFinal(payload)
    if (final.nonce !== nonce) throw new AuthenticationError('another nonce came back')
    const signed = Buffer.from(`${message},${final.withoutProof}`)
    if (!this.#proves(decodeBase64(final.proof), signed, bytesOf(credentials.storedKey)))
      throw new AuthenticationError('the password is wrong')
    this.#isProved = true
    const signature = this.mechanism.sign(bytesOf(credentials.serverKey), signed)
    return { payload: `v=${base64(signature)}`, isDone: this.#skipsEmptyExchange }
  }

  #proves(proof: Uint8Array, signed: Uint8Array, storedKey: Uint8Array): boolean {
    const { mechanism } = this
    if (proof.length !== mechanism.length)
      throw new CommandError('InvalidLength', `Unsupported ${mechanism.block} hash length: ${proof.length}`)
    const signature = mechanism.sign(storedKey, signed)
    const clientKey = proof.map((byte, i) => byte ^ signature[i]!)
    return sameInConstantTime(mechanism.hash(clientKey), storedKey)
  }

  #emptyExchange(): ScramReply {
    if (this.#skipsEmptyExchange) throw new AuthenticationError('a step came after the last one')
    return { payload: '', isDone: true }
  }

  static readonly nonceBytes = nonceBytes
}

/** The time must not show how many bytes are right. */
function sameInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ (b[i] ?? 0)
  return difference === 0
}
