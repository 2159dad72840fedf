import {
  DiskFullError,
  passedStep,
  RequestFailedError,
  type ActorContext,
  type CancelSignal,
  type Address,
  type ClusterEvent,
  type Disk,
  type DiskContents,
  type DiskImage,
  type DiskUsage,
  type LogLevel,
  type MessageKind,
  type MutationName,
  type Random,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import type { HostClock } from './clock.js'
import type { EventSink } from './event-sink.js'
import type { PostOffice } from './post-office.js'
import { Sleep } from './sleep.js'

/** What a context needs of the host that runs its member. */
export interface ContextHost {
  readonly clock: HostClock
  readonly events: EventSink
  readonly post: PostOffice
  readonly mutations: ReadonlySet<MutationName>
  readonly shared: Map<string, unknown> | undefined
  /** False while no fault is armed at any step. */
  readonly steps: { readonly active: boolean }
  reach(cell: ActorCell, step: string): Promise<void>
  setTimer(cell: ActorCell, name: string, delayMs: number): void
  log(cell: ActorCell, level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** A promise of its own each time: one that everybody waits for would keep all that wait for it in memory. */
function never<T>(): Promise<T> {
  return new Promise(() => {})
}

/** The disk as one incarnation sees it: after the crash it can no longer write. */
class CellDisk implements Disk {
  readonly #cell: ActorCell

  constructor(cell: ActorCell) {
    this.#cell = cell
  }

  get keepsImages(): boolean {
    return this.#cell.disk.keepsImages === true
  }

  append(record: Uint8Array): Promise<void> {
    const { gone, faults, disk } = this.#cell
    if (gone) return never()
    if (!faults.active) return disk.append(record)
    const copy = new Uint8Array(record)
    return faults.write(() => this.#unlessGone(() => disk.append(copy)))
  }

  appendNow(record: Uint8Array): boolean {
    const { gone, faults, disk } = this.#cell
    return !gone && !faults.active && disk.appendNow?.(record) === true
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    const { gone, faults, disk } = this.#cell
    if (gone) return never()
    if (!faults.active) return disk.writeCheckpoint(checkpoint)
    if (faults.diskIsFull) return Promise.reject(new DiskFullError(disk.usage().limitBytes))
    const copy = 'copyTo' in checkpoint ? checkpoint : new Uint8Array(checkpoint)
    return faults.write(() => this.#unlessGone(() => disk.writeCheckpoint(copy)))
  }

  #unlessGone(write: () => Promise<void>): Promise<void> {
    return this.#cell.gone ? never() : write()
  }

  read(): DiskContents {
    return this.#cell.disk.read()
  }

  usage(): DiskUsage {
    return this.#cell.disk.usage()
  }

  hasRoom(recordBytes: number): boolean {
    const { faults, disk } = this.#cell
    return !(faults.active && faults.diskIsFull) && disk.hasRoom(recordBytes)
  }
}

/** The world as one incarnation of an actor sees it. Once that is gone, nothing it does has an effect and nothing it awaits resumes. */
export class CellContext implements ActorContext {
  readonly address: Address
  readonly endpoint: string
  readonly random: Random
  readonly disk: Disk
  readonly shared?: Map<string, unknown>
  readonly #host: ContextHost
  readonly #post: PostOffice
  readonly #cell: ActorCell
  readonly #steps: ContextHost['steps']
  readonly #wanted: Readonly<Record<ClusterEvent['type'], boolean>>
  #cancelledSleep: RequestFailedError | null = null

  constructor(host: ContextHost, cell: ActorCell, random: Random) {
    this.address = cell.address
    this.endpoint = cell.endpoint
    this.random = random
    this.disk = new CellDisk(cell)
    if (host.shared !== undefined) this.shared = host.shared
    this.#host = host
    this.#post = host.post
    this.#cell = cell
    this.#steps = host.steps
    this.#wanted = host.events.wanted
  }

  now(): number {
    const { faults } = this.#cell
    return faults.active ? faults.now() : this.#host.clock.now()
  }

  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    return this.#cell.gone ? never() : this.#post.request(this.#cell, to, kind, request, options)
  }

  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void {
    if (!this.#cell.gone) this.#post.notify(this.#cell, to, kind, request)
  }

  sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    if (this.#cell.gone) return never()
    if (signal?.aborted === true) return Promise.reject(this.#cancelled())
    const sleep = new Sleep(this.#cell, durationMs, this.#cancelled)
    if (signal !== undefined) sleep.endWith(signal)
    return sleep.promise
  }

  /** The same each time: nobody is interested in where a sleep was cancelled, and to find that out is what costs. */
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

  reach(step: string): Promise<void> {
    return this.#steps.active || this.#cell.gone ? this.#reachArmed(step) : passedStep
  }

  #reachArmed(step: string): Promise<void> {
    return this.#cell.gone ? never() : this.#host.reach(this.#cell, step)
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
