import { ConnectError } from './connect-error.js'

/** Who logs in, as the options of a connection string say. */
export type UriLogin = { readonly kind: 'certificate' } | PasswordLogin

interface PasswordLogin {
  readonly kind: 'password'
  readonly user: string
  readonly password: string
  readonly source: string
  readonly mechanism?: 'SCRAM-SHA-1' | 'SCRAM-SHA-256'
}

/**
 * Null: there is no user. Manual: reference/connection-string-options, "Authentication Options".
 * @throws ConnectError for a mechanism that the emulator does not have, and a user without password
 */
export function loginInUri(uri: string): UriLogin | null {
  const options = new URLSearchParams(/\?(.*)$/.exec(uri)?.[1] ?? '')
  const mechanism = options.get('authMechanism') ?? undefined
  if (mechanism === 'MONGODB-X509') return { kind: 'certificate' }
  if (mechanism !== undefined && mechanism !== 'SCRAM-SHA-1' && mechanism !== 'SCRAM-SHA-256')
    throw new ConnectError(
      `the URI has the authMechanism "${mechanism}"; it must be SCRAM-SHA-1, SCRAM-SHA-256 or MONGODB-X509.`,
    )
  const [, user, password] = /^mongodb:\/\/([^:@/]*)(?::([^@/]*))?@/.exec(uri) ?? []
  if (user === undefined) return null
  if (password === undefined)
    throw new ConnectError('the URI has a user without a password: write mongodb://user:password@host/.')
  const [, db] = /^mongodb:\/\/[^/]+\/([^?]+)/.exec(uri) ?? []
  const source = options.get('authSource') ?? (db === undefined ? 'admin' : decoded(db))
  const login = { kind: 'password', user: decoded(user), password: decoded(password), source } as const
  return mechanism === undefined ? login : { ...login, mechanism }
}

/** The URI with this user instead of its own. */
export function withLogin(uri: string, { user, password, source }: Omit<PasswordLogin, 'kind' | 'mechanism'>): string {
  const [, hosts = '', , options = ''] = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)(\/[^?]*)?\??(.*)$/.exec(uri) ?? []
  const parameters = new URLSearchParams(options)
  parameters.delete('authMechanism')
  parameters.set('authSource', source)
  return `mongodb://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${hosts}/?${parameters.toString()}`
}

/** @throws ConnectError */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ConnectError('the URI has a user, password or database with a % that is not an escape: write %25.')
  }
}
