import { NotPrimaryError, type Actor, type Address, type Disk, type MessageKind } from '@shardlab/actor'
import type { Listen } from '../runtime.js'
import { endpointOf } from './clients/endpoint.js'
import type { OpenedGateway } from './clients/gateway-opener.js'
import { CellFaults } from './faults/cell-faults.js'
import { IntrusiveList, type ListNode } from './intrusive-list.js'
import type { Peer } from './mailbox/peer.js'
import type { HostClock } from './time/clock.js'

export interface MemberBoot {
  readonly index: number
  readonly address: Address
  readonly role: string
  readonly options: unknown
  readonly listen: Listen | null
  /**
   * The number of earlier starts. Part of the path of the generator, so that draws are not
   * repeated.
   */
  readonly incarnation: number
}

export interface RequestOrigin {
  readonly peer: Peer
  readonly id: number
  readonly from: number
  readonly kind: MessageKind
}

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

/** `stopping` still serves requests. `gone` is final: a restarted member is another cell. */
export type CellState = 'starting' | 'running' | 'stopping' | 'gone'

export interface HeldDelivery {
  deliver(): void
  /** Called instead when the actor crashed before it had started. */
  refuse(): void
}

export interface ArmedTimer {
  readonly dueAtMs: number
  /** Of two timers of a host that are due at the same time, the lower one wakes first. */
  readonly order: number
  cancel(): void
}

export interface PendingSleep extends ListNode<PendingSleep> {
  /** Removes alarm and listener, so that the sleep never settles. */
  disconnect(): void
}

export class ActorCell {
  readonly boot: MemberBoot
  /** Copied out of {@link boot}, because every message reads them. */
  readonly index: number
  readonly address: Address
  readonly disk: Disk
  readonly clock: HostClock
  readonly faults: CellFaults
  /** Called with the error that left a handler. */
  readonly crash: (error: unknown) => void
  /** Called with the error that left the handler of a notice. Refusing one has no effect. */
  readonly endNotice: (error: unknown) => void
  state: CellState = 'starting'
  actor: Actor | null = null
  endpoint: string
  gateway: OpenedGateway | null = null
  waiting: HeldDelivery[] = []
  /** Rejects the start; null once the actor has started. */
  failStart: ((error: Error) => void) | null = null
  readonly jobs = new IntrusiveList<Job>()
  /** Running handlers of notices and timers. */
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
    this.endNotice = (error) => {
      this.backgroundWork--
      if (!(error instanceof NotPrimaryError)) this.crash(error)
    }
    this.faults = new CellFaults(clock)
    this.endpoint =
      boot.listen === null || boot.listen.port === 0
        ? `${boot.address}:27017`
        : endpointOf(boot.listen.announcedHost ?? boot.listen.host, boot.listen.port)
  }

  get gone(): boolean {
    return this.state === 'gone'
  }

  /** `why` rejects a start under way. */
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
