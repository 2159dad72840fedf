/** Options of a connection string. Manual: reference/connection-string-options, "TLS Options". */
export interface ConnectionTls {
  readonly CAFile: string | null
  /** Of the client. */
  readonly certificateKeyFile: string | null
  readonly certificateKeyFilePassword: string | null
  readonly allowInvalidCertificates: boolean
  readonly allowInvalidHostnames: boolean
}

/** Null: without TLS. */
export function tlsInUri(uri: string): ConnectionTls | null {
  const options = new URLSearchParams(/\?(.*)$/.exec(uri)?.[1] ?? '')
  const isOn = (name: string): boolean => options.get(name) === 'true'
  if (!isOn('tls') && !isOn('ssl')) return null
  const isInsecure = isOn('tlsInsecure')
  return {
    CAFile: options.get('tlsCAFile'),
    certificateKeyFile: options.get('tlsCertificateKeyFile'),
    certificateKeyFilePassword: options.get('tlsCertificateKeyFilePassword'),
    allowInvalidCertificates: isInsecure || isOn('tlsAllowInvalidCertificates'),
    allowInvalidHostnames: isInsecure || isOn('tlsAllowInvalidHostnames'),
  }
}
