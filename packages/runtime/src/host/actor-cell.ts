import { endpointOf } from './endpoint.js'
import type { Actor, Address, Disk, MessageKind } from '@shardlab/actor'
import type { Alarm, HostClock } from './clock.js'
import { CellFaults } from './faults/cell-faults.js'
import type { OpenedGateway } from './gateway-opener.js'
import type { Peer } from './peer.js'

/** What a host needs to run one member, this time. */
export interface MemberBoot {
  readonly index: number
  readonly address: Address
  readonly role: string
  readonly options: unknown
  readonly listen: { readonly host: string; readonly port: number } | null
  /** How often the member was started before: its generator must not repeat itself. */
  readonly incarnation: number
}

/** A request that this actor is working on. */
export interface Job {
  readonly peer: Peer
  readonly id: number
  readonly from: number
  readonly kind: MessageKind
}

/** A named timer that has not woken its actor. */
export interface ArmedTimer {
  readonly alarm: Alarm
  readonly dueAtMs: number
  /** Of two timers of a host that are due at the same time, the one that was armed first wakes first. */
  readonly order: number
}

/** `stopping` still serves; `gone` is final: a restarted member is another cell. */
export type CellState = 'starting' | 'running' | 'stopping' | 'gone'

/** What waits until the actor has started. */
export interface Waiting {
  deliver(): void
  /** The actor crashed before it had started. */
  refuse(): void
}

/** One incarnation of one member on its host. */
export class ActorCell {
  readonly boot: MemberBoot
  readonly disk: Disk
  readonly faults: CellFaults
  state: CellState = 'starting'
  actor: Actor | null = null
  endpoint: string
  gateway: OpenedGateway | null = null
  waiting: Waiting[] = []
  /** Ends the wait for the start; null once it has started. */
  failStart: ((error: Error) => void) | null = null
  readonly jobs = new Set<Job>()
  /** What it works on that nobody waits for: notices and timers. */
  unasked = 0
  readonly timers = new Map<string, ArmedTimer>()
  readonly sleeps = new Set<Alarm>()

  constructor(boot: MemberBoot, disk: Disk, clock: HostClock) {
    this.boot = boot
    this.disk = disk
    this.faults = new CellFaults(clock)
    this.endpoint =
      boot.listen === null || boot.listen.port === 0 ? `${boot.address}:27017` : endpointOf(boot.listen.host, boot.listen.port)
  }

  get address(): Address {
    return this.boot.address
  }

  get gone(): boolean {
    return this.state === 'gone'
  }

  /** Nothing that it waits for will come. */
  abandon(why: Error): void {
    this.state = 'gone'
    this.failStart?.(why)
    this.failStart = null
    for (const { alarm } of this.timers.values()) alarm.cancel()
    for (const alarm of this.sleeps) alarm.cancel()
    this.timers.clear()
    this.sleeps.clear()
    this.waiting = []
  }
}
