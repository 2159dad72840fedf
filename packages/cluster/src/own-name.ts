import { lookup } from 'node:dns/promises'
import { hostname, networkInterfaces } from 'node:os'
import type { ResolvedOptions } from './resolved-options.js'

/** A member that listens on all addresses of this machine cannot be reached by that address. */
export const isUnspecified = (host: string): boolean => host === '0.0.0.0' || host === '::'

/**
 * By which clients on this machine and on others reach members that listen on all addresses: the
 * name of this machine, as the server's, or an address where the name is not known here.
 */
export async function withOwnName(options: ResolvedOptions): Promise<ResolvedOptions> {
  return isUnspecified(options.host) ? { ...options, announcedHost: await ownName() } : options
}

async function ownName(): Promise<string> {
  const name = hostname()
  try {
    const { address } = await lookup(name)
    if (ownAddresses().some((each) => each.address === address) || address.startsWith('127.')) return name
  } catch {
    // The name is not known.
  }
  return ownAddresses().find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}

const ownAddresses = () => Object.values(networkInterfaces()).flatMap((each) => each ?? [])
