import type { TlsMode, TlsProtocol, TlsSettings } from '@shardlab/cluster'
import type { Command } from 'commander'
import { names } from './argument-parsers.js'

/** With the names of a server. */
export interface TlsFlags {
  readonly tlsMode?: string
  readonly tlsCertificateKeyFile?: string
  readonly tlsCertificateKeyFilePassword?: string
  readonly tlsCAFile?: string
  readonly tlsCRLFile?: string
  readonly tlsAllowConnectionsWithoutCertificates?: true
  readonly tlsAllowInvalidCertificates?: true
  readonly tlsDisabledProtocols?: readonly string[]
}

export function addTlsFlags(command: Command): Command {
  return command
    .option('--tlsMode <mode>', 'allowTLS, preferTLS: clients may use TLS; requireTLS: they must')
    .option('--tlsCertificateKeyFile <file>', 'PEM file: certificate of the members and private key')
    .option('--tlsCertificateKeyFilePassword <text>', 'password of the private key')
    .option('--tlsCAFile <file>', 'PEM file: authorities; clients then need a certificate from one')
    .option('--tlsCRLFile <file>', 'PEM file: certificates that the authorities have revoked')
    .option('--tlsAllowConnectionsWithoutCertificates', 'clients need no certificate')
    .option('--tlsAllowInvalidCertificates', 'clients may have an invalid certificate')
    .option('--tlsDisabledProtocols <names>', 'refuse these versions of TLS, such as TLS1_2', names)
}

/** undefined: no flag is given. The API checks the values. */
export function tlsOfFlags(flags: TlsFlags): TlsSettings | undefined {
  const settings = {
    mode: flags.tlsMode as TlsMode,
    certificateKeyFile: flags.tlsCertificateKeyFile!,
    certificateKeyFilePassword: flags.tlsCertificateKeyFilePassword,
    CAFile: flags.tlsCAFile,
    CRLFile: flags.tlsCRLFile,
    allowConnectionsWithoutCertificates: flags.tlsAllowConnectionsWithoutCertificates,
    allowInvalidCertificates: flags.tlsAllowInvalidCertificates,
    disabledProtocols: flags.tlsDisabledProtocols as readonly TlsProtocol[] | undefined,
  }
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  if (given.length === 0 || (given.length === 1 && flags.tlsMode === 'disabled')) return undefined
  return Object.fromEntries(given) as unknown as TlsSettings
}
