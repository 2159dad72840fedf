import { randomBytes } from 'node:crypto'
import { threadId } from 'node:worker_threads'
import {
  AddressDirectory,
  createRandom,
  type ActorFactory,
  type Address,
  type ClusterEvent,
  type Disk,
} from '@shardlab/actor'
import { FileDisk } from '../disks/files/file-disk.js'
import { ActorHost } from '../host/actor-host.js'
import { openTcpGateway } from '../host/clients/gateway-opener.js'
import { EventSink } from '../host/event-sink.js'
import { CallbackPeer, type Peer } from '../host/mailbox/peer.js'
import { LiveClock } from '../host/time/live-clock.js'
import { LiveTurns } from '../host/time/live-turns.js'
import { threadMemory, type ThreadMemory } from '../memory-usage.js'
import { LongWorkPermits } from './long-work-permits.js'
import type {
  HostAnswer,
  HostBoot,
  HostCall,
  HostCommands,
  HostedMember,
  HostReport,
  MemberLocation,
} from './host-commands.js'
import { toPortable } from './portable-error.js'

/**
 * Called when the first member of the role starts, so that a host evaluates only the code of its
 * roles.
 */
export type RoleLoader = () => ActorFactory<never> | Promise<ActorFactory<never>>

export type RoleLoaders = Readonly<Record<string, RoleLoader>>

/** Large enough to give each member's connections numbers of their own for a long time. */
const connectionsPerMember = 1_000_003

/** Hosts members, and does what a supervisor elsewhere commands. */
export abstract class HostServer<DiskPlace> implements HostCommands<DiskPlace> {
  protected readonly host: ActorHost
  protected hostId: number
  readonly #roles: RoleLoaders
  readonly #directory = new AddressDirectory()
  readonly #self: Peer
  #events: ClusterEvent[] = []

  /** The subclass then calls {@link begin}. */
  constructor(boot: HostBoot<unknown>, roles: RoleLoaders, longWorkPermits: SharedArrayBuffer) {
    this.hostId = boot.hostId
    this.#roles = roles
    const permits = new LongWorkPermits(longWorkPermits, boot.hostId)
    const turns = new LiveTurns(permits)
    this.host = new ActorHost({
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
      onCrash: ({ boot: { index, incarnation } }, error) => {
        this.report({ type: 'crashed', index, incarnation, error: error === null ? null : toPortable(error) })
        this.onCrash(index)
      },
      onStepStruck: (faultId, reached) => this.report({ type: 'struck', faultId, reached }),
    })
    const { mailbox } = this.host
    this.#self = new CallbackPeer(mailbox.packing, (peer) => mailbox.receiveInPlace(peer, peer.takeInPlace()))
  }

  /** To the supervisor. */
  protected abstract send(message: HostAnswer | HostReport): void

  /** undefined: that host has ended. */
  protected abstract findPeer(hostId: number): Peer | undefined

  protected abstract openDisk(member: HostedMember<DiskPlace>): Disk

  protected onCrash(_index: number): void {}

  protected begin({ watched, steps, faults, members, locations, names }: HostBoot<DiskPlace>): void {
    this.watch(watched)
    for (const fault of steps) this.arm(fault)
    for (const fault of faults) this.applyFault(fault)
    for (const member of members) this.add(member)
    this.setLocations(locations)
    for (const [name, address] of names) this.name(address, name)
  }

  add(member: HostedMember<DiskPlace>): void {
    this.host.addCell(member.boot, this.openDisk(member))
  }

  setLocations(locations: readonly MemberLocation[]): void {
    for (const { index, address, hostId, set, endpoint } of locations) {
      this.#directory.set(index, address)
      if (set !== null) this.#directory.join(set, address)
      if (endpoint !== null) this.#directory.name(address, endpoint)
      const peer = hostId === null ? undefined : hostId === this.hostId ? this.#self : this.findPeer(hostId)
      if (peer === undefined) this.host.mailbox.unroute(index)
      else this.host.mailbox.route({ index, peer })
    }
  }

  name(address: Address, name: Address): void {
    this.#directory.name(address, name)
  }

  forget(index: number): void {
    this.host.forget(index)
    this.#directory.leave(this.#directory.addressOf(index)!)
  }

  async start(index: number): Promise<string> {
    const cell = this.host.cell(index)
    if (cell === undefined) throw new Error(`host ${this.hostId} has no member number ${index}`)
    const { role } = cell.boot
    await this.host.start(cell, () => {
      const load = this.#roles[role]
      if (load === undefined) throw new Error(`the worker entry has no role ${role}`)
      return load()
    })
    return cell.endpoint
  }

  kill(index: number): void {
    const cell = this.host.cell(index)
    if (cell !== undefined) this.host.crash(cell, null)
  }

  async halt(index: number): Promise<void> {
    const cell = this.host.cell(index)
    if (cell !== undefined) await this.host.stop(cell)
  }

  async stop(): Promise<void> {
    await Promise.all(this.host.cells().map((cell) => this.host.stop(cell)))
  }

  async closeDisks(): Promise<void> {
    const disks = this.host.cells().map(({ disk }) => disk)
    await Promise.all(disks.flatMap((disk) => (disk instanceof FileDisk ? [disk.close()] : [])))
  }

  ping(): void {}

  memory(): ThreadMemory {
    return threadMemory(threadId)
  }

  describe(index: number): Record<string, unknown> {
    return this.host.describe(index)
  }

  arm(...args: Parameters<HostCommands<DiskPlace>['arm']>): void {
    this.host.steps.arm(...args)
  }

  heal(faultId: number): void {
    this.host.steps.heal(faultId)
  }

  applyFault(...args: Parameters<HostCommands<DiskPlace>['applyFault']>): void {
    this.host.faults.apply(...args)
  }

  healFault(faultId: number): void {
    this.host.faults.heal(faultId)
  }

  watch(types: readonly ClusterEvent['type'][]): void {
    this.host.events.watch(types)
  }

  protected reportLimit(limit: string, value: number): void {
    this.host.events.emit({ type: 'limit', atMs: this.host.clock.now(), member: `host ${this.hostId}`, limit, value })
  }

  protected warn(member: Address, message: string): void {
    const atMs = this.host.clock.now()
    this.host.events.emit({ type: 'log', atMs, member, level: 'warn', message, fields: {} })
  }

  protected answer({ callId, command, args }: HostCall): void {
    const failed = (error: unknown) => this.report({ type: 'failed', callId, error: toPortable(error) })
    try {
      const result: unknown = (this as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[command]!(
        ...args,
      )
      if (result instanceof Promise)
        result.then((value: unknown) => this.report({ type: 'done', callId, value }), failed)
      else this.report({ type: 'done', callId, value: result })
    } catch (error) {
      failed(error)
    }
  }

  // Events first: they happened before the report, which may be the last message of this host.
  protected report(report: HostAnswer | HostReport): void {
    this.#flushEvents()
    this.send(report)
  }

  #emit(event: ClusterEvent): void {
    if (this.#events.push(event) === 1) setImmediate(() => this.#flushEvents())
  }

  #flushEvents(): void {
    if (this.#events.length === 0) return
    const events = this.#events
    this.#events = []
    this.send({ type: 'events', events })
  }
}
