import type { Actor, ActorFactory, Address } from '@shardlab/actor'
import type { MemoryDisk } from '../disks/memory-disk.js'
import type { ActorCell } from '../host/actor-cell.js'
import type { ActorHost } from '../host/actor-host.js'
import { cellTarget } from '../host/clients/cell-target.js'
import type { Peer } from '../host/mailbox/peer.js'
import type { VirtualClock } from '../host/time/virtual-clock.js'
import type { MemberInfo, MemberSpec } from '../runtime.js'
import { settleAll } from '../supervisor/keep-alive.js'
import { isUp, memberBoot, memberInfo, type Member, type MemberTable } from '../supervisor/member-table.js'
import type { ConnectionGate } from './connection-gate.js'
import { timersInOrder, type MemberCopy, type WorldCopy } from './world-copy.js'

interface Place {
  disk: MemoryDisk
}

export interface RestoredWorld {
  readonly host: ActorHost
  readonly gate: ConnectionGate
  readonly members: MemberTable<Place>
  readonly clock: VirtualClock | null
  readonly self: Peer
  readonly role: (name: string) => ActorFactory<never>
  readonly listen?: (spec: MemberSpec) => MemberSpec['listen']
}

interface Successor {
  readonly member: Member<Place>
  readonly copy: MemberCopy
  readonly cell: ActorCell
  /** `Actor.exportClients` of its predecessor; null: no predecessor ran. */
  readonly clients: unknown
}

/** No member may be working on anything. */
export async function restoreCopy(copy: WorldCopy, world: RestoredWorld): Promise<MemberInfo[]> {
  const { host, members, clock } = world
  const addresses = new Set(copy.members.map(({ spec }) => spec.address))
  for (const member of members.all()) if (!addresses.has(member.spec.address)) remove(member, world)
  if (clock !== null && copy.nowMicros !== null) clock.reset(copy.nowMicros)
  const added = addMembers(copy, world)
  const successors = copy.members.flatMap((each) => replace(each, added.has(each.spec.address), world) ?? [])
  try {
    await settleAll(
      successors.map(async ({ member, copy: { spec, actor }, cell, clients }) => {
        const start = (made: Actor) =>
          made.resume === undefined || actor!.state === undefined ? made.start?.() : made.resume(actor!.state, clients)
        await host.start(cell, () => world.role(spec.role), start)
        members.started(member, cell.endpoint, 0)
      }),
    )
  } finally {
    // Also when a member could not start, for example because its port is taken: the others keep
    // running.
    armTimers(copy, new Map(successors.map(({ member, cell }) => [member.spec.address, cell])), host)
  }
  return members.all().map(memberInfo)
}

function remove({ spec, index }: Member<Place>, { host, gate, members }: RestoredWorld): void {
  const cell = host.cell(index)
  if (cell !== undefined && !cell.gone) host.remove(cell, new Error(`${spec.address} is no longer there`))
  host.forget(index)
  gate.delete(spec.address)
  members.remove(spec.address)
}

/**
 * Adds the members that this world does not have, and all names, before the first one starts.
 * @returns the members that were added
 */
function addMembers(copy: WorldCopy, { members, listen }: RestoredWorld): ReadonlySet<Address> {
  const added = new Set<Address>()
  for (const { spec, disk } of copy.members) {
    if (members.find(spec.address) !== undefined) continue
    const member = members.add(spec, { disk })
    if (listen !== undefined) member.listen = listen(spec)
    added.add(spec.address)
  }
  // Documents of the copy may have the endpoints of the copied world. Those of this world win.
  for (const { spec, endpoint } of copy.members) members.nameEndpoint(spec.address, endpoint)
  for (const member of members.all()) members.nameEndpoints(member)
  return added
}

/** Null: the member is down in the copy. */
function replace(copy: MemberCopy, isAdded: boolean, { host, gate, members, self }: RestoredWorld): Successor | null {
  const { spec, incarnation, actor } = copy
  const member = members.get(spec.address)
  member.place.disk = copy.disk.clone()
  // Another incarnation has another generator, which does not repeat ids that the copy holds.
  member.incarnation = incarnation + 1
  const predecessor = !isAdded && isUp(member) ? host.cell(member.index) : undefined
  const clients = (actor === null ? null : predecessor?.actor?.exportClients?.()) ?? null
  const gateway = actor === null ? null : (predecessor?.gateway ?? null)
  if (predecessor !== undefined) {
    if (gateway !== null) predecessor.gateway = null
    host.remove(predecessor, new Error(`${spec.address} was replaced`))
  }
  if (actor === null) {
    member.state = copy.state
    member.endpoint = copy.endpoint
    return null
  }
  member.state = 'starting'
  host.mailbox.route({ index: member.index, peer: self })
  const cell = host.addCell(memberBoot(member), member.place.disk)
  cell.gateway = gateway
  if (gateway !== null) gate.redirect(spec.address, cellTarget(host, cell))
  return { member, copy, cell, clients }
}

/** Replaces the timers that the members armed at their start. */
function armTimers(copy: WorldCopy, cells: ReadonlyMap<Address, ActorCell>, host: ActorHost): void {
  for (const { address, timer } of timersInOrder(copy)) {
    const cell = cells.get(address)
    if (cell !== undefined && !cell.gone) host.setTimer(cell, timer.name, timer.dueInMs)
  }
}
