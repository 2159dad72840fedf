import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import { checkMachines, type ClusterMachines } from './nats-options.js'

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
  checkMachines(nats)
  return nats
}
