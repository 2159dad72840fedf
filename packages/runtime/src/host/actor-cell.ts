import { endpointOf } from './clients/endpoint.js'
import type { Actor, Address, Disk, MessageKind } from '@shardlab/actor'
import { IntrusiveList, type ListNode } from './intrusive-list.js'
import type { HostClock } from './time/clock.js'
import { CellFaults } from './faults/cell-faults.js'
import type { OpenedGateway } from './clients/gateway-opener.js'
import type { Peer } from './mailbox/peer.js'

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

/** Who asked for what. */
export interface RequestOrigin {
  readonly peer: Peer
  readonly id: number
  readonly from: number
  readonly kind: MessageKind
}

/** A request that this actor is working on. */
export class Job implements RequestOrigin, ListNode<Job> {
  readonly peer: Peer
  readonly id: number
  readonly from: number
  readonly kind: MessageKind
  previous: Job | null = null
  next: Job | null = null

  constructor(peer: Peer, id: number, from: number, kind: MessageKind) {
    this.peer = peer
    this.id = id
    this.from = from
    this.kind = kind
  }
}

/** `stopping` still serves; `gone` is final: a restarted member is another cell. */
export type CellState = 'starting' | 'running' | 'stopping' | 'gone'

/** What waits until the actor has started. */
export interface HeldDelivery {
  deliver(): void
  /** The actor crashed before it had started. */
  refuse(): void
}

/** A named timer that has not woken its actor. */
export interface ArmedTimer {
  readonly dueAtMs: number
  /** Of two timers of a host that are due at the same time, the one with the lower number wakes first. */
  readonly order: number
  cancel(): void
}

/** A sleep of an actor that has not ended. */
export interface PendingSleep extends ListNode<PendingSleep> {
  /** Cancels its alarm and stops listening to its signal; it never settles then. */
  disconnect(): void
}

/** One incarnation of one member on its host. */
export class ActorCell {
  readonly boot: MemberBoot
  /** Here as well, as every message looks at them. */
  readonly index: number
  readonly address: Address
  readonly disk: Disk
  readonly clock: HostClock
  readonly faults: CellFaults
  /** For what left one of its handlers. */
  readonly crash: (error: unknown) => void
  state: CellState = 'starting'
  actor: Actor | null = null
  endpoint: string
  gateway: OpenedGateway | null = null
  waiting: HeldDelivery[] = []
  /** Ends the wait for the start; null once it has started. */
  failStart: ((error: Error) => void) | null = null
  readonly jobs = new IntrusiveList<Job>()
  /** What it works on that nobody waits for: notices and timers. */
  backgroundWork = 0
  readonly timers = new Map<string, ArmedTimer>()
  readonly sleeps = new IntrusiveList<PendingSleep>()

  constructor(boot: MemberBoot, disk: Disk, clock: HostClock, onFailure: (cell: ActorCell, error: unknown) => void) {
    this.boot = boot
    this.index = boot.index
    this.address = boot.address
    this.disk = disk
    this.clock = clock
    this.crash = (error) => onFailure(this, error)
    this.faults = new CellFaults(clock)
    this.endpoint =
      boot.listen === null || boot.listen.port === 0
        ? `${boot.address}:27017`
        : endpointOf(boot.listen.host, boot.listen.port)
  }

  get gone(): boolean {
    return this.state === 'gone'
  }

  /** Nothing that it waits for will come. */
  destroy(why: Error): void {
    this.state = 'gone'
    this.failStart?.(why)
    this.failStart = null
    for (const timer of this.timers.values()) timer.cancel()
    for (const sleep of this.sleeps.takeAll()) sleep.disconnect()
    this.timers.clear()
    this.waiting = []
  }
}
