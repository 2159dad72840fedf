import type { UnfinishedWork } from '@shardlab/actor'
import type { ActorCell } from '../host/actor-cell.js'
import type { ActorHost } from '../host/actor-host.js'
import type { VirtualClock } from '../host/time/virtual-clock.js'
import type { ConnectionGate } from './connection-gate.js'
import { BusyWorldError } from './world-copy.js'

/** Turns of the event loop in which nothing ended before time goes on. */
const idleTurns = 4

export interface QuiescenceOptions {
  /** How long what has been begun may take to end, in milliseconds of the machine's clock. */
  readonly patienceMs: number
  readonly host: ActorHost
  readonly gate: ConnectionGate
  /** Moved while somebody waits and only timers are left; null: time passes by itself, or only when it is told to. */
  readonly clock: VirtualClock | null
  /** Resolves when no message is on its way and all promise jobs have run. */
  readonly quiet: () => Promise<void>
}

/** Waits for the moment in which no member works on anything: then a world can be copied. Clients are kept out meanwhile. */
export class Quiescence {
  readonly #options: QuiescenceOptions

  constructor(options: QuiescenceOptions) {
    this.#options = options
  }

  /**
   * Resolves in that moment.
   * @throws BusyWorldError at once when a member is in the midst of what no copy could carry on, and when it takes too long
   */
  async reached(): Promise<void> {
    const { clock, quiet, patienceMs } = this.#options
    const untilMs = performance.now() + patienceMs
    for (let turn = 1; ; turn++) {
      await quiet()
      this.refuseLongWork()
      if (this.#isQuiescent()) return
      if (performance.now() > untilMs) throw new BusyWorldError(this.#whoIsBusy())
      if (turn % idleTurns !== 0) continue
      if (clock !== null && clock.nextMicros() !== Infinity) clock.step()
      else await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  /** @throws BusyWorldError when a member is in the midst of what takes long */
  refuseLongWork(): void {
    const long = this.#unfinished().filter(({ isBrief }) => !isBrief)
    if (long.length > 0) throw new BusyWorldError(long.map(({ what }) => what))
  }

  #unfinished(): UnfinishedWork[] {
    return this.#options.host.cells().flatMap(({ actor }) => [...(actor?.unfinished?.() ?? [])])
  }

  #isQuiescent(): boolean {
    const { mailbox } = this.#options.host
    const isQuiet = !mailbox.busy && mailbox.waiting === 0
    return isQuiet && this.#options.host.cells().every((cell) => !this.#isBusy(cell)) && this.#unfinished().length === 0
  }

  #isBusy(cell: ActorCell): boolean {
    const { gate } = this.#options
    // Who awaits a change of the topology sleeps, and means nothing by it.
    const sleeps = cell.sleeps.size - gate.waitingHellos(cell.address)
    return (
      cell.state !== 'running' ||
      cell.jobs.size > 0 ||
      cell.backgroundWork > 0 ||
      gate.running(cell.address) > 0 ||
      sleeps > 0
    )
  }

  #whoIsBusy(): string[] {
    const { host, gate } = this.#options
    const unfinished = this.#unfinished().map(({ what }) => what)
    if (unfinished.length > 0) return unfinished
    const busy = host.cells().filter((cell) => this.#isBusy(cell))
    return busy.map((cell) => {
      const commands = gate.running(cell.address)
      return commands > 0
        ? `${cell.address} still works on ${commands} of its clients' commands`
        : `${cell.address} is still at work`
    })
  }
}
