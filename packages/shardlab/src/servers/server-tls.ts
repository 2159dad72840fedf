/** Server: ssl_options_server.cpp, storeSSLServerOptions. */
import type { TlsMode, TlsProtocol, TlsSettings } from '@shardlab/cluster'
import { isAbsolute, resolve } from 'node:path'
import type { GivenOptions } from './given-options.js'
import type { ServerName } from './option-table.js'
import { initializationError, type ServerStartError } from './server-error.js'

const modes: Readonly<Record<string, TlsMode | null>> = {
  disabled: null,
  allowTLS: 'allowTLS',
  preferTLS: 'preferTLS',
  requireTLS: 'requireTLS',
}
const oldModes: Readonly<Record<string, TlsMode | null>> = {
  disabled: null,
  allowSSL: 'allowTLS',
  preferSSL: 'preferTLS',
  requireSSL: 'requireTLS',
}
const protocol = /^(?:no)?(TLS1_[0-3])$/

/**
 * Null: clients connect without TLS. Relative paths are those of this process.
 * @throws ServerStartError
 */
export function tlsOf(server: ServerName, given: GivenOptions): TlsSettings | null {
  const bad = (reason: string): ServerStartError => initializationError(server, `BadValue: ${reason}`)
  const values = new Map([...given].map(([{ name }, value]) => [name, value]))
  const textOf = (...names: string[]): string | undefined =>
    names.map((name) => values.get(name) as string | undefined).find((value) => value !== undefined)
  const isOn = (...names: string[]): boolean => names.some((name) => values.get(name) === true)
  const mode = modeOf(bad, textOf('tlsMode'), textOf('sslMode'), isOn('tlsOnNormalPorts', 'sslOnNormalPorts'))
  const certificateKeyFile = textOf('tlsCertificateKeyFile', 'sslPEMKeyFile')
  const password = textOf('tlsCertificateKeyFilePassword', 'sslPEMKeyPassword')
  const CAFile = textOf('tlsCAFile', 'sslCAFile')
  const CRLFile = textOf('tlsCRLFile', 'sslCRLFile')
  const disabledProtocols = textOf('tlsDisabledProtocols', 'sslDisabledProtocols')
  const withoutCertificates = isOn(
    ...['tlsAllowConnectionsWithoutCertificates', 'sslAllowConnectionsWithoutCertificates'],
    'sslWeakCertificateValidation',
  )
  if (mode === null) {
    const needing = [certificateKeyFile, password, CAFile, CRLFile, disabledProtocols]
    if (withoutCertificates || needing.some((each) => each !== undefined))
      throw bad('need to enable TLS via the sslMode/tlsMode flag when using TLS configuration parameters')
    return null
  }
  if (certificateKeyFile === undefined)
    throw bad('need tlsCertificateKeyFile or certificateSelector when TLS is enabled')
  if (CRLFile !== undefined && CAFile === undefined) throw bad('need tlsCAFile with tlsCRLFile')
  return {
    mode,
    certificateKeyFile: absolute(certificateKeyFile),
    ...(password === undefined ? {} : { certificateKeyFilePassword: password }),
    ...(CAFile === undefined ? {} : { CAFile: absolute(CAFile) }),
    ...(CRLFile === undefined ? {} : { CRLFile: absolute(CRLFile) }),
    ...(disabledProtocols === undefined ? {} : { disabledProtocols: protocolsIn(bad, disabledProtocols) }),
    allowConnectionsWithoutCertificates: withoutCertificates,
    allowInvalidCertificates: isOn('tlsAllowInvalidCertificates', 'sslAllowInvalidCertificates'),
  }
}

type Refusal = (reason: string) => ServerStartError

function modeOf(
  bad: Refusal,
  tlsMode: string | undefined,
  sslMode: string | undefined,
  isRequired: boolean,
): TlsMode | null {
  if (tlsMode !== undefined) {
    if (modes[tlsMode] === undefined) throw bad(`unsupported value for tlsMode ${tlsMode}`)
    return modes[tlsMode]
  }
  if (sslMode === undefined) return isRequired ? 'requireTLS' : null
  if (oldModes[sslMode] === undefined) throw bad(`unsupported value for sslMode ${sslMode}`)
  return oldModes[sslMode]
}

function protocolsIn(bad: Refusal, text: string): TlsProtocol[] {
  if (text === 'none') return []
  return text.split(',').map((each) => {
    const found = protocol.exec(each)?.[1]
    if (found === undefined) throw bad(`Unrecognized disabledProtocols '${each}'`)
    return found as TlsProtocol
  })
}

function absolute(path: string): string {
  return isAbsolute(path) ? path : resolve(path)
}
