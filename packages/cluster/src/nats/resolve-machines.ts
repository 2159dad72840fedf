import { isAbsolute } from 'node:path'
import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import { checkMachines, type ClusterMachines } from './nats-options.js'

const defaultHost = '127.0.0.1'

/** What members on other machines cannot have, with what to do. */
const excluded = {
  runtime: 'members run on the machines of nats: remove runtime',
  clock: 'the clocks of machines cannot be controlled: remove clock, or nats',
  hosts: 'members run on the machines of nats: remove hosts',
  from: 'a snapshot cannot be continued on machines of nats: remove from, or nats',
  dbPath: 'each host keeps the data of its members: start hosts with --dbpath, and remove dbPath here',
} as const satisfies Partial<Record<keyof ClusterOptions, string>>

/**
 * null: members run in this process.
 * @throws OptionError
 */
export function resolveMachines(options: ClusterOptions): ClusterMachines | null {
  const { nats } = options
  if (nats === undefined) return null
  for (const [name, why] of Object.entries(excluded))
    if (options[name as keyof ClusterOptions] !== undefined) throw new OptionError(`${why}.`)
  if (options.host !== undefined && options.host !== defaultHost)
    throw new OptionError('each host has an address of its own: start hosts with --host, and remove host here.')
  checkMachines(nats)
  checkPaths(options.tls)
  return nats
}

/** Each host reads its own files. @throws OptionError */
function checkPaths(tls: ClusterOptions['tls']): void {
  for (const name of ['certificateKeyFile', 'CAFile', 'CRLFile'] as const) {
    const path = tls?.[name]
    if (typeof path === 'string' && !isAbsolute(path))
      throw new OptionError(`tls.${name} is "${path}"; each host of nats reads the file: give an absolute path.`)
  }
}
