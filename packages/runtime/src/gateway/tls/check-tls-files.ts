import type { TlsSettings } from './tls-settings.js'

/** Rejects with {@link TlsFileError} when members could not listen with these files. */
export async function checkTlsFiles(settings: TlsSettings): Promise<void> {
  // Imported only with the option: Node's TLS takes ten milliseconds.
  const { readTlsFiles } = await import('./tls-files.js')
  readTlsFiles(settings)
}
