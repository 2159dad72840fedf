/** The client's side of SCRAM, for connections that the driver would not make. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { Binary, type Document } from '@shardlab/bson'
import type { RawClient } from './raw-client.js'

export interface ScramLogin {
  readonly user: string
  readonly password: string
  readonly db?: string
  readonly mechanism?: 'SCRAM-SHA-1' | 'SCRAM-SHA-256'
}

const saltedPasswords = new Map<string, Buffer>()

/** As drivers do, each is computed once. */
function saltedPassword(password: string, salt: string, iterations: number, length: number, algorithm: string): Buffer {
  const key = [algorithm, iterations, salt, password].join()
  let salted = saltedPasswords.get(key)
  if (salted === undefined) {
    salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), iterations, length, algorithm)
    saltedPasswords.set(key, salted)
  }
  return salted
}

export class ScramClient {
  readonly mechanism: string
  readonly first: string
  readonly #bare: string
  readonly #algorithm: 'sha1' | 'sha256'
  readonly #password: string

  constructor({ user, password, mechanism = 'SCRAM-SHA-256' }: ScramLogin, nonce = 'abcdefghijklmnop') {
    this.mechanism = mechanism
    this.#algorithm = mechanism === 'SCRAM-SHA-1' ? 'sha1' : 'sha256'
    this.#password =
      mechanism === 'SCRAM-SHA-1' ? createHash('md5').update(`${user}:mongo:${password}`).digest('hex') : password
    this.#bare = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
    this.first = `n,,${this.#bare}`
  }

  /** @param challenge payload of the first reply */
  final(challenge: string): string {
    const [nonce, salt, iterations] = challenge.split(',').map((part) => part.slice(2)) as [string, string, string]
    const length = this.#algorithm === 'sha1' ? 20 : 32
    const salted = saltedPassword(this.#password, salt, Number(iterations), length, this.#algorithm)
    const clientKey = this.#hmac(salted, 'Client Key')
    const withoutProof = `c=biws,r=${nonce}`
    const storedKey = createHash(this.#algorithm).update(clientKey).digest()
    const signature = this.#hmac(storedKey, `${this.#bare},${challenge},${withoutProof}`)
    const proof = Buffer.from(clientKey.map((byte, i) => byte ^ signature[i]!)).toString('base64')
    return `${withoutProof},p=${proof}`
  }

  #hmac(key: Buffer, text: string): Buffer {
    return createHmac(this.#algorithm, key).update(text).digest()
  }
}

export const binary = (text: string): Binary => new Binary(Buffer.from(text))
export const textOf = (payload: unknown): string => Buffer.from((payload as Binary).buffer).toString()

/** The reply to the last message. */
export async function logIn(client: RawClient, login: ScramLogin): Promise<Document> {
  const scram = new ScramClient(login)
  const { db: $db = 'admin' } = login
  const started = await client.command({
    saslStart: 1,
    mechanism: scram.mechanism,
    payload: binary(scram.first),
    options: { skipEmptyExchange: true },
    $db,
  })
  if (started['ok'] !== 1) return started
  const more = { saslContinue: 1, conversationId: 1, $db }
  const proved = await client.command({ ...more, payload: binary(scram.final(textOf(started['payload']))) })
  // Before 4.4 the option is unknown.
  return proved['ok'] === 1 && proved['done'] === false ? client.command({ ...more, payload: binary('') }) : proved
}
