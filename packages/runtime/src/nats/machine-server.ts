/** The members of one cluster on this machine, commanded by the supervisor. */
import type { Address, Disk } from '@shardlab/actor'
import type { DiskFolder, DiskOwner } from '../disks/files/disk-folder.js'
import { LocalDisks, type LocalDisk } from '../disks/local-disks.js'
import { createStrikeCount, strikesOf, type StrikeCount } from '../host/faults/strike-count.js'
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
  HostedState,
  MachineBoot,
  MachineCommands,
  SentFault,
  SentStepFault,
  StrikeCounts,
} from './machine-protocol.js'

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
  /** Strikes of the faults that are active here. */
  readonly #stepStrikes = new Map<number, StrikeCount>()
  readonly #strikes = new Map<number, StrikeCount>()
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
    this.#healOthers(boot)
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
    for (const { index } of this.host.cells().map(({ boot }) => boot)) this.kill(index)
    this.#links?.closeAll()
    void this.#ports.close()
  }

  override setLocations(locations: readonly MemberLocation[]): void {
    for (const location of locations) this.#locations.set(location.index, location)
    super.setLocations(locations)
  }

  closeHost(hostId: number): void {
    this.#links?.close(hostId)
  }

  override forget(index: number): void {
    super.forget(index)
    this.#locations.delete(index)
    this.#diskOf.delete(index)
    const holder = this.#holders.get(index)
    this.#holders.delete(index)
    if (holder === undefined) return
    // Its port is not held again.
    holder.listen = null
    void this.#ports.release(holder)
  }

  override add(member: HostedMember<DiskOwner>): void {
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
    return [...this.#strikes].map(([id, count]) => [id, strikesOf(count)])
  }

  override arm(fault: SentStepFault): void {
    if (this.#stepStrikes.has(fault.id)) return
    super.arm({ ...fault, strikes: newCount(this.#stepStrikes, fault.id) })
  }

  override heal(faultId: number): void {
    this.#stepStrikes.delete(faultId)
    super.heal(faultId)
  }

  noteStrikes(faultId: number, strikes: number): void {
    const count = this.#stepStrikes.get(faultId)
    if (count === undefined) return
    const cells = new Int32Array(count)
    Atomics.store(cells, 0, Math.max(strikes, Atomics.load(cells, 0)))
  }

  override applyFault(fault: SentFault): void {
    if (this.#strikes.has(fault.id)) return
    const strikes = newCount(this.#strikes, fault.id)
    super.applyFault(fault.scope === 'link' ? { ...fault, strikes } : fault)
  }

  override healFault(faultId: number): void {
    this.#strikes.delete(faultId)
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

  /** While the connection was lost, faults were healed elsewhere. */
  #healOthers({ steps, faults }: MachineBoot): void {
    const [armed, applied] = [steps.map(({ id }) => id), faults.map(({ id }) => id)]
    for (const id of this.#stepStrikes.keys()) if (!armed.includes(id)) this.heal(id)
    for (const id of this.#strikes.keys()) if (!applied.includes(id)) this.healFault(id)
  }
}

function newCount(counts: Map<number, StrikeCount>, faultId: number): StrikeCount {
  const count = createStrikeCount()
  counts.set(faultId, count)
  return count
}
