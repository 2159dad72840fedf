import type { ThreadMemory } from '../memory-usage.js'
import type { Member } from '../supervisor/member-table.js'
import { supervisorHostId } from '../supervisor/supervisor-host.js'
import type { ArgsOf } from '../remote/host-calls.js'
import type { MemberLocation } from '../remote/host-commands.js'
import { settledBy } from './watchdog.js'
import type { WorkerCommands } from './worker-host.js'
import type { ThreadsPlace, WorkerPlace } from './worker-place.js'

export class WorkerFleet {
  /** Neither ended nor being terminated. */
  readonly workers = new Set<WorkerPlace>()
  #lastHostId = supervisorHostId

  /**
   * @param sharing how many workers share the members; null: each member has its own
   * @param added gets the worker if it is a new one
   */
  placeFor(member: Member<ThreadsPlace>, sharing: number | null, added: WorkerPlace[]): WorkerPlace {
    const { host } = member.place
    if (host !== null && !host.isEnding) return host
    const sharers =
      sharing === null
        ? []
        : [...this.workers, ...added].filter((worker) => worker.sharing !== null && !worker.isEnding)
    if (sharing !== null && sharers.length >= sharing)
      return sharers.reduce((least, worker) => (worker.members.size < least.members.size ? worker : least))
    // The thread is started once all new workers are known, because it needs channels to all of
    // them.
    const worker = {
      hostId: ++this.#lastHostId,
      sharing,
      members: new Set<Member<ThreadsPlace>>(),
      isEnding: false,
      hasEnded: false,
    } as WorkerPlace
    added.push(worker)
    return worker
  }

  /** Of the workers that answer. */
  async memory(): Promise<ThreadMemory[]> {
    const answers = await Promise.allSettled([...this.workers].map(({ remote }) => remote.call('memory', [])))
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  /** An occupied worker gets the locations once it is free; the supervisor does not wait for it. */
  async announce(
    locations: readonly MemberLocation[],
    workers: readonly WorkerPlace[] = [...this.workers],
  ): Promise<void> {
    await Promise.all(workers.map(({ remote }) => settledBy(remote, remote.call('setLocations', [locations]))))
  }

  /** The members shut down in order, unless that takes longer. */
  async stop(timeoutMs: number): Promise<void> {
    await Promise.all([...this.workers].map(({ remote }) => settledBy(remote, remote.call('stop', []), timeoutMs)))
  }

  async closeDisks(timeoutMs: number): Promise<void> {
    const closed = ({ remote }: WorkerPlace) => settledBy(remote, remote.call('closeDisks', []), timeoutMs)
    await Promise.all([...this.workers].map(closed))
  }

  /** Ignores workers that end before they answer: the supervisor handles their end. */
  async broadcast<N extends keyof WorkerCommands>(command: N, args: ArgsOf<WorkerCommands, N>): Promise<void> {
    await Promise.allSettled([...this.workers].map(({ remote }) => remote.call(command, args)))
  }
}
