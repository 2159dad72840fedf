/** Server: ssl_manager_openssl.cpp, initSSLContext. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { distinguishedName } from './distinguished-name.js'
import { TlsFileError, type TlsProtocol, type TlsSettings } from './tls-settings.js'

export interface ReadTlsFiles {
  readonly context: SecureContextOptions
  /** Of the server's certificate, as RFC 2253. */
  readonly subject: string
  /** As `X509Certificate.subject`. */
  readonly subjectLines: string
  readonly expiresAtMs: number
}

const versions = { TLS1_0: 'TLSv1', TLS1_1: 'TLSv1.1', TLS1_2: 'TLSv1.2', TLS1_3: 'TLSv1.3' } as const
const revocationList = /-----BEGIN X509 CRL-----[^]*?-----END X509 CRL-----/g
/** What Node.js supports. */
const supported: readonly TlsProtocol[] = ['TLS1_2', 'TLS1_3']

/** @throws TlsFileError */
export function readTlsFiles(settings: TlsSettings): ReadTlsFiles {
  const { certificateKeyFile, certificateKeyFilePassword, CAFile, CRLFile } = settings
  const pem = read(certificateKeyFile)
  const certificate = certificateIn(pem, certificateKeyFile)
  if (Date.now() < Date.parse(certificate.validFrom) || Date.now() > Date.parse(certificate.validTo))
    throw new TlsFileError(`the certificate in ${certificateKeyFile} is expired or not yet valid`)
  const own = {
    ...{ cert: pem, key: pem, ...versionsWithout(settings.disabledProtocols ?? []) },
    ...(certificateKeyFilePassword === undefined ? {} : { passphrase: certificateKeyFilePassword }),
  }
  check(own, `${certificateKeyFile} has no private key that belongs to its certificate`, certificateKeyFilePassword)
  const ca = CAFile === undefined ? undefined : read(CAFile)
  if (ca !== undefined) certificateIn(ca, CAFile!)
  const crl = CRLFile === undefined ? undefined : read(CRLFile)
  const lists = crl?.match(revocationList) ?? []
  const context = { ...own, ...(ca === undefined ? {} : { ca }), ...(lists.length === 0 ? {} : { crl: [...lists] }) }
  if (crl !== undefined) {
    const problem = `${CRLFile} is no list of revoked certificates`
    if (lists.length === 0) throw new TlsFileError(problem)
    check(context, problem, undefined)
  }
  const { subject: subjectLines } = certificate
  return {
    ...{ context, subjectLines, subject: distinguishedName(subjectLines) },
    expiresAtMs: Date.parse(certificate.validTo),
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new TlsFileError(code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${message})`)
  }
}

function certificateIn(pem: string, file: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new TlsFileError(`${file} has no certificate in PEM format`)
  }
}

function check(context: SecureContextOptions, otherwise: string, password: string | undefined): void {
  try {
    createSecureContext(context)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_OSSL_BAD_DECRYPT' || /bad decrypt|interrupted or cancelled|bad password/i.test(message))
      throw new TlsFileError(
        password === undefined
          ? 'the private key is encrypted, and there is no password for it'
          : 'the password of the private key is wrong',
      )
    throw new TlsFileError(`${otherwise} (${message})`)
  }
}

/** @throws TlsFileError none is left */
function versionsWithout(disabled: readonly TlsProtocol[]): Pick<SecureContextOptions, 'minVersion' | 'maxVersion'> {
  const left = supported.filter((each) => !disabled.includes(each))
  if (left.length === 0) throw new TlsFileError('all versions of TLS that Node.js supports are disabled')
  return { minVersion: versions[left[0]!], maxVersion: versions[left.at(-1)!] }
}
