import {
  Attachment,
  RequestFailedError,
  type ActorContext,
  type AddressDirectory,
  type AttachableObject,
  type CancelSignal,
  type Address,
  type ClusterEvent,
  type Disk,
  type LogLevel,
  type MessageKind,
  type MutationName,
  type Random,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
  type StepDetail,
  type PortState,
  type TlsState,
} from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import { CellDisk } from './cell-disk.js'
import type { EventSink } from './event-sink.js'
import type { Mailbox } from './mailbox/mailbox.js'
import { never } from './never.js'
import type { HostClock, Sleeper } from './time/clock.js'
import { NextTurn } from './time/next-turn.js'
import { Sleep } from './time/sleep.js'

export interface ContextHost {
  readonly directory: AddressDirectory
  readonly clock: HostClock
  readonly events: EventSink
  readonly mailbox: Mailbox
  readonly mutations: ReadonlySet<MutationName>
  readonly attaches: boolean
  /** See `ActorHostOptions.nextTurn`. */
  readonly nextTurn: (sleeper: Sleeper) => void
  readonly pageFaults: () => number
  /** Null: seeded. */
  readonly secretBytes: ((length: number) => Uint8Array) | null
  /** False while no fault is armed at any step. */
  readonly steps: { readonly active: boolean }
  reach(cell: ActorCell, step: string, detail: StepDetail): Promise<void>
  setTimer(cell: ActorCell, name: string, delayMs: number): void
  log(cell: ActorCell, level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** One promise for all calls: passing a step without faults allocates nothing. */
const passedStep: Promise<void> = Promise.resolve()

/** Once the incarnation is gone, no call has an effect and no promise settles. */
export class CellContext implements ActorContext {
  readonly address: Address
  readonly endpoint: string
  readonly random: Random
  readonly disk: Disk
  readonly #host: ContextHost
  readonly #mailbox: Mailbox
  readonly #cell: ActorCell
  readonly #steps: ContextHost['steps']
  readonly #wanted: Readonly<Record<ClusterEvent['type'], boolean>>
  #cancelledSleep: RequestFailedError | null = null
  /** Null: not needed yet. */
  #secrets: Random | null = null

  constructor(host: ContextHost, cell: ActorCell, random: Random) {
    this.address = cell.address
    this.endpoint = cell.endpoint
    this.random = random
    this.disk = new CellDisk(cell)
    this.#host = host
    this.#mailbox = host.mailbox
    this.#cell = cell
    this.#steps = host.steps
    this.#wanted = host.events.wanted
  }

  secretBytes(length: number): Uint8Array {
    return (this.#host.secretBytes ?? this.#seededSecrets())(length)
  }

  /** A fork, so that secrets do not shift other draws. */
  #seededSecrets(): (length: number) => Uint8Array {
    this.#secrets ??= this.random.fork('secrets')
    return (length) => this.#secrets!.bytes(length)
  }

  now(): number {
    const { faults } = this.#cell
    return faults.active ? faults.now() : this.#host.clock.now()
  }

  steadyNow(): number {
    return this.#host.clock.now()
  }

  resolve(name: Address): readonly Address[] {
    return this.#host.directory.resolve(name)
  }

  exit(): void {
    if (!this.#cell.gone) this.#cell.crash(null)
  }

  tls(): TlsState | null {
    return this.#cell.gateway?.tls ?? null
  }

  port(): PortState | null {
    return this.#cell.gateway
  }

  pageFaults(): number {
    return this.#host.pageFaults()
  }

  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    return this.#cell.gone ? never() : this.#mailbox.request(this.#cell, to, kind, request, options)
  }

  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void {
    if (!this.#cell.gone) this.#mailbox.notify(this.#cell, to, kind, request)
  }

  sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    if (this.#cell.gone) return never()
    if (signal?.aborted === true) return Promise.reject(this.#cancelled())
    const sleep = new Sleep(this.#cell, durationMs, this.#cancelled)
    if (signal !== undefined) sleep.endWith(signal)
    return sleep.promise
  }

  nextTurn(): Promise<void> {
    return this.#cell.gone ? never() : new NextTurn(this.#cell, this.#host.nextTurn).promise
  }

  /** One error for all cancelled sleeps, because a stack trace for each is expensive. */
  readonly #cancelled = (): RequestFailedError =>
    (this.#cancelledSleep ??= new RequestFailedError('cancelled', this.address, 'the sleep was cancelled'))

  all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
    return this.#cell.gone ? never() : Promise.all(values)
  }

  detach(work: Promise<unknown>): void {
    work.then(undefined, this.#cell.crash)
  }

  setTimer(name: string, delayMs: number): void {
    if (!this.#cell.gone) this.#host.setTimer(this.#cell, name, delayMs)
  }

  clearTimer(name: string): void {
    this.#cell.timers.get(name)?.cancel()
    this.#cell.timers.delete(name)
  }

  reach(step: string, detail?: StepDetail): Promise<void> {
    return this.#steps.active || this.#cell.gone ? this.#reachArmed(step, detail) : passedStep
  }

  #reachArmed(step: string, detail: StepDetail = {}): Promise<void> {
    return this.#cell.gone ? never() : this.#host.reach(this.#cell, step, detail)
  }

  attach<Packed>(object: () => AttachableObject | null, pack: () => Packed): Attachment | Packed {
    const attached = this.#host.attaches ? object() : null
    return attached === null ? pack() : new Attachment(attached)
  }

  mutated(mutation: MutationName): boolean {
    return this.#host.mutations.has(mutation)
  }

  emit(event: ClusterEvent): void {
    if (!this.#cell.gone) this.#host.events.emit(event)
  }

  wants(type: ClusterEvent['type']): boolean {
    return this.#wanted[type]
  }

  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    if (!this.#cell.gone) this.#host.log(this.#cell, level, message, fields)
  }
}
