import { randomBytes } from 'node:crypto'
import {
  AddressDirectory,
  clusterAddress,
  createRandom,
  type Address,
  type ClusterEvent,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import type { MemoryDisk } from '../disks/memory-disk.js'
import type { ActorCell } from '../host/actor-cell.js'
import { ActorHost } from '../host/actor-host.js'
import { openTcpGateway } from '../host/clients/gateway-opener.js'
import { EventSink } from '../host/event-sink.js'
import { defaultLimits } from '../host/limits.js'
import { CallbackPeer, type Peer } from '../host/mailbox/peer.js'
import type { Alarm } from '../host/time/clock.js'
import { LiveClock } from '../host/time/live-clock.js'
import { LiveTurns } from '../host/time/live-turns.js'
import { VirtualClock } from '../host/time/virtual-clock.js'
import { threadMemory, type MemoryUsage } from '../memory-usage.js'
import type { MemberInfo, MemberSpec, Runtime } from '../runtime.js'
import { EventHub } from '../supervisor/event-hub.js'
import type { FaultRegistry } from '../supervisor/fault-registry.js'
import { waitAtMost, KeepAlive, settleAll } from '../supervisor/keep-alive.js'
import { localRegistries } from '../supervisor/local-registries.js'
import { isUp, memberBoot, memberInfo, MemberTable, type Member } from '../supervisor/member-table.js'
import { PortHolds } from '../supervisor/port-holds.js'
import type { StepFaultRegistry } from '../supervisor/step-fault-registry.js'
import { LocalDisks, type LocalDisk } from '../disks/local-disks.js'
import { AutoAdvance } from './auto-advance.js'
import { ConnectionGate } from './connection-gate.js'
import type { InlineRuntimeOptions } from './inline-runtime-options.js'
import { Quiescence } from './quiescence.js'
import { restoreCopy } from './restore-copy.js'
import { copyMember, type WorldCopy } from './world-copy.js'

export interface InlineRuntime extends Runtime {
  readonly kind: 'inline'
  /**
   * Advances a manual clock, which starts at the machine's time. Everything that is due happens in
   * order, each time with all messages that follow from it, except those over sockets. Rejects when
   * the clock is the machine's.
   */
  advance(durationMs: number): Promise<void>
  /** @throws BusyWorldError when a member does long work that a copy could not continue */
  checkIdle(): void
  /**
   * Copies this world when no member works on anything. Running commands of clients end first, new
   * ones wait until the copy is made.
   * @throws BusyWorldError
   */
  copy(): Promise<WorldCopy>
  /**
   * Continues from a copy of any world. Members that the copy does not have are removed. Clients of
   * members that are running now and in the copy stay connected, without their cursors. No fault
   * may be active.
   * @param listen for a member that is not running; default: its last address, or that of its
   *   specification
   * @throws BusyWorldError
   */
  restore(copy: WorldCopy, listen?: (spec: MemberSpec) => MemberSpec['listen']): Promise<MemberInfo[]>
}

/** All actors run in the caller's thread: the fastest start. */
export function createInlineRuntime(options: InlineRuntimeOptions): InlineRuntime {
  return new InlineWorld(options)
}

interface InlinePlace {
  disk: LocalDisk
}

type MemoryPlace = { disk: MemoryDisk }

class InlineWorld implements InlineRuntime {
  readonly kind = 'inline'
  readonly steps: StepFaultRegistry
  readonly faults: FaultRegistry
  readonly background = this
  readonly #options: InlineRuntimeOptions
  readonly #directory: AddressDirectory
  readonly #hub = new EventHub()
  readonly #host: ActorHost
  readonly #self: Peer
  readonly #outside: ActorCell
  readonly #members: MemberTable<InlinePlace>
  readonly #keepAlive = new KeepAlive()
  readonly #ports: PortHolds
  readonly #manualClock: VirtualClock | null
  readonly #autoAdvance: AutoAdvance | null
  readonly #gate: ConnectionGate
  readonly #disks: LocalDisks
  readonly #turns = new LiveTurns()
  readonly #quiescence: Quiescence
  /** Running calls that move the time or wait for sockets. */
  #busyCalls = 0
  #lastCall: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: InlineRuntimeOptions) {
    this.#options = options
    const { openGateway = openTcpGateway, links } = options
    this.#directory = links?.directory ?? new AddressDirectory()
    this.#gate = new ConnectionGate(options.completeReply)
    this.#ports = new PortHolds(openGateway === openTcpGateway)
    this.#manualClock = options.clock === 'manual' ? new VirtualClock(Date.now()) : null
    this.#autoAdvance =
      this.#manualClock === null || options.autoAdvance === false
        ? null
        : new AutoAdvance(this.#manualClock, { quiet: () => this.#quiet(), isBusy: () => this.#busyCalls > 0 })
    const autoAdvance = this.#autoAdvance
    this.#host = new ActorHost({
      ...(autoAdvance === null ? {} : { onClientWaiting: (answer, isGone) => autoAdvance.waitFor(answer, isGone) }),
      ...(links === undefined ? {} : { findLink: (index) => links.find(index) }),
      hostId: 0,
      directory: this.#directory,
      clock: this.#manualClock ?? new LiveClock(),
      random: createRandom(options.seed),
      events: new EventSink(this.#hub.emit, options.logLevel ?? 'info'),
      limits: { ...defaultLimits, ...options.limits },
      checked: false,
      atEndOfTurn: this.#turns.atEndOfTurn,
      nextTurn: this.#turns.nextTurn,
      pageFaults: () => process.resourceUsage().majorPageFault,
      secretBytes: randomBytes,
      openGateway: this.#gate.wrap((request) => {
        const released = this.#ports.release(this.#members.get(request.address))
        return released === null ? openGateway(request) : released.then(() => openGateway(request))
      }),
      onCrash: (cell, error) => {
        const member = this.#members.get(cell.address)
        this.#members.crashed(member, error)
        this.#ports.hold(member)
      },
      onStepStruck: (id, reached) => this.steps.report(id, reached),
    })
    const { clock, events, mailbox } = this.#host
    this.#disks = new LocalDisks(options.disks ?? null, (member, message) =>
      events.emit({ type: 'log', atMs: this.now(), member, level: 'warn', message, fields: {} }),
    )
    this.#members = new MemberTable(
      this.#directory,
      () => clock.now(),
      (event) => events.emit(event),
    )
    this.#self = new CallbackPeer(mailbox.packing, (peer) => mailbox.receiveInPlace(peer, peer.takeInPlace()))
    this.#outside = this.#host.addSender(this.#directory.add(clusterAddress), clusterAddress, options.outside ?? null)
    mailbox.route({ index: this.#outside.index, peer: this.#self })
    links?.serve(mailbox)
    const { steps, faults } = localRegistries(() => [this.#host])
    this.steps = steps
    this.faults = faults
    this.#quiescence = new Quiescence({
      host: this.#host,
      gate: this.#gate,
      clock: autoAdvance === null ? null : this.#manualClock,
      quiet: () => this.#quiet(),
      patienceMs: options.copyPatienceMs ?? 10_000,
    })
  }

  start(specs: readonly MemberSpec[]): Promise<MemberInfo[]> {
    return this.#keepAlive.during(async () => {
      this.#members.check(specs, (role) => this.#options.roles[role] !== undefined)
      const members = specs.map((spec) => this.#members.add(spec, { disk: this.#disks.open(spec) }))
      return this.#begin(members)
    })
  }

  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    return this.#keepAlive.during(() => {
      const answer = this.#host.mailbox.request(this.#outside, to, kind, request, options)
      this.#autoAdvance?.waitFor(answer, () => false)
      return answer
    })
  }

  async crash(address: Address): Promise<void> {
    const cell = this.#host.cell(this.#members.get(address).index)
    if (cell !== undefined) this.#host.crash(cell, null)
  }

  halt(address: Address): Promise<void> {
    return this.#keepAlive.during(async () => {
      const member = this.#members.get(address)
      const cell = this.#host.cell(member.index)
      if (cell === undefined || cell.gone) return
      await waitAtMost(this.#options.stopTimeoutMs ?? 10_000, this.#host.stop(cell))
      if (cell.gone) return
      this.#host.remove(cell, new Error(`${address} was stopped`))
      this.#members.stopped(member)
      this.#ports.hold(member)
    })
  }

  async replaceDisk(address: Address): Promise<void> {
    const { place, spec } = this.#members.down(address)
    place.disk = this.#disks.replace(spec)
  }

  async remove(address: Address): Promise<void> {
    const member = this.#members.down(address)
    this.#host.forget(member.index)
    this.#gate.delete(address)
    this.#members.remove(address)
    this.#disks.drop(address)
    await this.#ports.release(member)
  }

  restart(address: Address): Promise<MemberInfo> {
    return this.#keepAlive.during(async () => {
      const member = this.#members.restarting(address)
      member.place.disk = this.#disks.reopen(member.place.disk, member.spec)
      const [info] = await this.#begin([member])
      return info!
    })
  }

  async describe(address: Address): Promise<Record<string, unknown>> {
    return this.#host.describe(this.#members.get(address).index)
  }

  async memory(): Promise<MemoryUsage> {
    return { residentBytes: process.memoryUsage.rss(), threads: [threadMemory(0)], sharedDiskBytes: 0 }
  }

  during<T>(work: Promise<T>): Promise<T> {
    return this.#keepAlive.during(() => work)
  }

  alarm(delayMs: number, wake: () => void): Alarm {
    return this.#host.clock.alarm(delayMs, wake)
  }

  now(): number {
    return this.#host.clock.now()
  }

  emit(event: ClusterEvent): void {
    this.#host.events.emit(event)
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
    this.#host.events.watch(types)
  }

  async advance(durationMs: number): Promise<void> {
    const clock = this.#manualClock
    if (clock === null) throw new Error("only a manual clock can be advanced: create the runtime with clock: 'manual'")
    await this.#exclusively(async () => {
      const untilMicros = clock.nowMicros + Math.round(durationMs * 1000)
      await this.#quiet()
      while (clock.nextMicros() <= untilMicros && !this.#stopped) {
        clock.step()
        await this.#quiet()
      }
      clock.skipTo(untilMicros)
    })
  }

  checkIdle(): void {
    this.#quiescence.refuseLongWork()
  }

  copy(): Promise<WorldCopy> {
    if (this.#disks.areFiles) return Promise.reject(new Error('a world with disks in files cannot be copied'))
    return this.#whenQuiescent(async () => {
      const nowMs = this.#host.clock.now()
      const members = this.#members
        .all()
        .map((member) => copyMember(member as Member<MemoryPlace>, this.#host.cell(member.index), nowMs))
      return { nowMicros: this.#manualClock?.nowMicros ?? null, members }
    })
  }

  restore(copy: WorldCopy, listen?: (spec: MemberSpec) => MemberSpec['listen']): Promise<MemberInfo[]> {
    return this.#whenQuiescent(async () => {
      await this.#ports.releaseAll()
      try {
        return await restoreCopy(copy, {
          host: this.#host,
          gate: this.#gate,
          members: this.#members as MemberTable<MemoryPlace>,
          clock: this.#manualClock,
          self: this.#self,
          role: (name) => this.#options.roles[name]!,
          ...(listen === undefined ? {} : { listen }),
        })
      } finally {
        for (const member of this.#members.all()) this.#ports.hold(member)
      }
    })
  }

  /**
   * Runs the work while no member works on anything. Commands of clients wait until it has ended.
   */
  #whenQuiescent<T>(work: () => Promise<T>): Promise<T> {
    return this.#keepAlive.during(() =>
      this.#exclusively(async () => {
        this.checkIdle()
        this.#gate.close()
        try {
          await this.#quiescence.reached()
          if (this.#stopped) throw new Error('the cluster was stopped: it can no longer be copied or restored.')
          return await work()
        } finally {
          this.#gate.open()
        }
      }),
    )
  }

  /** Runs one call after the other. Auto-advance does not move the time meanwhile. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const run = async () => {
      this.#busyCalls++
      try {
        return await work()
      } finally {
        this.#busyCalls--
      }
    }
    const call = this.#lastCall.then(run)
    this.#lastCall = call.catch(() => {})
    return call
  }

  stop(): Promise<void> {
    this.#stopped = true
    const released = this.#ports.close()
    return this.#keepAlive.during(async () => {
      const running = this.#members.all().filter(isUp)
      const cells = running.map(({ index }) => this.#host.cell(index)!)
      await waitAtMost(this.#options.stopTimeoutMs ?? 10_000, Promise.all(cells.map((cell) => this.#host.stop(cell))))
      await this.#disks.close(this.#members.all().map(({ place }) => place.disk))
      for (const member of running) {
        const cell = this.#host.cell(member.index)!
        if (cell.gone) continue
        this.#host.remove(cell, new Error('the runtime was stopped'))
        this.#members.stopped(member)
      }
      await released
    })
  }

  async #quiet(): Promise<void> {
    do await new Promise(setImmediate)
    while (this.#host.mailbox.busy || this.#turns.busy)
  }

  // All cells are added before the first actor runs, so that its messages to the others are held.
  async #begin(members: readonly Member<InlinePlace>[]): Promise<MemberInfo[]> {
    const cells = members.map((member) => {
      this.#host.mailbox.route({ index: member.index, peer: this.#self })
      return this.#host.addCell(memberBoot(member), member.place.disk)
    })
    this.#busyCalls++
    const begun = settleAll(
      members.map(async (member, i) => {
        const cell = cells[i]!
        await this.#host.start(cell, () => this.#options.roles[member.spec.role]!)
        this.#members.started(member, cell.endpoint, 0)
        this.#disks.noteEndpoint(member.spec.address, cell.endpoint)
        return memberInfo(member)
      }),
    )
    return begun.finally(() => this.#busyCalls--)
  }
}
