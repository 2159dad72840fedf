import { clusterAddress, type Address } from '@shardlab/actor'
import { defaultWatched, type EventType } from '../host/event-sink.js'
import { threadMemory, type MemoryUsage } from '../memory-usage.js'
import type { HostReport } from '../remote/host-commands.js'
import { fromPortable } from '../remote/portable-error.js'
import type { MemberInfo, MemberSpec, Runtime } from '../runtime.js'
import type { FaultRegistry } from '../supervisor/fault-registry.js'
import { settleAll, waitAtMost } from '../supervisor/keep-alive.js'
import { isUp, memberBoot } from '../supervisor/member-table.js'
import type { StepFaultRegistry } from '../supervisor/step-fault-registry.js'
import { SupervisedWorld } from '../supervisor/supervised-world.js'
import { supervisorHostId } from '../supervisor/supervisor-host.js'
import { HostLinks } from './host-links.js'
import { MachineFleet } from './machine-fleet.js'
import type { HostedState, MachineBoot } from './machine-protocol.js'
import { MachineRegistries } from './machine-registries.js'
import { linkSettings, machineTimings, Spread, type NatsRuntimeOptions, type Placement } from './nats-options.js'
import { diskOwner, endOf, infoOf, isOf, locationOf, ofMachine, type PlacedMember } from './placed-member.js'
import { RemoteMachine, type MachinePlace } from './remote-machine.js'

/**
 * Members run on several machines, which exchange packets over a broker. `start` rejects with a
 * BrokerError when a machine does not answer.
 */
export function createNatsRuntime(options: NatsRuntimeOptions): Runtime {
  return new NatsRuntime(options)
}

class NatsRuntime extends SupervisedWorld<MachinePlace> implements Runtime {
  readonly kind = 'nats'
  readonly steps: StepFaultRegistry
  readonly faults: FaultRegistry
  readonly background = this
  readonly #options: NatsRuntimeOptions
  readonly #placement: Placement
  readonly #fleet: MachineFleet
  readonly #registries: MachineRegistries
  readonly #links: HostLinks
  readonly #hostIds = new Set([supervisorHostId])
  #watched: readonly EventType[] = defaultWatched
  #stopping: Promise<void> | null = null

