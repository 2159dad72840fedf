import {
  AddressDirectory,
  clusterAddress,
  createDeferred,
  createRandom,
  type Actor,
  type ActorContext,
  type Address,
  type ClusterEvent,
  type Deferred,
  type MessageKind,
  type Random,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import { MemoryDisk } from '../disks/memory-disk.js'
import type { ActorCell } from '../host/actor-cell.js'
import { ActorHost } from '../host/actor-host.js'
import { EventSink } from '../host/event-sink.js'
import { defaultLimits, type HostLimits } from '../host/limits.js'
import type { Alarm } from '../host/time/clock.js'
import { VirtualClock } from '../host/time/virtual-clock.js'
import { threadMemory, type MemoryUsage } from '../memory-usage.js'
import type { MemberInfo, MemberSpec, Runtime } from '../runtime.js'
import { EventHub } from '../supervisor/event-hub.js'
import type { FaultRegistry } from '../supervisor/fault-registry.js'
import { settleAll } from '../supervisor/keep-alive.js'
import { localRegistries } from '../supervisor/local-registries.js'
import { isUp, memberBoot, memberInfo, MemberTable, type Member } from '../supervisor/member-table.js'
import type { StepFaultRegistry } from '../supervisor/step-fault-registry.js'
import { defaultLatency } from './latency.js'
import { Network, type NetworkNode } from './network.js'
import { Scheduler } from './scheduler.js'
import type { SimulatedRuntimeOptions } from './simulated-runtime-options.js'
import type { SimulatedRuntime } from './simulated-runtime-type.js'
import { SimulationFailedError } from './simulation-failed-error.js'
import { TraceHash } from './trace-hash.js'

/** All actors in one thread under a virtual clock, with a seeded network between them. */
export function createSimulatedRuntime(options: SimulatedRuntimeOptions): SimulatedRuntime {
  return new Simulation(options)
}

interface SimulatedPlace {
  disk: MemoryDisk
}

/** 2026-01-01T00:00:00Z */
const beginMs = 1_767_225_600_000
const stopWithinMs = 60_000

/** So that messages arrive between two pieces of long work, which itself takes no virtual time. */
const yieldMs = 0.1

const notRunning = (address: Address): Error => new Error(`${address} is not running`)

class Simulation implements SimulatedRuntime {
  readonly kind = 'simulated'
  readonly seed: number | string
  readonly steps: StepFaultRegistry
  readonly faults: FaultRegistry
  readonly background: Runtime['background']
  readonly #options: SimulatedRuntimeOptions
  readonly #limits: HostLimits
  readonly #random: Random
  readonly #directory = new AddressDirectory()
  readonly #hub = new EventHub()
  readonly #events: EventSink
  readonly #clock = new VirtualClock(beginMs)
  readonly #scheduler: Scheduler
  readonly #trace = new TraceHash()
  readonly #network: Network
  readonly #members: MemberTable<SimulatedPlace>
  readonly #outside: { readonly host: ActorHost; readonly cell: ActorCell }
  /** Unanswered calls of {@link peek}, by the member's number. */
  readonly #peeks = new Map<number, Set<Deferred<never>>>()
  #lastHostId = 0

  constructor(options: SimulatedRuntimeOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.seed = options.seed
    this.#scheduler = new Scheduler(this.#clock, options.turnsMax ?? Infinity)
    this.#random = createRandom(options.seed)
    this.#events = new EventSink(this.#hub.emit, options.logLevel ?? 'info')
    this.#network = new Network(
      this.#clock,
      this.#trace,
      this.#random.fork('latency'),
      options.latency ?? defaultLatency,
    )
    this.#members = new MemberTable(
      this.#directory,
      () => this.#clock.now(),
      (event) => this.#events.emit(event),
    )
    const { steps, faults } = localRegistries(() => this.#network.nodes().map(({ host }) => host))
    this.steps = steps
    this.faults = faults
    this.background = {
      start: (specs) => this.#start(specs),
      request: (...args) => this.#request(...args),
      halt: (address) => this.#halt(address),
      restart: (address) => this.#restart(address),
    }
    const { host, index } = this.#join(clusterAddress)
    this.#outside = { host, cell: host.addSender(index, clusterAddress, options.outside ?? null) }
  }

  async start(specs: readonly MemberSpec[]): Promise<MemberInfo[]> {
    return this.#scheduler.during(this.#start(specs), () =>
      this.#stuck(`${specs.map(({ address }) => address).join(', ')} cannot start`),
    )
  }

  async #start(specs: readonly MemberSpec[]): Promise<MemberInfo[]> {
    this.#members.check(specs, (role) => this.#options.roles[role] !== undefined)
    return this.#begin(specs.map((spec) => this.#members.add(spec, { disk: new MemoryDisk(spec.diskLimitBytes) })))
  }

  addOutsider<A extends Actor>(address: Address, make: (context: ActorContext) => A): A {
    if (this.#directory.indexOf(address) !== undefined) throw new Error(`there is a ${address} already`)
    const { host, index } = this.#join(address)
    return host.addOutsider(index, address, make)
  }

  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    return this.#scheduler.during(this.#request(to, kind, request, options), () =>
      this.#stuck(`${to} has not answered ${kind}`),
    )
  }

  #request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    const { host, cell } = this.#outside
    return host.mailbox.request(cell, to, kind, request, options)
  }

  async crash(address: Address): Promise<void> {
    const { index } = this.#members.get(address)
    const cell = this.#network.node(index)?.host.cell(index)
    if (cell !== undefined) this.#network.node(index)!.host.crash(cell, null)
  }

  halt(address: Address): Promise<void> {
    return this.#scheduler.during(this.#halt(address), () => this.#stuck(`${address} has not stopped`))
  }

  async #halt(address: Address): Promise<void> {
    const member = this.#members.get(address)
    const node = this.#network.node(member.index)
    const cell = node?.host.cell(member.index)
    if (node === undefined || cell === undefined) return
    await this.#orTimeout(node.host.stop(cell))
    if (cell.gone) return
    node.host.remove(cell, new Error(`${address} was stopped`))
    this.#leave(member.index)
    this.#members.stopped(member)
  }

  async replaceDisk(address: Address): Promise<void> {
    const { place, spec } = this.#members.down(address)
    place.disk = new MemoryDisk(spec.diskLimitBytes)
  }

  async remove(address: Address): Promise<void> {
    this.#members.remove(this.#members.down(address).spec.address)
  }

  async restart(address: Address): Promise<MemberInfo> {
    return this.#scheduler.during(this.#restart(address), () => this.#stuck(`${address} cannot start`))
  }

  async #restart(address: Address): Promise<MemberInfo> {
    const [info] = await this.#begin([this.#members.restarting(address)])
    return info!
  }

  during<T>(work: Promise<T>): Promise<T> {
    return this.#scheduler.during(work, () => this.#stuck('the work that the caller waits for has not ended'))
  }

  alarm(delayMs: number, wake: () => void): Alarm {
    return this.#clock.alarm(delayMs, wake)
  }

  emit(event: ClusterEvent): void {
    this.#events.emit(event)
  }

  async describe(address: Address): Promise<Record<string, unknown>> {
    const { index, state } = this.#members.get(address)
    if (state !== 'running') throw new Error(`${address} is ${state}`)
    return this.#network.node(index)!.host.describe(index)
  }

  async memory(): Promise<MemoryUsage> {
    return { residentBytes: process.memoryUsage.rss(), threads: [threadMemory(0)], sharedDiskBytes: 0 }
  }

  async peek<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const { index, state } = this.#members.get(to)
    if (state !== 'running') throw notRunning(to)
    const answer = this.#network.node(index)!.host.peek(index, kind, request) as Promise<ReplyOf<K>> | ReplyOf<K>
    if (!(answer instanceof Promise)) return answer
    const gone = createDeferred<never>()
    const peeks = this.#peeks.get(index) ?? new Set()
    this.#peeks.set(index, peeks.add(gone))
    const settled = Promise.race([answer, gone.promise])
    // An answer that needs no time comes before the turn at which `during` notices it.
    const waited = this.#scheduler.during(settled, () => this.#stuck(`${to} has not answered ${kind}`))
    return Promise.race([settled, waited]).finally(() => peeks.delete(gone))
  }

  resolve(name: Address): readonly Address[] {
    return this.#directory.resolve(name)
  }

  async name(address: Address, name: Address): Promise<void> {
    this.#directory.name(address, name)
  }

  members(): MemberInfo[] {
    return this.#members.infos()
  }

  member(address: Address): MemberInfo | undefined {
    return this.#members.info(address)
  }

  onEvent(listener: (event: ClusterEvent) => void): () => void {
    return this.#hub.listen(listener)
  }

  watch(types: readonly ClusterEvent['type'][]): void {
    this.#events.watch(types)
  }

  async stop(): Promise<void> {
    const up = this.#members.all().filter(isUp)
    const places = up.map(({ index }) => this.#network.node(index)!.host)
    const ends = Promise.all(up.map(({ index }, i) => places[i]!.stop(places[i]!.cell(index)!)))
    await this.#scheduler.during(this.#orTimeout(ends), () => this.#stuck('the members have not stopped'))
    for (const [i, member] of up.entries()) {
      const cell = places[i]!.cell(member.index)!
      if (cell.gone) continue
      places[i]!.remove(cell, new Error('the runtime was stopped'))
      this.#leave(member.index)
      this.#members.stopped(member)
    }
  }

  async #orTimeout(ends: Promise<unknown>): Promise<void> {
    const timeout = createDeferred<void>()
    const alarm = this.#clock.alarm(stopWithinMs, timeout.resolve)
    await Promise.race([ends, timeout.promise])
    alarm.cancel()
  }

  now(): number {
    return this.#clock.now()
  }

  async advance(durationMs: number): Promise<void> {
    await this.#scheduler.until(this.#clock.nowMicros + Math.round(durationMs * 1000), false)
  }

  runUntilIdle({ maxVirtualMs = 3_600_000 }: { readonly maxVirtualMs?: number } = {}): Promise<boolean> {
    return this.#scheduler.until(this.#clock.nowMicros + Math.round(maxVirtualMs * 1000), true)
  }

  sever(one: Address, other: Address): void {
    const [first, second] = [one, other].map((address) => this.#network.node(this.#members.get(address).index))
    if (first !== undefined && second !== undefined && first !== second) this.#network.sever(first, second)
  }

  get turns(): number {
    return this.#scheduler.turns
  }

  traceHash(): string {
    return this.#trace.digest()
  }

  // All cells are added before the first actor runs, so that its messages to the others are held.
  #begin(members: readonly Member<SimulatedPlace>[]): Promise<MemberInfo[]> {
    const places = members.map((member) => {
      const { host } = this.#join(member.spec.address)
      return { member, host, cell: host.addCell(memberBoot(member), member.place.disk) }
    })
    return settleAll(
      places.map(async ({ member, host, cell }) => {
        await host.start(cell, () => this.#options.roles[member.spec.role]!)
        this.#members.started(member, cell.endpoint, 0)
        return memberInfo(member)
      }),
    )
  }

  #join(address: Address): NetworkNode {
    const index = this.#directory.add(address)
    const host: ActorHost = new ActorHost({
      hostId: ++this.#lastHostId,
      directory: this.#directory,
      clock: this.#clock,
      random: this.#random,
      events: this.#events,
      limits: this.#limits,
      checked: true,
      pooled: true,
      mutations: this.#options.mutations ?? [],
      attaches: this.#options.attaches ?? false,
      atEndOfTurn: this.#scheduler.atEndOfTurn,
      nextTurn: (sleeper) => void this.#clock.alarm(yieldMs, sleeper),
      findLink: (to) => this.#network.linkTo(node, to),
      openGateway: null,
      onCrash: (cell, error) => this.#crashed(cell, error),
      onStepStruck: (id, reached) => this.steps.report(id, reached),
      onWake: (_, timer) => {
        this.#trace.addInteger(this.#clock.nowMicros)
        this.#trace.addInteger(index)
        this.#trace.addText(timer)
      },
    })
    const node: NetworkNode = { address, index, host, links: new Map(), crashed: false }
    for (const fault of this.steps.armed()) host.steps.arm(fault)
    for (const fault of this.faults.applied()) host.faults.apply(fault)
    this.#network.join(node)
    return node
  }

  #crashed(cell: ActorCell, error: Error | null): void {
    this.#leave(cell.index)
    this.#members.crashed(this.#members.get(cell.address), error)
    if (error !== null) this.#scheduler.fail(new SimulationFailedError(this.seed, cell.address, this.now(), error))
  }

  #leave(index: number): void {
    const node = this.#network.node(index)
    if (node === undefined) return
    this.#network.leave(node)
    for (const gone of this.#peeks.get(index) ?? []) gone.reject(notRunning(node.address))
  }

  #stuck(what: string): Error {
    return new Error(
      `seed ${this.seed}: ${what}, and nothing is left to happen at ${new Date(this.now()).toISOString()}`,
    )
  }
}
