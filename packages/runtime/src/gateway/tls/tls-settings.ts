export const tlsModes = ['allowTLS', 'preferTLS', 'requireTLS'] as const
export const tlsProtocols = ['TLS1_0', 'TLS1_1', 'TLS1_2', 'TLS1_3'] as const

export type TlsMode = (typeof tlsModes)[number]
export type TlsProtocol = (typeof tlsProtocols)[number]

/**
 * How members serve clients by TLS. The names are those of a server's configuration file; files are
 * PEM. Manual: reference/configuration-options, "net.tls Options".
 */
export interface TlsSettings {
  /** Only `requireTLS` refuses clients without TLS. */
  readonly mode: TlsMode
  /** The certificate, the certificates of its issuers, and the private key. */
  readonly certificateKeyFile: string
  /** Of the private key. Default: it is not encrypted. */
  readonly certificateKeyFilePassword?: string
  /**
   * The authorities that certify clients. With it each client needs a certificate of theirs.
   * Default: certificates of clients are not read.
   */
  readonly CAFile?: string
  /** Certificates that the authorities have revoked. Needs `CAFile`. Default: none. */
  readonly CRLFile?: string
  /** Clients need no certificate, but one that they send must be valid. Default false. */
  readonly allowConnectionsWithoutCertificates?: boolean
  /** Certificates of clients may be invalid. Default false. */
  readonly allowInvalidCertificates?: boolean
  /** Default: TLS1_0 and TLS1_1, which Node.js does not support. */
  readonly disabledProtocols?: readonly TlsProtocol[]
}

/** A file is missing or wrong. The message names it, and is the rest of a sentence. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError'
}
