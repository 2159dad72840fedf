import { logIn, logInByCertificate, LoginError } from '@shardlab/cluster'
import type { CommandConnection } from './command-connection.js'
import { ConnectError } from './connect-error.js'
import type { UriLogin } from './login-of-uri.js'

/** @throws ConnectError the login fails */
export async function logInWith(connection: CommandConnection, login: UriLogin): Promise<void> {
  const send = connection.command.bind(connection)
  try {
    if (login.kind === 'certificate') await logInByCertificate(send)
    else await logIn(send, login)
  } catch (error) {
    if (!(error instanceof LoginError)) throw error
    const who = login.kind === 'certificate' ? 'the certificate' : `the user ${login.user} of ${login.source}`
    throw new ConnectError(`${who} cannot log in: ${error.message}`)
  }
}
