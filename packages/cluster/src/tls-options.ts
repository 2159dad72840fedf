import { checkTlsFiles, TlsFileError, tlsModes, tlsProtocols, type TlsSettings } from '@shardlab/runtime'
import { suggestion } from '@shardlab/quantities'
import { OptionError } from './option-error.js'

const kinds: Readonly<Record<keyof TlsSettings, 'text' | 'boolean' | 'texts'>> = {
  mode: 'text',
  certificateKeyFile: 'text',
  certificateKeyFilePassword: 'text',
  CAFile: 'text',
  CRLFile: 'text',
  allowConnectionsWithoutCertificates: 'boolean',
  allowInvalidCertificates: 'boolean',
  disabledProtocols: 'texts',
}

/** @throws OptionError a value is wrong; files are not read */
export function resolveTls(tls: TlsSettings | undefined): TlsSettings | null {
  if (tls === undefined) return null
  if (typeof tls !== 'object' || tls === null)
    throw new OptionError(`tls is ${JSON.stringify(tls)}; it must be an object with mode and certificateKeyFile.`)
  for (const [name, value] of Object.entries(tls)) {
    const kind = kinds[name as keyof TlsSettings]
    if (kind === undefined)
      throw new OptionError(
        `tls has no option ${name}; ${suggestion(name, Object.keys(kinds)) ?? `use ${Object.keys(kinds).join(', ')}.`}`,
      )
    if (value !== undefined && !isOfKind(value, kind))
      throw new OptionError(`tls.${name} is ${JSON.stringify(value)}; it must be ${described[kind]}.`)
  }
  const { mode, certificateKeyFile, CAFile, CRLFile, disabledProtocols = [] } = tls
  if (mode === undefined) throw new OptionError(`tls needs mode: ${tlsModes.join(', ')}.`)
  if (!tlsModes.includes(mode))
    throw new OptionError(`tls.mode is ${JSON.stringify(mode)}; use ${tlsModes.join(', ')}.`)
  if (certificateKeyFile === undefined)
    throw new OptionError('tls needs certificateKeyFile, a PEM file with the certificate and its private key.')
  if (CRLFile !== undefined && CAFile === undefined) throw new OptionError('tls.CRLFile needs tls.CAFile; add it.')
  const unknown = disabledProtocols.find((each) => !tlsProtocols.includes(each))
  if (unknown !== undefined)
    throw new OptionError(`tls.disabledProtocols has ${JSON.stringify(unknown)}; use ${tlsProtocols.join(', ')}.`)
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)) as unknown as TlsSettings
}

const described = { text: 'a text', boolean: 'true or false', texts: 'a list of texts' } as const

function isOfKind(value: unknown, kind: keyof typeof described): boolean {
  if (kind === 'texts') return Array.isArray(value) && value.every((each) => typeof each === 'string')
  return typeof value === (kind === 'text' ? 'string' : 'boolean')
}

/** A file of TLS is missing or wrong. */
export class TlsOptionError extends OptionError {}

/** @throws TlsOptionError */
export async function checkTls(tls: TlsSettings): Promise<void> {
  try {
    await checkTlsFiles(tls)
  } catch (error) {
    if (error instanceof TlsFileError) throw new TlsOptionError(`TLS cannot be used: ${error.message}.`)
    throw error
  }
}
