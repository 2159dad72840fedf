import { randomBytes } from 'node:crypto'
import { parentPort, threadId, workerData, type MessagePort } from 'node:worker_threads'
import { AddressDirectory, createRandom, type ActorFactory, type Address, type ClusterEvent } from '@shardlab/actor'
import { openFileDisk } from '../disks/files/disk-folder.js'
import { FileDisk } from '../disks/files/file-disk.js'
import { SharedDisk, type NewArea } from '../disks/shared-disk.js'
import { ActorHost } from '../host/actor-host.js'
import { openTcpGateway } from '../host/clients/gateway-opener.js'
import { EventSink } from '../host/event-sink.js'
import { CallbackPeer, type Peer } from '../host/mailbox/peer.js'
import { LiveClock } from '../host/time/live-clock.js'
import { LiveTurns } from '../host/time/live-turns.js'
import { threadMemory, type ThreadMemory } from '../memory-usage.js'
import { LongWorkPermits } from './long-work-permits.js'
import { MemoryTrimmer } from './memory-trimmer.js'
import { attachPort } from './port-peer.js'
import { toPortable } from './portable-error.js'
import type {
  HostAnswer,
  HostBoot,
  HostCall,
  HostCommands,
  HostedMember,
  HostReport,
  MemberLocation,
} from './protocol.js'

/**
 * Called when the first member of the role starts, so that a worker evaluates only the code of its
 * roles.
 */
export type RoleLoader = () => ActorFactory<never> | Promise<ActorFactory<never>>

export interface WorkerHostOptions {
  readonly roles: Readonly<Record<string, RoleLoader>>
}

/** Large enough to give each member's connections numbers of their own for a long time. */
const connectionsPerMember = 1_000_003

/**
 * Makes this worker a host of the threads runtime that started it. A worker entry calls nothing
 * else.
 * @throws Error outside a worker of that runtime
 */
export function runWorkerHost(options: WorkerHostOptions): void {
  const boot = (workerData as { shardlabHost?: HostBoot } | null)?.shardlabHost
  if (parentPort === null || boot === undefined)
    throw new Error('runWorkerHost is called by the worker entry of a threads runtime')
  new WorkerHost(parentPort, boot, options.roles)
  // It would keep the first areas of the disks in memory.
  Reflect.deleteProperty(workerData as object, 'shardlabHost')
}

