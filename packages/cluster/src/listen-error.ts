import { OptionError } from './option-error.js'
import type { ResolvedOptions } from './resolved-options.js'

/**
 * Converts errors about addresses, ports, files and hosts to an OptionError; returns others
 * unchanged.
 */
export function explained(error: unknown, options: Pick<ResolvedOptions, 'dbPath' | 'host' | 'port'>): unknown {
  const { code, port, name, message } = error as { code?: string; port?: number; name?: string; message?: string }
  if (name === 'DiskDamagedError' || name === 'DiskRefusedError' || name === 'BrokerError')
    return new OptionError(message!)
  if (code === 'ENOSPC' && options.dbPath !== null)
    return new OptionError(`there is no space for ${options.dbPath}: free some, or choose another directory.`)
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
