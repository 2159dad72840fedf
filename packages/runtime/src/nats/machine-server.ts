/** The members of one cluster on this machine, commanded by the supervisor. */
import type { Address, Disk } from '@shardlab/actor'
import type { DiskFolder, DiskOwner } from '../disks/files/disk-folder.js'
import { LocalDisks, type LocalDisk } from '../disks/local-disks.js'
import { parseEndpoint } from '../host/clients/endpoint.js'
import type { Peer } from '../host/mailbox/peer.js'
import type { Listen, MemberState } from '../runtime.js'
import type { HostAnswer, HostCall, HostedMember, HostReport, MemberLocation } from '../remote/host-commands.js'
import { HostServer, type RoleLoaders } from '../remote/host-server.js'
import { createLongWorkPermits } from '../remote/long-work-permits.js'
import { PortHolds } from '../supervisor/port-holds.js'
import { HostLinks, type LinkSettings } from './host-links.js'
import type { Broker } from './broker.js'
import type {
  FaultScope,
  HostedState,
  MachineBoot,
  MachineCommands,
  SentFault,
  SentStepFault,
  StrikeCounts,
} from './machine-protocol.js'
import { Tally } from './tally.js'

export interface MachineServerOptions {
  readonly broker: Broker
  readonly cluster: string
  readonly settings: LinkSettings
  readonly roles: RoleLoaders
  /** null: disks are in memory. */
  readonly folder: DiskFolder | null
  send(message: HostAnswer | HostReport): void
  onLeave(): void
}

interface Holder {
  state: MemberState
  listen: Listen | null
}

export class MachineServer extends HostServer<DiskOwner> implements MachineCommands {
  readonly #options: MachineServerOptions
  readonly #disks: LocalDisks
  readonly #diskOf = new Map<number, LocalDisk>()
  readonly #locations = new Map<number, MemberLocation>()
  readonly #tallies: Readonly<Record<FaultScope, Map<number, Tally>>> = { step: new Map(), link: new Map() }
  readonly #ports = new PortHolds(true)
  readonly #holders = new Map<number, Holder>()
  #links: HostLinks | null = null

  constructor(boot: MachineBoot, options: MachineServerOptions) {
    super({ ...boot, steps: [], faults: [] }, options.roles, createLongWorkPermits())
    this.#options = options
    this.#disks = new LocalDisks(options.folder, (member, message) => this.warn(member, message))
  }

