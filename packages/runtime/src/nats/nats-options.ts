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
  /** A machine whose cluster was silent for so long ends its members. */
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
  /** Default: a {@link Spread} over the machines. */
  readonly placement?: Placement
  readonly version: string
  /** Throws an error that tells why clients must not reach members there. Default: anywhere. */
  readonly checkHost?: (host: string) => void
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
 * Members of one set are on different machines, as far as there are enough. First members, which
 * are elected first, are spread as well as all members are.
 */
export class Spread {
  readonly #members = new Map<string, number>()
  readonly #firstMembers = new Map<string, number>()
  readonly #used = new Map<Address, Set<string>>()

  /** @param machines at least one */
  choose({ address, set = address }: Pick<MemberSpec, 'address' | 'set'>, machines: readonly string[]): string {
    const ofSet = this.#used.get(set) ?? new Set<string>()
    this.#used.set(set, ofSet)
    const isFirst = ofSet.size === 0
    const free = machines.filter((machine) => !ofSet.has(machine))
    const candidates = free.length > 0 ? free : machines
    const weightOf = (machine: string) =>
      (this.#members.get(machine) ?? 0) + (isFirst ? (this.#firstMembers.get(machine) ?? 0) * membersMax : 0)
    const chosen = candidates.reduce((least, machine) => (weightOf(machine) < weightOf(least) ? machine : least))
    this.#members.set(chosen, (this.#members.get(chosen) ?? 0) + 1)
    if (isFirst) this.#firstMembers.set(chosen, (this.#firstMembers.get(chosen) ?? 0) + 1)
    ofSet.add(chosen)
    return chosen
  }
}

/** More than a machine has. */
const membersMax = 100_000
