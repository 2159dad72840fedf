import { clusterAddress, type Address } from '@shardlab/actor'
import { defaultWatched, type EventType } from '../host/event-sink.js'
import { threadMemory, type MemoryUsage } from '../memory-usage.js'
import type { HostReport } from '../remote/host-commands.js'
import { createLongWorkPermits, LongWorkPermits } from '../remote/long-work-permits.js'
import { fromPortable } from '../remote/portable-error.js'
import type { MemberInfo, MemberSpec, Runtime } from '../runtime.js'
import type { FaultRegistry } from '../supervisor/fault-registry.js'
import { settleAll } from '../supervisor/keep-alive.js'
import { isUp, memberInfo, type Member } from '../supervisor/member-table.js'
import { PortHolds } from '../supervisor/port-holds.js'
import type { StepFaultRegistry } from '../supervisor/step-fault-registry.js'
import { SupervisedWorld } from '../supervisor/supervised-world.js'
import { supervisorHostId } from '../supervisor/supervisor-host.js'
import { DiskAreas } from './disk-areas.js'
import { sharedHostCount } from './layout.js'
import { RemoteHost } from './remote-host.js'
import type { ThreadsRuntimeOptions } from './threads-runtime-options.js'
import { settledBy } from './watchdog.js'
import { WorkerFleet } from './worker-fleet.js'
import { WorkerPeers } from './worker-peers.js'
import {
  connect,
  endOf,
  hostedMember,
  locationOf,
  OccupiedThreadError,
  type ThreadsPlace,
  type WorkerPlace,
  threadEnded,
} from './worker-place.js'
import { faultRegistry, stepFaultRegistry } from './worker-registries.js'

/** Actors run on worker threads with direct channels; the caller's thread only supervises. */
export function createThreadsRuntime(options: ThreadsRuntimeOptions): Runtime {
  return new ThreadsRuntime(options)
}

class ThreadsRuntime extends SupervisedWorld<ThreadsPlace> implements Runtime {
  readonly kind = 'threads'
  readonly steps: StepFaultRegistry
  readonly faults: FaultRegistry
  readonly background = this
  readonly #options: ThreadsRuntimeOptions
  readonly #fleet = new WorkerFleet()
  readonly #ports = new PortHolds(true)
  readonly #peers: WorkerPeers
  readonly #longWorkPermits = createLongWorkPermits()
  #watched: readonly EventType[] = defaultWatched
  readonly #disks: DiskAreas
  #stopped = false

