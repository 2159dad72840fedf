import type { Address } from '@shardlab/actor'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { isUp, memberBoot, type Member } from '../supervisor/member-table.js'
import type { HostedMember, MemberLocation } from '../remote/host-commands.js'
import { supervisorHostId } from '../supervisor/supervisor-host.js'
import type { RemoteHost } from './remote-host.js'
import type { WorkerDisk } from './worker-host.js'

export interface ThreadsPlace {
  disk: WorkerDisk
  /** Runs the member, or ran it last. */
  host: WorkerPlace | null
  error: Error | null
}

export interface WorkerPlace {
  readonly hostId: number
  /** How many workers share the members; null: this one runs one member alone. */
  readonly sharing: number | null
  readonly members: Set<Member<ThreadsPlace>>
  remote: RemoteHost
  /** The thread has ended or is being terminated. */
  isEnding: boolean
  hasEnded: boolean
}

/** Resolves when the thread that may still write files of its members has ended. */
export async function threadEnded(host: WorkerPlace | null): Promise<void> {
  if (host?.isEnding === true && !host.hasEnded) await host.remote.exited
}

/** For ends of new channels that do not go to new workers. */
export interface ChannelEnds {
  toMain(worker: WorkerPlace, port: MessagePort): void
  toExisting(other: WorkerPlace, worker: WorkerPlace, port: MessagePort): void
}

/**
 * Makes channels between each two new workers, and from each of them to this thread and to the
 * existing workers.
 * @returns the ends for the new workers
 */
export function connect(
  added: readonly WorkerPlace[],
  existing: readonly WorkerPlace[],
  ends: ChannelEnds,
): Map<WorkerPlace, { hostId: number; port: MessagePort }[]> {
  const ports = new Map<WorkerPlace, { hostId: number; port: MessagePort }[]>(added.map((worker) => [worker, []]))
  added.forEach((worker, i) => {
    const own = ports.get(worker)!
    const toMain = new MessageChannel()
    own.push({ hostId: supervisorHostId, port: toMain.port1 })
    ends.toMain(worker, toMain.port2)
    for (const other of added.slice(i + 1)) {
      const channel = new MessageChannel()
      own.push({ hostId: other.hostId, port: channel.port1 })
      ports.get(other)!.push({ hostId: worker.hostId, port: channel.port2 })
    }
    for (const other of existing) {
      const channel = new MessageChannel()
      own.push({ hostId: other.hostId, port: channel.port1 })
      ends.toExisting(other, worker, channel.port2)
    }
  })
  return ports
}

export function locationOf(member: Member<ThreadsPlace>): MemberLocation {
  const { index, spec, place, endpoint } = member
  const isThere = isUp(member) && place.host !== null && !place.host.isEnding
  const hostId = isThere ? place.host!.hostId : null
  return { index, address: spec.address, hostId, set: spec.set ?? null, endpoint }
}

export function hostedMember(member: Member<ThreadsPlace>): HostedMember<WorkerDisk> {
  return { boot: memberBoot(member), disk: member.place.disk }
}

/** The error of a start that the member's end prevented. */
/** The member did nothing wrong: another one of its thread was to be ended. */
export class OccupiedThreadError extends Error {
  override readonly name = 'OccupiedThreadError'

  constructor(address: Address) {
    super(`the thread of ${address} was occupied and has been ended`)
  }
}

export function endOf({ state, place: { error }, spec: { address } }: Member<ThreadsPlace>): Error {
  if (state === 'stopped') return new Error(`${address} was stopped`)
  return error ?? new Error(`${address} crashed while it was starting`)
}
