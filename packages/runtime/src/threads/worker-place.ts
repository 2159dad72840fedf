import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { SharedDiskBuffers } from '../disks/shared-disk.js'
import { isUp, memberBoot, type Member } from '../supervisor/member-table.js'
import type { HostedMember, MemberLocation } from './protocol.js'
import type { RemoteHost } from './remote-host.js'

/** The caller's thread as a host: it has the address of the API and nothing else. */
export const mainHostId = 0

/** What the supervisor keeps for a member. */
export interface ThreadsPlace {
  disk: SharedDiskBuffers
  /** The worker it runs on, or ran on last. */
  host: WorkerPlace | null
  /** What it crashed of last. */
  error: Error | null
}

/** A worker with its members. */
export interface WorkerPlace {
  readonly hostId: number
  /** Among how many workers the members are shared; null: it is there for one member alone. */
  readonly sharing: number | null
  readonly members: Set<Member<ThreadsPlace>>
  remote: RemoteHost
  /** The thread is gone or about to be. */
  isEnding: boolean
  hasEnded: boolean
}

/** How the existing ends of new channels are handed out. */
export interface ChannelEnds {
  toMain(worker: WorkerPlace, port: MessagePort): void
  toExisting(elder: WorkerPlace, worker: WorkerPlace, port: MessagePort): void
}

/** Channels between every two new workers, and from each of them to this thread and to the elder workers. @returns the ends of the new ones. */
export function connect(
  added: readonly WorkerPlace[],
  existing: readonly WorkerPlace[],
  ends: ChannelEnds,
): Map<WorkerPlace, { hostId: number; port: MessagePort }[]> {
  const links = new Map<WorkerPlace, { hostId: number; port: MessagePort }[]>(added.map((worker) => [worker, []]))
  added.forEach((worker, i) => {
    const own = links.get(worker)!
    const toMain = new MessageChannel()
    own.push({ hostId: mainHostId, port: toMain.port1 })
    ends.toMain(worker, toMain.port2)
    for (const other of added.slice(i + 1)) {
      const channel = new MessageChannel()
      own.push({ hostId: other.hostId, port: channel.port1 })
      links.get(other)!.push({ hostId: worker.hostId, port: channel.port2 })
    }
    for (const elder of existing) {
      const channel = new MessageChannel()
      own.push({ hostId: elder.hostId, port: channel.port1 })
      ends.toExisting(elder, worker, channel.port2)
    }
  })
  return links
}

/** What the hosts are told of a member. */
export function locationOf(member: Member<ThreadsPlace>): MemberLocation {
  const { index, spec, place } = member
  const isThere = isUp(member) && place.host !== null && !place.host.isEnding
  return { index, address: spec.address, hostId: isThere ? place.host!.hostId : null }
}

/** What a worker is told of a member that it is to run. */
export function hostedMember(member: Member<ThreadsPlace>): HostedMember {
  return { boot: memberBoot(member), disk: member.place.disk }
}
