import { OptionError } from './option-error.js'
import type { ResolvedOptions } from './resolved-options.js'

/**
 * Converts system errors about an address or a port to an OptionError; returns others unchanged.
 */
export function explained(error: unknown, options: ResolvedOptions): unknown {
  const { code, port } = error as { code?: string; port?: number }
  switch (code) {
    case 'EADDRINUSE':
      return new OptionError(
        `port ${port ?? options.port} on ${options.host} is in use: stop the program that listens there, or choose another port.`,
      )
    case 'EACCES':
      return new OptionError(
        `this user may not open port ${port ?? options.port} on ${options.host}: choose a port above 1023.`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new OptionError(
        `${options.host} is not an address of this machine: choose another to listen on, such as 127.0.0.1.`,
      )
    default:
      return error
  }
}
