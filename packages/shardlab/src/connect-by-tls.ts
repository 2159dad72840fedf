import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { ConnectionTls } from './tls-of-uri.js'

/** Rejects with Node's error when a file cannot be read. */
export async function connectByTls(host: string, port: number, tls: ConnectionTls): Promise<TLSSocket> {
  const { CAFile, certificateKeyFile, certificateKeyFilePassword } = tls
  const ca = CAFile === null ? undefined : await readFile(CAFile)
  const own = certificateKeyFile === null ? undefined : await readFile(certificateKeyFile)
  return connect({
    ...{ host, port, rejectUnauthorized: !tls.allowInvalidCertificates },
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(own === undefined ? {} : { cert: own, key: own }),
    ...(certificateKeyFilePassword === null ? {} : { passphrase: certificateKeyFilePassword }),
    ...(tls.allowInvalidHostnames ? { checkServerIdentity: () => undefined } : {}),
  })
}
