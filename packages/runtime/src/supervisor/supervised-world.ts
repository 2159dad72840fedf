import {
  AddressDirectory,
  clusterAddress,
  createRandom,
  type Actor,
  type Address,
  type ClusterEvent,
  type LogLevel,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import type { ActorCell } from '../host/actor-cell.js'
import type { ActorHost } from '../host/actor-host.js'
import { EventSink } from '../host/event-sink.js'
import { defaultLimits, type HostLimits } from '../host/limits.js'
import type { Alarm } from '../host/time/clock.js'
import type { MemberInfo } from '../runtime.js'
import { EventHub } from './event-hub.js'
import { MemberTable } from './member-table.js'
import { supervisorHost } from './supervisor-host.js'

export interface SupervisedWorldOptions {
  readonly seed: number | string
  readonly limits?: Partial<HostLimits>
  readonly logLevel?: LogLevel
  readonly outside?: Actor
}

/** What worlds have in common whose members run on hosts elsewhere. */
export abstract class SupervisedWorld<Place> {
  protected readonly limits: HostLimits
  protected readonly directory = new AddressDirectory()
  protected readonly hub = new EventHub()
  /** Of the caller's thread. */
  protected readonly host: ActorHost
  /** The API, as the sender of its requests. */
  protected readonly outside: ActorCell
  protected readonly table: MemberTable<Place>

  constructor({ seed, limits, logLevel = 'info', outside }: SupervisedWorldOptions) {
    this.limits = { ...defaultLimits, ...limits }
    this.host = supervisorHost({
      directory: this.directory,
      random: createRandom(seed),
      events: new EventSink(this.hub.emit, logLevel),
      limits: this.limits,
    })
    const { clock, events } = this.host
    this.table = new MemberTable(
      this.directory,
      () => clock.now(),
      (event) => events.emit(event),
    )
    this.outside = this.host.addSender(this.directory.add(clusterAddress), clusterAddress, outside ?? null)
  }

  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    return this.host.mailbox.request(this.outside, to, kind, request, options)
  }

  during<T>(work: Promise<T>): Promise<T> {
    return work
  }

  alarm(delayMs: number, wake: () => void): Alarm {
    return this.host.clock.alarm(delayMs, wake)
  }

  now(): number {
    return this.host.clock.now()
  }

  emit(event: ClusterEvent): void {
    this.host.events.emit(event)
  }

  resolve(name: Address): readonly Address[] {
    return this.directory.resolve(name)
  }

  members(): MemberInfo[] {
    return this.table.infos()
  }

  member(address: Address): MemberInfo | undefined {
    return this.table.info(address)
  }

  onEvent(listener: (event: ClusterEvent) => void): () => void {
    return this.hub.listen(listener)
  }
}
