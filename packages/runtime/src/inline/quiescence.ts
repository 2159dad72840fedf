import { clusterAddress, isOfSetProtocol, type UnfinishedWork } from '@shardlab/actor'
import type { ActorCell } from '../host/actor-cell.js'
import type { ActorHost } from '../host/actor-host.js'
import type { VirtualClock } from '../host/time/virtual-clock.js'
import type { ConnectionGate } from './connection-gate.js'
import { BusyWorldError } from './world-copy.js'

/** After so many turns of the event loop without quiescence the clock is moved. */
const idleTurns = 4

export interface QuiescenceOptions {
  /** How long running work may take to end, on the machine's clock. */
  readonly patienceMs: number
  readonly host: ActorHost
  readonly gate: ConnectionGate
  /**
   * Moved when only timers are left; null: the machine's clock, or one that only `advance` moves.
   */
  readonly clock: VirtualClock | null
  /** Resolves when no message is under way and all promise jobs have run. */
  readonly quiet: () => Promise<void>
}

/** Finds a moment in which no member works on anything, so that the world can be copied. */
export class Quiescence {
  readonly #options: QuiescenceOptions

  constructor(options: QuiescenceOptions) {
    this.#options = options
  }

  /**
   * Resolves in that moment. Commands of clients must be blocked until then.
   * @throws BusyWorldError at once when a member does long work that a copy could not continue, or
   *   after `patienceMs`
   */
  async reached(): Promise<void> {
    const { clock, quiet, patienceMs } = this.#options
    const untilMs = performance.now() + patienceMs
    for (let turn = 1; ; turn++) {
      await quiet()
      this.refuseLongWork()
      if (this.#isQuiescent()) return
      if (performance.now() > untilMs) throw new BusyWorldError(this.#busyMembers())
      if (turn % idleTurns !== 0) continue
      if (clock !== null && clock.nextMicros() !== Infinity) clock.step()
      else await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  /** @throws BusyWorldError when a member does long work that a copy could not continue */
  refuseLongWork(): void {
    const long = this.#unfinished().filter(({ isBrief }) => !isBrief)
    if (long.length > 0) throw new BusyWorldError(long.map(({ what }) => what))
  }

  #unfinished(): UnfinishedWork[] {
    return this.#options.host.cells().flatMap(({ actor }) => [...(actor?.unfinished?.() ?? [])])
  }

  #isQuiescent(): boolean {
    const { mailbox } = this.#options.host
    const isQuiet = !mailbox.busy && !mailbox.isWaiting
    return isQuiet && this.#members().every((cell) => !this.#isBusy(cell)) && this.#unfinished().length === 0
  }

  /**
   * Without the API: the members that it serves wait for its replies, and what it still does for
   * operations that have ended, such as waiting for a fault, is no work of the cluster.
   */
  #members(): ActorCell[] {
    return this.#options.host.cells().filter(({ address }) => address !== clusterAddress)
  }

  #isBusy(cell: ActorCell): boolean {
    const { gate } = this.#options
    // An awaitable hello sleeps in its member, which is not work.
    const endless = cell.actor?.endlessSleeps?.() ?? gate.waitingHellos(cell.address)
    const sleeps = cell.sleeps.size - endless
    return (
      cell.state !== 'running' ||
      cell.jobs.some(({ kind }) => !isOfSetProtocol(kind)) ||
      cell.backgroundWork > 0 ||
      gate.running(cell.address) > 0 ||
      sleeps > 0
    )
  }

  #busyMembers(): string[] {
    const { gate } = this.#options
    const unfinished = this.#unfinished().map(({ what }) => what)
    if (unfinished.length > 0) return unfinished
    const busy = this.#members().filter((cell) => this.#isBusy(cell))
    return busy.map((cell) => {
      const commands = gate.running(cell.address)
      return commands > 0
        ? `${cell.address} still runs ${commands} of its clients' commands`
        : `${cell.address} is still busy`
    })
  }
}
