import {
  AddressDirectory,
  clusterAddress,
  createRandom,
  type ActorFactory,
  type Address,
  type ClusterEvent,
  type LogLevel,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import { MemoryDisk } from '../disks/memory-disk.js'
import { ActorHost } from '../host/actor-host.js'
import type { ActorCell } from '../host/actor-cell.js'
import { EventHub } from '../host/event-hub.js'
import { EventSink } from '../host/event-sink.js'
import { openTcpGateway, type GatewayOpener } from '../host/gateway-opener.js'
import { atMost, KeepAlive, settleAll } from '../host/keep-alive.js'
import { defaultLimits, type HostLimits } from '../host/limits.js'
import { LiveClock } from '../host/live-clock.js'
import { isUp, memberBoot, memberInfo, MemberTable, type Member } from '../host/member-table.js'
import type { Peer } from '../host/peer.js'
import type { FaultSwitchboard } from '../host/faults/fault-switchboard.js'
import { localSwitchboards } from '../host/local-switchboards.js'
import type { StepSwitchboard } from '../host/step-switchboard.js'
import { VirtualClock } from '../host/virtual-clock.js'
import type { Alarm } from '../host/clock.js'
import type { MemberInfo, MemberSpec, Runtime, RuntimeHooks } from '../runtime.js'
import { AutoAdvance } from './auto-advance.js'

export interface InlineRuntimeOptions extends RuntimeHooks {
  readonly roles: Readonly<Record<string, ActorFactory<never>>>
  /** The root of all generators. */
  readonly seed: number | string
  readonly limits?: Partial<HostLimits>
  /** Lower lines are dropped. Default `info`. */
  readonly logLevel?: LogLevel
  /** How long an actor may take for its orderly end. Default 10,000. */
  readonly stopTimeoutMs?: number
  /** `manual`: alarms and timeouts wait until {@link InlineRuntime.advance} moves the time. Default `real`. */
  readonly clock?: 'real' | 'manual'
  /**
   * With a manual clock: time goes on to the next alarm while a client, or the API, waits for an answer and only alarms are left. What
   * clients wait for on purpose, changes of the topology, does not count. Default true.
   */
  readonly autoAdvance?: boolean
  /** Default: TCP. */
  readonly openGateway?: GatewayOpener
}

export interface InlineRuntime extends Runtime {
  readonly kind: 'inline'
  /**
   * Lets that much time pass on a manual clock: what is due happens in order, each time with all that follows from it,
   * but for what comes over sockets. Time begins at the machine's time. Rejects when the clock is the machine's.
   */
  advance(durationMs: number): Promise<void>
}

/** All actors in the caller's thread: the fastest start. */
export function createInlineRuntime(options: InlineRuntimeOptions): InlineRuntime {
  return new InlineWorld(options)
}

interface InlinePlace {
  disk: MemoryDisk
}

class InlineWorld implements InlineRuntime {
  readonly kind = 'inline'
  readonly steps: StepSwitchboard
  readonly faults: FaultSwitchboard
  readonly background = this
  readonly #options: InlineRuntimeOptions
  readonly #directory = new AddressDirectory()
  readonly #hub = new EventHub()
  readonly #host: ActorHost
  readonly #self: Peer
  readonly #outside: ActorCell
  readonly #members: MemberTable<InlinePlace>
  readonly #keepAlive = new KeepAlive()
  readonly #manualClock: VirtualClock | null
  readonly #autoAdvance: AutoAdvance | null
  /** Calls that move the time, or wait for sockets. */
  #busyCalls = 0

  constructor(options: InlineRuntimeOptions) {
    this.#options = options
    this.#manualClock = options.clock === 'manual' ? new VirtualClock(Date.now()) : null
    this.#autoAdvance =
      this.#manualClock === null || options.autoAdvance === false
        ? null
        : new AutoAdvance(this.#manualClock, { quiet: () => this.#quiet(), isBusy: () => this.#busyCalls > 0 })
    const autoAdvance = this.#autoAdvance
    this.#host = new ActorHost({
      ...(autoAdvance === null ? {} : { onClientWaits: (answer, isGone) => autoAdvance.waitFor(answer, isGone) }),
      hostId: 0,
      directory: this.#directory,
      clock: this.#manualClock ?? new LiveClock(),
      random: createRandom(options.seed),
      events: new EventSink(this.#hub.emit, options.logLevel ?? 'info'),
      limits: { ...defaultLimits, ...options.limits },
      checked: false,
      atEndOfTurn: setImmediate,
      openGateway: options.openGateway ?? openTcpGateway,
      onCrash: (cell, error) => this.#members.crashed(this.#members.get(cell.address), error),
      onStepStruck: (id, address) => this.steps.report(id, address),
      onFaultStruck: (id) => this.faults.report(id),
    })
    const { clock, events, post } = this.#host
    this.#members = new MemberTable(
      () => clock.now(),
      (event) => events.emit(event),
    )
    this.#self = post.createPeer(0, (packet) => post.receive(this.#self, packet))
    this.#outside = this.#host.adoptSender(this.#directory.add(clusterAddress), clusterAddress, options.outside ?? null)
    post.route(this.#outside.boot.index, this.#self)
    const { steps, faults } = localSwitchboards(() => [this.#host])
    this.steps = steps
    this.faults = faults
  }

  start(specs: readonly MemberSpec[]): Promise<MemberInfo[]> {
    return this.#keepAlive.during(async () => {
      this.#members.check(specs, (role) => this.#options.roles[role] !== undefined)
      const members = specs.map((spec) =>
        this.#members.add(spec, this.#directory.add(spec.address), { disk: new MemoryDisk(spec.diskLimitBytes) }),
      )
      return this.#begin(members)
    })
  }

  request<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>, options?: RequestOptions): Promise<ReplyOf<K>> {
    return this.#keepAlive.during(() => {
      const answer = this.#host.post.request(this.#outside, to, kind, request, options)
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
      await atMost(this.#options.stopTimeoutMs ?? 10_000, this.#host.stop(cell))
      if (cell.gone) return
      this.#host.drop(cell, new Error(`${address} was stopped`))
      this.#members.stopped(member)
    })
  }

  async replaceDisk(address: Address): Promise<void> {
    const { place, spec } = this.#members.down(address)
    place.disk = new MemoryDisk(spec.diskLimitBytes)
  }

  restart(address: Address): Promise<MemberInfo> {
    return this.#keepAlive.during(async () => {
      const [info] = await this.#begin([this.#members.restarting(address)])
      return info!
    })
  }

  async describe(address: Address): Promise<Record<string, unknown>> {
    return this.#host.describe(this.#members.get(address).index)
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

  members(): MemberInfo[] {
    return this.#members.infos()
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
    this.#busyCalls++
    const untilMicros = clock.nowMicros + Math.round(durationMs * 1000)
    try {
      await this.#quiet()
      while (clock.nextMicros() <= untilMicros) {
        clock.step()
        await this.#quiet()
      }
      clock.skipTo(untilMicros)
    } finally {
      this.#busyCalls--
    }
  }

  stop(): Promise<void> {
    return this.#keepAlive.during(async () => {
      const running = this.#members.all().filter(isUp)
      const cells = running.map(({ index }) => this.#host.cell(index)!)
      await atMost(this.#options.stopTimeoutMs ?? 10_000, Promise.all(cells.map((cell) => this.#host.stop(cell))))
      for (const member of running) {
        const cell = this.#host.cell(member.index)!
        if (cell.gone) continue
        this.#host.drop(cell, new Error('the runtime was stopped'))
        this.#members.stopped(member)
      }
    })
  }

  /** Resolves when no message is on its way and all promise jobs have run. */
  async #quiet(): Promise<void> {
    do await new Promise(setImmediate)
    while (this.#host.post.busy)
  }

  // All have their place before the first one runs: what it sends to the others waits there.
  async #begin(members: readonly Member<InlinePlace>[]): Promise<MemberInfo[]> {
    const cells = members.map((member) => {
      this.#host.post.route(member.index, this.#self)
      return this.#host.adopt(memberBoot(member), member.place.disk)
    })
    this.#busyCalls++
    const begun = settleAll(
      members.map(async (member, i) => {
        const cell = cells[i]!
        await this.#host.begin(cell, () => this.#options.roles[member.spec.role]!)
        this.#members.started(member, cell.endpoint, 0)
        return memberInfo(member)
      }),
    )
    return begun.finally(() => this.#busyCalls--)
  }
}