  join(boot: MachineBoot): readonly HostedState[] {
    const { broker, cluster, settings } = this.#options
    const { hostId } = boot
    this.#links?.closeAll()
    this.hostId = hostId
    this.#links = new HostLinks({
      broker,
      cluster,
      hostId,
      settings,
      mailbox: this.host.mailbox,
      onNewPeer: (other, peer) => {
        for (const { index, hostId: at } of this.#locations.values())
          if (at === other) this.host.mailbox.route({ index, peer })
      },
      onLimit: (bytes) => this.reportLimit('linkBytes', bytes),
    })
    for (const host of boot.hosts) this.#links.admit(host)
    this.#forgetOthers(boot)
    for (const fault of boot.steps) this.arm(fault)
    for (const fault of boot.faults) this.applyFault(fault)
    this.begin({ ...boot, steps: [], faults: [] })
    return this.host.cells().map(({ boot: { index, incarnation }, state, endpoint }) => {
      return { index, incarnation, isRunning: state === 'running', endpoint }
    })
  }

  leave(): void {
    this.end()
    this.#options.onLeave()
  }

  /** Ends the members that are left. */
  end(): void {
    // First, so that the ports are not held again.
    void this.#ports.close()
    for (const { index } of this.host.cells().map(({ boot }) => boot)) this.kill(index)
    this.#links?.closeAll()
  }

  override setLocations(locations: readonly MemberLocation[]): void {
    for (const location of locations) this.#locations.set(location.index, location)
    super.setLocations(locations)
  }

  openHost(hostId: number): void {
    this.#links?.admit(hostId)
  }

  closeHost(hostId: number): void {
    this.#links?.close(hostId)
  }

  override forget(index: number): void {
    super.forget(index)
    this.#locations.delete(index)
    const holder = this.#holders.get(index)
    this.#holders.delete(index)
    if (holder === undefined) return
    // Its port is not held again.
    holder.listen = null
    void this.#ports.release(holder)
  }

  override add(member: HostedMember<DiskOwner>): void {
    // It becomes the name of a folder.
    if (!/^[\w.-]+$/.test(member.boot.address)) throw new Error(`${member.boot.address} is no name of a member`)
    super.add(member)
    const { index, listen } = member.boot
    const holder = this.#holders.get(index)
    if (holder === undefined) this.#holders.set(index, { state: 'starting', listen })
    else Object.assign(holder, { state: 'starting', listen })
  }

  override async start(index: number): Promise<string> {
    const holder = this.#holders.get(index)!
    await this.#ports.release(holder)
    const endpoint = await super.start(index)
    // Its next incarnation listens there again, and the port is held until then.
    if (holder.listen !== null) holder.listen = { ...holder.listen, ...parseEndpoint(endpoint) }
    return endpoint
  }

  replaceDisk(index: number, owner: DiskOwner): void {
    this.#diskOf.set(index, this.#disks.replace(owner))
  }

  dropDisk(index: number, address: Address): void {
    this.#diskOf.delete(index)
    this.#disks.drop(address)
  }

  override ping(): StrikeCounts {
    return [...this.#tallies.link].map(([id, tally]) => [id, tally.own])
  }

  override arm(fault: SentStepFault): void {
    const strikes = this.#tally('step', fault)
    if (strikes !== null) super.arm({ ...fault, strikes })
  }

  override heal(faultId: number): void {
    this.#tallies.step.delete(faultId)
    super.heal(faultId)
  }

  noteStrikes(scope: FaultScope, faultId: number, strikes: number): void {
    this.#tallies[scope].get(faultId)?.noteOthers(strikes)
  }

  override applyFault(fault: SentFault): void {
    const strikes = this.#tally('link', fault)
    if (strikes !== null) super.applyFault(fault.scope === 'link' ? { ...fault, strikes } : fault)
  }

  override healFault(faultId: number): void {
    this.#tallies.link.delete(faultId)
    super.healFault(faultId)
  }

  /** A call of the supervisor. */
  serve(call: HostCall): void {
    this.answer(call)
  }

  protected send(message: HostAnswer | HostReport): void {
    this.#options.send(message)
  }

  protected findPeer(hostId: number): Peer | undefined {
    return this.#links?.find(hostId)
  }

  protected openDisk({ boot: { index }, disk: owner }: HostedMember<DiskOwner>): Disk {
    const known = this.#diskOf.get(index)
    const disk = known === undefined ? this.#disks.open(owner) : this.#disks.reopen(known, owner)
    this.#diskOf.set(index, disk)
    return disk
  }

  protected override onCrash(index: number): void {
    const holder = this.#holders.get(index)
    if (holder === undefined) return
    holder.state = 'crashed'
    this.#ports.hold(holder)
  }

  /** null: the fault is active already. */
  #tally(scope: FaultScope, { id, struck = 0 }: { id: number; struck?: number }): Tally['count'] | null {
    if (this.#tallies[scope].has(id)) return null
    const tally = new Tally(struck)
    this.#tallies[scope].set(id, tally)
    return tally.count
  }

  /** While the connection was lost, faults were healed elsewhere, and members removed. */
  #forgetOthers({ steps, faults, locations }: MachineBoot): void {
    const [armed, applied, known] = [steps, faults, locations.map(({ index }) => ({ id: index }))].map(
      (each) => new Set(each.map(({ id }) => id)),
    )
    for (const id of this.#tallies.step.keys()) if (!armed!.has(id)) this.heal(id)
    for (const id of this.#tallies.link.keys()) if (!applied!.has(id)) this.healFault(id)
    for (const { index, address } of this.#locations.values()) {
      if (known!.has(index)) continue
      this.kill(index)
      this.forget(index)
      if (this.#diskOf.has(index)) this.dropDisk(index, address)
    }
  }
}
