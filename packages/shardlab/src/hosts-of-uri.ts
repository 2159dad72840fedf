import { ConnectError } from './connect-error.js'

/** The URI without the user and without passwords, for messages. */
export const withoutSecrets = (uri: string): string =>
  uri.replace(/^([a-z+]*:\/\/).*@/i, '$1').replace(/(tlsCertificateKeyFilePassword=)[^&]*/i, '$1***')

export function hostsOf(uri: string): { readonly host: string; readonly port: number }[] {
  const [, authority, path = ''] = /^mongodb:\/\/(?:[^@/?]*@)?([^/?]+)([^?]*)/.exec(uri) ?? []
  if (authority === undefined)
    throw new ConnectError(`the URI is "${withoutSecrets(uri)}"; it must be like mongodb://127.0.0.1:27017/.`)
  if (authority.includes('@') || path.includes('@'))
    throw new ConnectError('the URI has a user or a password with @, / or ?: write %40, %2F or %3F.')
  return authority.split(',').map((text) => {
    const [, bracketed, plain, port = '27017'] = /^(?:\[(.+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
    const host = bracketed ?? plain
    if (host === undefined || Number(port) > 65_535)
      throw new ConnectError(`the URI has the host "${text}"; it must be like 127.0.0.1:27017.`)
    return { host: decodeURIComponent(host), port: Number(port) }
  })
}

/** @param endpoints `host:port`, for the end of the list; those that the URI has are left out */
export function withMoreHosts(uri: string, endpoints: readonly string[]): string {
  const known = new Set(hostsOf(uri).map(({ host, port }) => `${host}:${port}`))
  const more = endpoints.filter((endpoint) => !known.has(endpoint))
  return uri.replace(/^(mongodb:\/\/(?:[^@/?]*@)?[^/?]+)/, (all) => [all, ...more].join(','))
}
