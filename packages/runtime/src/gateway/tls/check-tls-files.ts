import type { SecureContextOptions } from 'node:tls'
import type { TlsSettings } from './tls-settings.js'

/** Rejects with {@link TlsFileError} when members could not listen with these files. */
export async function checkTlsFiles(settings: TlsSettings): Promise<void> {
  // Imported only with the option: Node's TLS takes ten milliseconds.
  const { readTlsFiles } = await import('./tls-files.js')
  readTlsFiles(settings)
}

/**
 * For another server of this process with the same certificate, which asks its clients for none.
 * @returns reads the files @throws TlsFileError, as that function does
 */
export async function certificateReader(settings: TlsSettings): Promise<() => SecureContextOptions> {
  const { readTlsFiles } = await import('./tls-files.js')
  const read = (): SecureContextOptions => {
    const { ca: _, crl: __, ...own } = readTlsFiles(settings).context
    return own
  }
  read()
  return read
}
