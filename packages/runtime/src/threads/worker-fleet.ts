import type { Member } from '../supervisor/member-table.js'
import type { HostCommandName, HostCommands } from './protocol.js'
import { mainHostId, type ThreadsPlace, type WorkerPlace } from './worker-place.js'

/** The workers of one world. */
export class WorkerFleet {
  /** Those that are not over. */
  readonly workers = new Set<WorkerPlace>()
  #lastHostId = mainHostId

  /** Where a member is to run; a new place is added to `added`. `sharing`: among how many workers members are shared; null: each has its own. */
  placeFor(member: Member<ThreadsPlace>, sharing: number | null, added: WorkerPlace[]): WorkerPlace {
    const { host } = member.place
    if (host !== null && !host.isEnding) return host
    const sharers =
      sharing === null
        ? []
        : [...this.workers, ...added].filter((worker) => worker.sharing !== null && !worker.isEnding)
    if (sharing !== null && sharers.length >= sharing)
      return sharers.reduce((least, worker) => (worker.members.size < least.members.size ? worker : least))
    // The worker itself is made once all places are known: each needs channels to all others.
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

  /** Asks all. A worker that ends meanwhile does not matter: whoever knows of its end acts on it. */
  async broadcast<N extends HostCommandName>(command: N, args: Parameters<HostCommands[N]>): Promise<void> {
    await Promise.allSettled([...this.workers].map(({ remote }) => remote.call(command, args)))
  }
}
