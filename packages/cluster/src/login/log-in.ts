/** Logs a client in, as drivers do. */
import { Binary, CommandError, type Document } from '@shardlab/bson'
import { LoginError } from './login-error.js'
import { realMeans, ScramClient, type ScramMeans, type ScramName } from './scram-client.js'

export interface Login {
  readonly user: string
  readonly password: string
  /** The database of the user. */
  readonly source: string
  /** Default: the stronger one of those that the user has. */
  readonly mechanism?: ScramName
}

/** Runs a command on the connection that is logged in. Resolves with error replies, too. */
export type SendCommand = (db: string, command: Document) => Promise<Document>

/** @throws LoginError, and errors of `send` */
export async function logIn(send: SendCommand, login: Login, means: ScramMeans = realMeans): Promise<void> {
  const { user, password, source } = login
  const client = clientOf(login.mechanism ?? (await mechanismOf(send, login)), user, password, means)
  const start = { saslStart: 1, mechanism: client.mechanism, payload: binary(client.first), autoAuthorize: 1 }
  const challenge = await sendStep(send, source, { ...start, options: { skipEmptyExchange: true } })
  const proof = await client.last(textOf(challenge))
  const more = { saslContinue: 1, conversationId: challenge['conversationId'] }
  const proved = await sendStep(send, source, { ...more, payload: binary(proof) })
  client.check(textOf(proved))
  // Before 4.4 servers do not know the option.
  if (proved['done'] !== true) await sendStep(send, source, { ...more, payload: binary('') })
}

/** Logs in with the certificate of the connection. @throws LoginError, and errors of `send` */
export async function logInByCertificate(send: SendCommand): Promise<void> {
  await sendStep(send, '$external', { authenticate: 1, mechanism: 'MONGODB-X509' })
}

/** @throws LoginError the password has characters that SASLprep refuses */
function clientOf(mechanism: ScramName, user: string, password: string, means: ScramMeans): ScramClient {
  try {
    return new ScramClient(mechanism, user, password, means)
  } catch (error) {
    throw error instanceof CommandError ? new LoginError(error.message) : error
  }
}

async function mechanismOf(send: SendCommand, { user, source }: Login): Promise<ScramName> {
  const reply = await send('admin', { isMaster: 1, saslSupportedMechs: `${source}.${user}` })
  const supported: unknown = reply['saslSupportedMechs']
  return Array.isArray(supported) && supported.includes('SCRAM-SHA-256') ? 'SCRAM-SHA-256' : 'SCRAM-SHA-1'
}

async function sendStep(send: SendCommand, db: string, command: Document): Promise<Document> {
  const reply = await send(db, command)
  if (reply['ok'] !== 1)
    throw new LoginError(String(reply['errmsg']), typeof reply['code'] === 'number' ? reply['code'] : null)
  return reply
}

const binary = (text: string): Binary => new Binary(Buffer.from(text))
const textOf = ({ payload }: Document): string =>
  payload instanceof Binary ? Buffer.from(payload.buffer).toString() : ''
