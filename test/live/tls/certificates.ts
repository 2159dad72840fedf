/** Files that `certificates/make.sh` has made. */
import { fileURLToPath } from 'node:url'

export function pem(name: string): string {
  return fileURLToPath(new URL(`../../../live/tls/certificates/${name}.pem`, import.meta.url))
}

/** Clients need a certificate of the authority. */
export const required = { mode: 'requireTLS', certificateKeyFile: pem('server'), CAFile: pem('ca') } as const
