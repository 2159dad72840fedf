import type { Actor, ActorFactory, Address, AddressDirectory } from '@shardlab/actor'
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
  readonly directory: AddressDirectory
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
  const successors = copy.members.flatMap((each) => replace(each, world) ?? [])
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
  gate.delete(spec.address)
  members.remove(spec.address)
}

/** Null: the member is down in the copy. */
function replace(copy: MemberCopy, { host, gate, members, directory, self, listen }: RestoredWorld): Successor | null {
  const { spec, incarnation, actor } = copy
  const known = members.find(spec.address)
  const member = known ?? members.add(spec, directory.add(spec.address), { disk: copy.disk })
  member.place.disk = copy.disk.clone()
  // Another incarnation has another generator, which does not repeat ids that the copy holds.
  member.incarnation = incarnation + 1
  const predecessor = known !== undefined && isUp(known) ? host.cell(known.index) : undefined
  const clients = (actor === null ? null : predecessor?.actor?.exportClients?.()) ?? null
  const gateway = actor === null ? null : (predecessor?.gateway ?? null)
  if (predecessor !== undefined) {
    if (gateway !== null) predecessor.gateway = null
    host.remove(predecessor, new Error(`${spec.address} was replaced`))
  }
  if (known === undefined && listen !== undefined) member.listen = listen(spec)
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