  constructor(options: ThreadsRuntimeOptions) {
    super(options)
    this.#options = options
    this.#disks = new DiskAreas(() => this.table.all(), options.disks)
    this.#peers = new WorkerPeers(this.host)
    this.steps = stepFaultRegistry(this.#fleet)
    this.faults = faultRegistry(this.#fleet, this.host)
  }

  async start(specs: readonly MemberSpec[]): Promise<MemberInfo[]> {
    // Only the worker entry has the roles, so they are not checked here.
    this.table.check(specs, () => true)
    const sharing = sharedHostCount(this.#options.hosts)
    const members = specs.map((spec) =>
      this.table.add(spec, { disk: this.#disks.create(spec), host: null, error: null }),
    )
    await this.#place(members, sharing)
    return this.#startMembers(members)
  }

  async crash(address: Address): Promise<void> {
    const member = this.table.get(address)
    if (isUp(member)) await this.#crashMember(member, null)
  }

  async halt(address: Address): Promise<void> {
    const member = this.table.get(address)
    const { incarnation } = member
    if (member.state === 'running') {
      const { remote } = member.place.host!
      await settledBy(remote, remote.call('halt', [member.index]), this.#options.stopTimeoutMs ?? 10_000)
    }
    if (isUp(member) && member.incarnation === incarnation)
      await this.#takeDown(member, () => this.table.stopped(member))
  }

  async replaceDisk(address: Address): Promise<void> {
    await threadEnded(this.table.down(address).place.host)
    const { place, spec } = this.table.down(address)
    place.disk = this.#disks.renew(spec)
  }

  async remove(address: Address): Promise<void> {
    const member = this.table.down(address)
    await threadEnded(member.place.host)
    member.place.host?.members.delete(member)
    this.table.remove(address)
    this.#disks.folder?.remove(address)
    // Its port is not held again when its end is noticed later.
    member.listen = null
    await Promise.all([this.#fleet.broadcast('forget', [member.index]), this.#ports.release(member)])
  }

  async restart(address: Address): Promise<MemberInfo> {
    const member = this.table.restarting(address)
    const { incarnation } = member
    const { host } = member.place
    // This incarnation may end before it has started, and another one may begin.
    const check = () => {
      if (member.incarnation !== incarnation || !isUp(member)) throw endOf(member)
    }
    // The port is free only after the worker's end. No wait otherwise: the member must not be found
    // down between here and its start.
    if (host?.isEnding === true && !host.hasEnded) await host.remote.exited
    check()
    await this.#place([member], host?.sharing ?? null)
    await this.#ports.release(member)
    check()
    return (await this.#startMembers([member]))[0]!
  }

  async describe(address: Address): Promise<Record<string, unknown>> {
    const member = this.table.get(address)
    if (member.state !== 'running') throw new Error(`${address} is ${member.state}`)
    return member.place.host!.remote.call('describe', [member.index])
  }

  async memory(): Promise<MemoryUsage> {
    return {
      residentBytes: process.memoryUsage.rss(),
      threads: [threadMemory(0), ...(await this.#fleet.memory())],
      sharedDiskBytes: this.#disks.sizeBytes(),
    }
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

  async stop(): Promise<void> {
    this.#stopped = true
    this.#disks.stop()
    const [released, workers] = [this.#ports.close(), [...this.#fleet.workers]]
    await this.#fleet.stop(this.#options.stopTimeoutMs ?? 10_000)
    if (this.#disks.folder !== undefined) await this.#fleet.closeDisks(this.#options.stopTimeoutMs ?? 10_000)
    await Promise.all([released, ...workers.map((worker) => this.#terminate(worker))])
    for (const member of this.table.all().filter(isUp)) this.table.stopped(member)
  }

  /**
   * Adds workers where needed, and sends the locations to all hosts. `sharing`: see
   * {@link sharedHostCount}.
   */
  async #place(members: readonly Member<ThreadsPlace>[], sharing: number | null): Promise<void> {
    if (this.#stopped) throw new Error('the runtime has been stopped')
    const added: WorkerPlace[] = []
    const moved: Member<ThreadsPlace>[] = []
    for (const member of members) {
      const worker = this.#fleet.placeFor(member, sharing, added)
      member.place.host?.members.delete(member)
      member.place.host = worker
      worker.members.add(member)
      if (!added.includes(worker)) moved.push(member)
    }
    const existing = [...this.#fleet.workers]
    const calls = this.#spawn(added, existing)
    for (const member of moved) {
      const { remote } = member.place.host!
      calls.push(settledBy(remote, remote.call('add', [hostedMember(member)])))
    }
    for (const member of members) this.#peers.route(member)
    await Promise.all(calls)
    await this.#fleet.announce(members.map(locationOf), existing)
  }

  /**
   * Opens channels among the added workers, to the existing ones and to this thread.
   * @returns calls under way
   */
  #spawn(added: readonly WorkerPlace[], existing: readonly WorkerPlace[]): Promise<boolean>[] {
    const calls: Promise<boolean>[] = []
    const ports = connect(added, existing, {
      toMain: (worker, port) => this.#peers.attach(worker, port),
      toExisting: ({ remote }, worker, port) =>
        calls.push(settledBy(remote, remote.call('addPeer', [worker.hostId, port], [port]))),
    })
    const locations = [
      { index: this.outside.index, address: clusterAddress, hostId: supervisorHostId, set: null, endpoint: null },
      ...this.table.all().map(locationOf),
    ]
    for (const worker of added) {
      const boot = {
        hostId: worker.hostId,
        seed: this.#options.seed,
        limits: this.limits,
        logLevel: this.#options.logLevel ?? 'info',
        watched: this.#watched,
        steps: this.steps.armed(),
        faults: this.faults.applied(),
        ports: ports.get(worker)!,
        locations,
        names: this.directory.names(),
        members: [...worker.members].map(hostedMember),
        longWorkPermits: this.#longWorkPermits,
      }
      worker.remote = new RemoteHost(this.#options.workerEntry, boot, (report) => this.#receiveReport(worker, report))
      this.#fleet.workers.add(worker)
      void worker.remote.exited.then((error) => this.#onWorkerEnd(worker, error))
    }
    return calls
  }

  /** When it resolves, all hosts know the endpoints. */
  async #startMembers(members: readonly Member<ThreadsPlace>[]): Promise<MemberInfo[]> {
    const before = new Map(members.map((member) => [member, member.endpoint]))
    try {
      const starts = members.map((member) => this.#startMember(member))
      return await settleAll(starts, (error) => error instanceof OccupiedThreadError)
    } finally {
      const moved = members.filter((member) => member.endpoint !== before.get(member)).map(locationOf)
      if (moved.length > 0) await this.#fleet.announce(moved)
    }
  }

  async #startMember(member: Member<ThreadsPlace>): Promise<MemberInfo> {
    const { remote } = member.place.host!
    const { incarnation } = member
    let endpoint: string
    try {
      endpoint = await remote.call('start', [member.index])
    } catch (error) {
      // Its worker may have been terminated before it could report its own error.
      throw isUp(member) ? error : endOf(member)
    }
    if (member.incarnation !== incarnation) throw endOf(member)
    this.table.started(member, endpoint, remote.threadId)
    this.#disks.folder?.noteEndpoint(member.spec.address, endpoint)
    return memberInfo(member)
  }

  #receiveReport(worker: WorkerPlace, report: HostReport): void {
    switch (report.type) {
      case 'events':
        for (const event of report.events) this.host.events.emit(event)
        break
      case 'struck':
        this.steps.report(report.faultId, report.reached)
        break
      case 'area':
        this.#disks.replace(report.area)
        break
      case 'crashed': {
        const member = [...worker.members].find(({ index }) => index === report.index)
        if (member !== undefined && isUp(member) && member.incarnation === report.incarnation)
          void this.#crashMember(member, report.error === null ? null : fromPortable(report.error))
      }
    }
  }

  #crashMember(member: Member<ThreadsPlace>, error: Error | null): Promise<void> {
    member.place.error = error
    return this.#takeDown(member, () => this.table.crashed(member, error))
  }

  /** Fails requests to the member on all hosts, and terminates a worker that ran it alone. */
  async #takeDown(member: Member<ThreadsPlace>, report: () => void): Promise<void> {
    const worker = member.place.host!
    report()
    this.#peers.route(member)
    const end = worker.members.size === 1 ? this.#terminate(worker) : this.#kill(worker, member)
    await Promise.all([end.then(() => this.#ports.hold(member)), this.#fleet.announce([locationOf(member)])])
  }

  /**
   * Ends a member whose worker runs others as well. If the thread is occupied, the worker ends, and
   * the others are restarted on another one.
   */
  async #kill(worker: WorkerPlace, member: Member<ThreadsPlace>): Promise<void> {
    const { remote } = worker
    if (await settledBy(remote, remote.call('kill', [member.index]))) return
    const others = [...worker.members].filter((other) => other !== member && isUp(other))
    const ended = this.#terminate(worker)
    for (const other of others) {
      other.place.error = new OccupiedThreadError(other.spec.address)
      this.table.crashed(other, other.place.error)
      this.#peers.route(other)
    }
    await ended
    await this.#fleet.announce(others.map(locationOf))
    for (const { spec } of others) void this.restart(spec.address).catch(() => {})
  }

  #terminate(worker: WorkerPlace): Promise<void> {
    // The callers have reported the end of its members.
    worker.members.clear()
    this.#detach(worker)
    return worker.remote.terminate()
  }

  #onWorkerEnd(worker: WorkerPlace, error: Error | null): void {
    worker.hasEnded = true
    new LongWorkPermits(this.#longWorkPermits, supervisorHostId).freeOf(worker.hostId)
    this.#detach(worker)
    for (const member of [...worker.members].filter(isUp)) {
      member.place.error = error
      this.table.crashed(member, error)
      this.#ports.hold(member)
      this.#peers.route(member)
      void this.#fleet.announce([locationOf(member)])
    }
  }

  #detach(worker: WorkerPlace): void {
    worker.isEnding = true
    this.#fleet.workers.delete(worker)
    this.#peers.close(worker)
  }
}