  constructor(options: NatsRuntimeOptions) {
    super(options)
    this.#options = options
    const { broker, cluster, version, machines } = options
    const timings = { ...machineTimings, ...options.timings }
    const settings = linkSettings(broker, timings)
    const spread = new Spread()
    this.#placement = options.placement ?? ((spec) => spread.choose(spec, machines))
    const remotes = machines.map((name): RemoteMachine => {
      const machine = new RemoteMachine({
        broker,
        cluster,
        version,
        name,
        settings,
        onReport: (report) => this.#receiveReport(machine, report),
        onBroken: (why) => this.#fleet.reconnect(machine, `lost the connection: ${why}`),
      })
      return machine
    })
    this.#fleet = new MachineFleet(broker, remotes, timings, {
      bootOf: (machine, hostId) => this.#bootOf(machine, hostId),
      onJoined: (machine, states, isNew) => this.#onJoined(machine, states, isNew),
      onJoining: (hostId) => {
        this.#hostIds.add(hostId)
        this.#links.admit(hostId)
      },
      onLeft: (hostId) => {
        this.#hostIds.delete(hostId)
        this.#links.close(hostId)
        void this.#fleet.broadcast('closeHost', [hostId])
      },
      onLost: (machine) => this.#onLost(machine),
      onRefused: (_, why) => this.#warn(why),
      onStrikes: (machine, counts) => this.#registries.noteStrikes(machine, counts),
    })
    this.#registries = new MachineRegistries(this.#fleet, this.host)
    this.steps = this.#registries.steps
    this.faults = this.#registries.faults
    this.#links = new HostLinks({
      broker,
      cluster,
      hostId: supervisorHostId,
      settings,
      mailbox: this.host.mailbox,
      onNewPeer: (hostId) => {
        for (const machine of remotes) if (machine.hostId === hostId) this.#routeAll(machine)
      },
      onLimit: (value) =>
        this.emit({ type: 'limit', atMs: this.now(), member: clusterAddress, limit: 'linkBytes', value }),
    })
  }

  async start(specs: readonly MemberSpec[]): Promise<MemberInfo[]> {
    this.#checkRunning()
    await this.#fleet.open()
    // Only the machines have the roles, so they are not checked here.
    this.table.check(specs, () => true)
    const placed = specs.map((spec) => {
      const machine = this.#machineFor(spec)
      const { host } = machine.facts!
      if (spec.listen !== null) this.#options.checkHost?.(host)
      return { machine, spec: { ...spec, listen: spec.listen === null ? null : { ...spec.listen, host } } }
    })
    const members = placed.map(({ machine, spec }) => {
      const member = this.table.add(spec, { machine, error: null, isLost: false })
      machine.members.add(member)
      return member
    })
    return this.#begin(members)
  }

  async crash(address: Address): Promise<void> {
    const member = this.table.get(address)
    // On a machine that is silent it may still run. It is ended there when the machine is back.
    member.place.isLost = false
    if (isUp(member)) await this.#crashMember(member, null)
  }

  async halt(address: Address): Promise<void> {
    const member = this.table.get(address)
    member.place.isLost = false
    const { incarnation } = member
    if (member.state === 'running') await this.#patiently(member.place.machine.call('halt', [member.index]))
    if (isUp(member) && member.incarnation === incarnation)
      await this.#takeDown(member, () => this.table.stopped(member))
    // The machine may have been lost during the call; the member must not restart with it.
    if (!isUp(member)) member.place.isLost = false
  }

  async replaceDisk(address: Address): Promise<void> {
    const { index, place, spec } = this.table.down(address)
    await place.machine.call('replaceDisk', [index, diskOwner(spec)])
  }

  async remove(address: Address): Promise<void> {
    const member = this.table.down(address)
    const { index, place } = member
    place.machine.members.delete(member)
    this.table.remove(address)
    await Promise.allSettled([
      this.#fleet.broadcast('forget', [index]),
      place.machine.call('dropDisk', [index, address]),
    ])
  }

  async restart(address: Address): Promise<MemberInfo> {
    this.#checkRunning()
    const { machine } = this.table.get(address).place
    if (!machine.isReady) throw new Error(`${address} cannot restart: its host ${machine.name} is not connected`)
    const member = this.table.restarting(address)
    member.place.isLost = false
    const [info] = await this.#begin([member])
    return info!
  }

  async describe(address: Address): Promise<Record<string, unknown>> {
    const { index, state, place } = this.table.get(address)
    if (state !== 'running') throw new Error(`${address} is ${state}`)
    return place.machine.call('describe', [index])
  }

  async memory(): Promise<MemoryUsage> {
    const answers = await Promise.allSettled(this.#fleet.connected().map((machine) => machine.call('memory', [])))
    const threads = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    return { residentBytes: process.memoryUsage.rss(), threads: [threadMemory(0), ...threads], sharedDiskBytes: 0 }
  }

  override members(): MemberInfo[] {
    return this.table.all().map(infoOf)
  }

  override member(address: Address): MemberInfo | undefined {
    const member = this.table.find(address)
    return member === undefined ? undefined : infoOf(member)
  }

  async name(address: Address, name: Address): Promise<void> {
    this.directory.name(address, name)
    await this.#fleet.broadcast('name', [address, name])
  }

  watch(types: readonly EventType[]): void {
    this.#watched = types
    this.host.events.watch(types)
    void this.#fleet.broadcast('watch', [types])
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    await this.#patiently(this.#fleet.broadcast('stop', []))
    await this.#patiently(this.#fleet.broadcast('closeDisks', []))
    for (const member of this.table.all().filter(isUp)) this.table.stopped(member)
    await this.#patiently(this.#fleet.broadcast('leave', []))
    this.#fleet.close()
    this.#links.closeAll()
    await this.#options.broker.close()
  }

  #checkRunning(): void {
    if (this.#stopping !== null) throw new Error('the runtime has been stopped')
  }

  #machineFor(spec: MemberSpec): RemoteMachine {
    const name = this.#placement(spec)
    const machine = this.#fleet.machines.get(name)
    if (machine === undefined) throw new Error(`${spec.address} cannot be placed: the cluster has no host ${name}`)
    if (!machine.isReady) throw new Error(`${spec.address} cannot start: its host ${name} is not connected`)
    return machine
  }

  /** All members are added before one starts, so that its messages to the others are held. */
  async #begin(members: readonly PlacedMember[]): Promise<MemberInfo[]> {
    const begun = members.map((member) => ({ member, incarnation: member.incarnation, added: this.#add(member) }))
    // A request of the API that arrives too early is refused as undelivered.
    for (const member of members) this.#route(member)
    await Promise.allSettled(begun.map(({ added }) => added))
    await this.#fleet.announce(members.map((member) => locationOf(member)))
    const before = new Map(members.map((member) => [member, member.endpoint]))
    try {
      return await settleAll(begun.map((each) => this.#startMember(each.member, each.incarnation, each.added)))
    } finally {
      // When it resolves, all hosts know the endpoints.
      const moved = members.filter((member) => member.endpoint !== before.get(member))
      if (moved.length > 0) await this.#fleet.announce(moved.map((member) => locationOf(member)))
    }
  }

  #add(member: PlacedMember): Promise<void> {
    return member.place.machine.call('add', [{ boot: memberBoot(member), disk: diskOwner(member.spec) }])
  }

  /** That incarnation may end before it has started, and another one may begin. */
  async #startMember(member: PlacedMember, incarnation: number, added: Promise<void>): Promise<MemberInfo> {
    const { machine } = member.place
    const isCurrent = () => member.incarnation === incarnation && isUp(member)
    let endpoint: string
    try {
      await added
      if (!isCurrent()) throw endOf(member)
      endpoint = await machine.call('start', [member.index])
    } catch (error) {
      if (!isCurrent()) throw endOf(member)
      // The machine or the connection has failed. A part of the start may have succeeded there.
      await this.#crashMember(member, error as Error)
      throw ofMachine(member, error as Error)
    }
    if (!isCurrent()) throw endOf(member)
    this.table.started(member, endpoint, machine.hostId ?? 0)
    return infoOf(member)
  }

  #bootOf(machine: RemoteMachine, hostId: number): MachineBoot {
    return {
      ...this.#registries.sent(),
      hostId,
      seed: this.#options.seed,
      limits: this.limits,
      logLevel: this.#options.logLevel ?? 'info',
      watched: this.#watched,
      locations: [
        { index: this.outside.index, address: clusterAddress, hostId: supervisorHostId, set: null, endpoint: null },
        ...this.table.all().map((member) => locationOf(member, machine, hostId)),
      ],
      names: this.directory.names(),
      hosts: [...this.#hostIds],
      members: [],
    }
  }

  /** Members that it still runs return; others that count as crashed restart. */
  #onJoined(machine: RemoteMachine, states: readonly HostedState[], isNew: boolean): void {
    if (isNew) this.#registries.restarted(machine)
    const members = [...machine.members]
    const stateOf = (member: PlacedMember) => states.find((state) => isOf(state, member))
    for (const state of states) {
      const member = members.find((each) => isOf(state, each))
      // Also those that were starting or ending: their calls have failed.
      const isWanted = member !== undefined && (isUp(member) || member.place.isLost) && state.isRunning
      if (!isWanted) machine.call('kill', [state.index]).catch(() => {})
    }
    const missing = members.filter((member) => isUp(member) && stateOf(member)?.isRunning !== true)
    if (isNew) for (const member of missing) this.#giveUp(member, `its host ${machine.name} has restarted`)
    // The report of their crash was lost.
    else for (const member of missing) void this.#crashMember(member, null)
    const lost = members.filter(({ place }) => place.isLost)
    const returned = lost.filter((member) => stateOf(member)?.isRunning === true)
    for (const member of returned) {
      member.place.isLost = false
      this.table.returned(member)
    }
    this.#routeAll(machine)
    void this.#fleet.announce(members.map((member) => locationOf(member)))
    if (returned.length > 0) this.#warn(`the host ${machine.name} is back: its members are up again`)
    const restarting = lost.filter((member) => !returned.includes(member))
    if (restarting.length > 0) this.#warn(`the host ${machine.name} has restarted: its members start again`)
    for (const member of restarting) void this.#restartLost(member)
  }

  async #restartLost({ spec: { address }, place }: PlacedMember): Promise<void> {
    try {
      await this.restart(address)
    } catch (error) {
      // With the connection lost again, it is tried again when the machine is back.
      const member = this.table.find(address)
      if (member?.place === place && !isUp(member) && !place.machine.isReady) place.isLost = true
      else this.#warn(`${address} cannot start again: ${(error as Error).message}`)
    }
  }

  #onLost(machine: RemoteMachine): void {
    this.#warn(`the host ${machine.name} is silent: its members are down`)
    for (const member of [...machine.members].filter(isUp)) this.#giveUp(member, `its host ${machine.name} is silent`)
    void this.#fleet.announce([...machine.members].map((member) => locationOf(member)))
  }

  #giveUp(member: PlacedMember, why: string): void {
    member.place.error = new Error(`${member.spec.address} is down: ${why}`)
    member.place.isLost = true
    this.table.crashed(member, null)
    this.#route(member)
  }

  #receiveReport(machine: RemoteMachine, report: HostReport): void {
    switch (report.type) {
      case 'events':
        for (const event of report.events) this.emit(event)
        break
      case 'struck':
        this.#registries.struck(machine, report.faultId, report.reached)
        break
      case 'crashed': {
        const member = [...machine.members].find((each) => isOf(report, each))
        if (member !== undefined && isUp(member))
          void this.#crashMember(member, report.error === null ? null : fromPortable(report.error))
        break
      }
      case 'area':
      // Disks of machines are not shared.
    }
  }

  #crashMember(member: PlacedMember, error: Error | null): Promise<void> {
    member.place.error = error
    return this.#takeDown(member, () => this.table.crashed(member, error))
  }

  /** Fails requests to the member on all hosts. */
  async #takeDown(member: PlacedMember, report: () => void): Promise<void> {
    report()
    this.#route(member)
    await Promise.allSettled([
      member.place.machine.call('kill', [member.index]),
      this.#fleet.announce([locationOf(member)]),
    ])
  }

  #routeAll({ members }: RemoteMachine): void {
    for (const member of members) this.#route(member)
  }

  /** Sets or deletes the supervisor's link, by the member's state. */
  #route(member: PlacedMember): void {
    const { hostId, index } = locationOf(member)
    const peer = hostId === null ? undefined : this.#links.find(hostId)
    if (peer === undefined) this.host.mailbox.unroute(index)
    else this.host.mailbox.route({ index, peer })
  }

  #patiently(work: Promise<unknown>): Promise<void> {
    return waitAtMost(
      this.#options.stopTimeoutMs ?? 10_000,
      work.catch(() => {}),
    )
  }

  #warn(message: string): void {
    this.emit({ type: 'log', atMs: this.now(), member: clusterAddress, level: 'warn', message, fields: {} })
  }
}
