import type { MemberLocation } from '../remote/host-commands.js'
import type { MemberInfo, MemberSpec } from '../runtime.js'
import { isUp, memberInfo, type Member } from '../supervisor/member-table.js'
import type { DiskOwner } from '../disks/files/disk-folder.js'
import { BrokerError } from './broker.js'
import type { MachinePlace, RemoteMachine } from './remote-machine.js'

export type PlacedMember = Member<MachinePlace>

export function infoOf(member: PlacedMember): MemberInfo {
  return { ...memberInfo(member), machine: member.place.machine.name }
}

export function isOf(state: { readonly index: number; readonly incarnation: number }, member: PlacedMember): boolean {
  return state.index === member.index && state.incarnation === member.incarnation
}

/** @param joining gets that number now */
export function locationOf(member: PlacedMember, joining?: RemoteMachine, joiningId?: number): MemberLocation {
  const { index, spec, place, endpoint } = member
  const hostId = place.machine === joining ? joiningId! : place.machine.hostId
  return {
    index,
    address: spec.address,
    hostId: isUp(member) ? hostId : null,
    set: spec.set ?? null,
    endpoint,
  }
}

export function diskOwner({ address, set, role, diskLimitBytes }: MemberSpec): DiskOwner {
  return { address, role, diskLimitBytes, ...(set === undefined ? {} : { set }) }
}

/** For the caller of a start: a sentence about an address or file that the machine cannot use. */
export function ofMachine({ spec: { address }, place: { machine } }: PlacedMember, error: Error): Error {
  const isTheirs = 'code' in error || error.name === 'TlsFileError'
  return isTheirs ? new BrokerError(`${address} cannot start on the host ${machine.name}: ${error.message}.`) : error
}

/** The error of a start that the member's end prevented. */
export function endOf(member: PlacedMember): Error {
  const { state, place, spec } = member
  if (state === 'stopped') return new Error(`${spec.address} was stopped`)
  if (place.error !== null) return ofMachine(member, place.error)
  return new Error(`${spec.address} crashed while it was starting`)
}
