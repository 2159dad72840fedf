/** Logins by the certificate of the connection. Server: authentication_commands.cpp. */
import { AuthenticationError, fullUserName, userNotFound, type AccessRules, type UserName } from '@shardlab/auth'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import { accessRulesOf } from './access-rules.js'
import { accessOfConnection, admit, checkOffered, noted, type LoginStep } from './authenticate.js'

export interface AuthenticateRequest {
  readonly mechanism: string
  /** Empty: the user that the certificate names. */
  readonly user: string
}

export const certificateMechanism = 'MONGODB-X509'
export const externalDb = '$external'

/** @throws CommandError UserNotFound, AuthenticationFailed, ProtocolError, and for a mechanism */
export async function authenticateOnce(step: LoginStep, request: AuthenticateRequest): Promise<DocumentWriter> {
  const { host, connection, db } = step
  const rules = accessRulesOf(host.behaviours)
  const { mechanism } = request
  accessOfConnection(host, connection).endExchange()
  const certificate = host.context.port()?.certificateOf(connection.id) ?? null
  const user = request.user === '' && mechanism === certificateMechanism ? (certificate?.subject ?? '') : request.user
  try {
    if (mechanism === '') throw new CommandError('BadValue', 'Auth mechanism not specified')
    checkOffered(host, mechanism)
    if (mechanism !== certificateMechanism) throw new CommandError('BadValue', `Unsupported mechanism: ${mechanism}`)
    checkCertificate(step, user, certificate?.subject ?? '', rules)
    if (certificate?.isOfMember === true) throw failed(memberCertificate)
    if (!host.parameters.strings('authenticationMechanisms').includes(mechanism))
      throw new CommandError('BadValue', 'x.509 authentication is disabled.')
    await logIn(step, { user, db })
    return new DocumentWriter(user.length + 64).string('dbname', db).string('user', user)
  } catch (error) {
    throw shown(noted(step, mechanism, user, error), rules)
  }
}

const memberCertificate =
  'The provided certificate can only be used for cluster authentication, not client authentication. The current configuration does not allow x.509 cluster authentication, check the --clusterAuthMode flag'

type Check = 'tls' | 'database' | 'authority' | 'subject' | 'match'

/** @throws CommandError for the first check that fails, in the order of the release */
function checkCertificate({ host, db }: LoginStep, user: string, subject: string, rules: AccessRules): void {
  const tls = host.context.tls()
  const checks: Readonly<Record<Check, [holds: boolean, error: () => CommandError]>> = {
    tls: [tls !== null, () => misused(`SSL support is required for the ${certificateMechanism} mechanism.`)],
    database: [db === externalDb, () => misused('X.509 authentication must always use the $external database.')],
    authority: [
      tls?.hasCertificateAuthority === true,
      () => failed('Unable to verify x.509 certificate, as no CA has been provided.'),
    ],
    subject: [subject !== '', () => failed('No verified subject name available from client')],
    match: [user === subject, () => failed('There is no x.509 client certificate matching the user.')],
  }
  for (const check of orderOf(rules)) {
    const [holds, error] = checks[check]
    if (!holds) throw error()
  }
}

function orderOf(rules: AccessRules): readonly Check[] {
  if (rules.has('certificateSubjects')) return ['subject', 'match', 'tls', 'authority', 'database']
  if (rules.has('anonymousCertificates')) return ['tls', 'database', 'authority', 'match']
  return ['tls', 'database', 'subject', 'authority', 'match']
}

const misused = (text: string): CommandError => new CommandError('ProtocolError', text)
const failed = (text: string): CommandError => new CommandError('AuthenticationFailed', text)

async function logIn(step: LoginStep, name: UserName): Promise<void> {
  const { host, connection } = step
  const { generation } = host.users
  const found = await host.users.find(name)
  if (found === null) throw unknownUser(host, name)
  admit(step, accessOfConnection(host, connection), { found, generation, mechanism: certificateMechanism })
}

function unknownUser(host: MemberHost, name: UserName): CommandError {
  return host.process === 'mongos'
    ? new CommandError('UserNotFound', `User "${fullUserName(name)}" not found`)
    : userNotFound(name, accessRulesOf(host.behaviours))
}

/** What the client learns of an error. */
function shown(error: unknown, rules: AccessRules): unknown {
  if (!(error instanceof CommandError)) return error
  const { codeName, message } = error
  if (rules.has('authenticateHidesReasons'))
    return codeName === 'UserNotFound' || codeName === 'ProtocolError' ? error : new AuthenticationError(message)
  return codeName === 'AuthenticationFailed' && rules.has('anonymousCertificates') ? failed('auth failed') : error
}
