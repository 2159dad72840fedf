import type { Address, LogLevel } from '@shardlab/actor'
import type { HostLimits } from '../host/limits.js'
import type { MemberSpec, RuntimeHooks } from '../runtime.js'
import { BrokerError, type Broker } from './broker.js'
import type { LinkSettings } from './host-links.js'

export interface MachineTimings {
  /** How often the ends of a link compare what was sent and received. */
  readonly tickMs: number
  /** How often the supervisor asks each machine whether it is there. */
  readonly pingMs: number
  /** The members of a machine that was silent for so long are down for the others. */
  readonly lostAfterMs: number
  /** A machine that has not heard from its cluster for so long ends its members. */
  readonly abandonedAfterMs: number
}

export const machineTimings: MachineTimings = { tickMs: 500, pingMs: 500, lostAfterMs: 5000, abandonedAfterMs: 60_000 }

/** @returns the name of the machine for a member */
export type Placement = (spec: MemberSpec) => string

export interface NatsRuntimeOptions extends Omit<RuntimeHooks, 'disks'> {
  /** Closed when the runtime stops. */
  readonly broker: Broker
  /** Different for each cluster on the broker; no dots. */
  readonly cluster: string
  /** Names of hosts that run. */
  readonly machines: readonly string[]
  /** Default: {@link spreadOver} the machines. */
  readonly placement?: Placement
  readonly version: string
  /** The root of all generators. */
  readonly seed: number | string
  readonly limits?: Partial<HostLimits>
  /** Lower lines are dropped. Default `info`. */
  readonly logLevel?: LogLevel
  readonly timings?: Partial<MachineTimings>
  /** How long the actors may take to shut down. Default 10,000. */
  readonly stopTimeoutMs?: number
}

const messageBytesMax = 512 * 1024
const messageBytesMin = 16 * 1024

/** @throws BrokerError the broker's messages are too small */
export function linkSettings(broker: Broker, { tickMs }: MachineTimings): LinkSettings {
  const { contentBytesMax } = broker
  if (contentBytesMax < messageBytesMin)
    throw new BrokerError(
      `the NATS server takes messages of at most ${contentBytesMax} bytes, and Shardlab needs ${messageBytesMin}: ` +
        'increase max_payload.',
    )
  return {
    messageBytesMax: Math.min(messageBytesMax, contentBytesMax),
    unreceivedBytesMax: 64 * 1024 * 1024,
    tickMs,
  }
}

/**
 * Members of one set are on different machines, as far as there are enough; others go to the machine
 * with the fewest members.
 */
export function spreadOver(machines: readonly string[]): Placement {
  const counts = new Map(machines.map((machine) => [machine, 0]))
  const used = new Map<Address, Set<string>>()
  return ({ address, set = address }) => {
    const ofSet = used.get(set) ?? new Set<string>()
    used.set(set, ofSet)
    const free = machines.filter((machine) => !ofSet.has(machine))
    const candidates = free.length > 0 ? free : machines
    const chosen = candidates.reduce((least, machine) => (counts.get(machine)! < counts.get(least)! ? machine : least))
    counts.set(chosen, counts.get(chosen)! + 1)
    ofSet.add(chosen)
    return chosen
  }
}
