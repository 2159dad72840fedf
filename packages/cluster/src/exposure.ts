import { BlockList, isIP } from 'node:net'
import { OptionError } from './option-error.js'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Whether only this machine can connect. Names other than `localhost` may have any address. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

/** @throws OptionError other machines can connect without a user, which needs `insecure` */
export function checkExposure(
  host: string,
  { auth, insecure }: { readonly auth: boolean; readonly insecure: boolean },
): void {
  if (auth || insecure || isLoopback(host)) return
  throw new OptionError(
    `host is ${host}, where other machines can connect, and clients need no user: add auth, or insecure to allow it, or listen on 127.0.0.1.`,
  )
}