class WorkerHost implements HostCommands {
  readonly #control: MessagePort
  readonly #hostId: number
  readonly #roles: Readonly<Record<string, RoleLoader>>
  readonly #directory = new AddressDirectory()
  readonly #host: ActorHost
  readonly #peers = new Map<number, Peer>()
  readonly #trimmer = new MemoryTrimmer({
    growthBytesMin: 16 * 1024 * 1024,
    whenBusy: true,
    onIdle: () => this.#trimDisks(),
  })
  #events: ClusterEvent[] = []

  constructor(control: MessagePort, boot: HostBoot, roles: Readonly<Record<string, RoleLoader>>) {
    this.#control = control
    this.#hostId = boot.hostId
    this.#roles = roles
    const permits = new LongWorkPermits(boot.longWorkPermits, boot.hostId)
    const turns = new LiveTurns(permits)
    this.#host = new ActorHost({
      hostId: boot.hostId,
      directory: this.#directory,
      clock: new LiveClock(),
      random: createRandom(boot.seed),
      events: new EventSink((event) => this.#emit(event), boot.logLevel),
      limits: boot.limits,
      checked: false,
      atEndOfTurn: turns.atEndOfTurn,
      nextTurn: turns.nextTurn,
      pageFaults: () => process.resourceUsage().majorPageFault,
      secretBytes: randomBytes,
      openGateway: openTcpGateway,
      onClientCommand: (index, connectionId) => permits.noteClient(index * connectionsPerMember + connectionId + 1),
      onCrash: ({ boot: { index, incarnation } }, error) =>
        this.#report({ type: 'crashed', index, incarnation, error: error === null ? null : toPortable(error) }),
      onStepStruck: (faultId, reached) => this.#report({ type: 'struck', faultId, reached }),
    })
    const { mailbox } = this.#host
    const self = new CallbackPeer(mailbox.packing, (peer) => mailbox.receiveInPlace(peer, peer.takeInPlace()))
    this.#peers.set(boot.hostId, self)
    this.watch(boot.watched)
    for (const fault of boot.steps) this.arm(fault)
    for (const fault of boot.faults) this.applyFault(fault)
    for (const member of boot.members) this.add(member)
    for (const { hostId, port } of boot.ports) this.addPeer(hostId, port)
    this.setLocations(boot.locations)
    for (const [name, address] of boot.names) this.name(address, name)
    control.on('message', (call: HostCall) => this.#answer(call))
  }

  addPeer(hostId: number, port: MessagePort): void {
    this.#peers.set(hostId, attachPort(this.#host, port))
    port.on('close', () => this.#peers.delete(hostId))
  }

  add({ boot, disk }: HostedMember): void {
    if ('folder' in disk) {
      const onRepaired = (message: string) => this.#warn(boot.address, message)
      this.#host.addCell(boot, openFileDisk(disk, onRepaired))
      return
    }
    const onNewArea = (area: NewArea, replacedBytes: number) => {
      this.#report({ type: 'area', area })
      this.#trimmer.released(replacedBytes)
    }
    this.#host.addCell(boot, new SharedDisk(disk, onNewArea))
  }

  setLocations(locations: readonly MemberLocation[]): void {
    for (const { index, address, hostId, set, endpoint } of locations) {
      this.#directory.set(index, address)
      if (set !== null) this.#directory.join(set, address)
      if (endpoint !== null) this.#directory.name(address, endpoint)
      // No peer: that host ended before this command arrived.
      const peer = hostId === null ? undefined : this.#peers.get(hostId)
      if (peer === undefined) this.#host.mailbox.unroute(index)
      else this.#host.mailbox.route({ index, peer })
    }
  }

  name(address: Address, name: Address): void {
    this.#directory.name(address, name)
  }

  forget(index: number): void {
    this.#host.forget(index)
    this.#directory.leave(this.#directory.addressOf(index)!)
  }

  async start(index: number): Promise<string> {
    const cell = this.#host.cell(index)
    if (cell === undefined) throw new Error(`host ${this.#hostId} has no member number ${index}`)
    const { role } = cell.boot
    await this.#host.start(cell, () => {
      const load = this.#roles[role]
      if (load === undefined) throw new Error(`the worker entry has no role ${role}`)
      return load()
    })
    return cell.endpoint
  }

  kill(index: number): void {
    const cell = this.#host.cell(index)
    if (cell !== undefined) this.#host.crash(cell, null)
  }

  async halt(index: number): Promise<void> {
    const cell = this.#host.cell(index)
    if (cell !== undefined) await this.#host.stop(cell)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#host.cells().map((cell) => this.#host.stop(cell)))
  }

  async closeDisks(): Promise<void> {
    const disks = this.#host.cells().map(({ disk }) => disk)
    await Promise.all(disks.flatMap((disk) => (disk instanceof FileDisk ? [disk.close()] : [])))
  }

  ping(): void {}

  memory(): ThreadMemory {
    return threadMemory(threadId)
  }

  describe(index: number): Record<string, unknown> {
    return this.#host.describe(index)
  }

  arm(...args: Parameters<HostCommands['arm']>): void {
    this.#host.steps.arm(...args)
  }

  heal(faultId: number): void {
    this.#host.steps.heal(faultId)
  }

  applyFault(...args: Parameters<HostCommands['applyFault']>): void {
    this.#host.faults.apply(...args)
  }

  healFault(faultId: number): void {
    this.#host.faults.heal(faultId)
  }

  watch(types: readonly ClusterEvent['type'][]): void {
    this.#host.events.watch(types)
  }

  #warn(member: Address, message: string): void {
    const atMs = this.#host.clock.now()
    this.#host.events.emit({ type: 'log', atMs, member, level: 'warn', message, fields: {} })
  }

  #trimDisks(): void {
    for (const { disk } of this.#host.cells()) if (disk instanceof SharedDisk) disk.trim()
  }

  #answer({ callId, command, args }: HostCall): void {
    const failed = (error: unknown) => this.#report({ type: 'failed', callId, error: toPortable(error) })
    try {
      const result: unknown = (this[command] as (...args: readonly unknown[]) => unknown)(...args)
      if (result instanceof Promise)
        result.then((value: unknown) => this.#report({ type: 'done', callId, value }), failed)
      else this.#report({ type: 'done', callId, value: result })
    } catch (error) {
      failed(error)
    }
  }

  #emit(event: ClusterEvent): void {
    if (this.#events.push(event) === 1) setImmediate(() => this.#flushEvents())
  }

  #flushEvents(): void {
    if (this.#events.length === 0) return
    const events = this.#events
    this.#events = []
    this.#control.postMessage({ type: 'events', events } satisfies HostReport)
  }

  // Events first: they happened before the report, which may be the last message of this worker.
  #report(report: HostAnswer | HostReport): void {
    this.#flushEvents()
    this.#control.postMessage(report)
  }
}
