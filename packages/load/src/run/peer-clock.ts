/** The clock of another machine, by the times of questions and answers. */
import type { JournalData } from './journal.js'

interface Sample {
  readonly offsetUs: number
  /** How wrong the offset may be. */
  readonly errorUs: number
}

const samplesNeeded = 8

export class PeerClock {
  readonly #begunUs = new Map<number, number>()
  #first: Sample | null = null
  /** The best of the latest samples: clocks drift. */
  readonly #latest: Sample[] = []
  #samples = 0
  #onSample: () => void = () => {}
  nextSample: Promise<void> = Promise.resolve()

  constructor() {
    this.#await()
  }

  get isCompared(): boolean {
    return this.#samples >= samplesNeeded
  }

  /** @returns the number of a question that is sent now */
  begin(nowUs: number): number {
    const number = this.#begunUs.size
    this.#begunUs.set(number, nowUs)
    return number
  }

  end(number: number, peerUs: number, nowUs: number): void {
    const begunUs = this.#begunUs.get(number)
    if (begunUs === undefined) return
    this.#latest.push({ offsetUs: peerUs - (begunUs + nowUs) / 2, errorUs: (nowUs - begunUs) / 2 })
    if (this.#latest.length > samplesNeeded) this.#latest.shift()
    if (++this.#samples === samplesNeeded) this.#first = this.#best()
    this.#onSample()
    this.#await()
  }

  /** At the start of the run. */
  peerUs(localUs: number): number {
    return localUs + (this.#first?.offsetUs ?? 0)
  }

  /**
   * By the clock of this machine. Each operation begins earlier and ends later than the generator
   * saw it, by what the clocks may differ: the end check must not take two writes of different
   * machines for one after the other that may have overlapped.
   */
  localJournal(journal: JournalData): JournalData {
    const first = this.#first
    if (first === null) return journal
    const last = this.#best()
    const errorUs = Math.ceil(first.errorUs + last.errorUs + Math.abs(last.offsetUs - first.offsetUs))
    const pages = journal.pages.map((page) =>
      page === undefined
        ? undefined
        : {
            outcome: page.outcome,
            startUs: page.startUs.map((us) => (us === 0 ? 0 : us - first.offsetUs - errorUs)),
            durationUs: page.durationUs.map((us) => us + 2 * errorUs),
          },
    )
    return { ...journal, pages }
  }

  #best(): Sample {
    return this.#latest.reduce((best, each) => (each.errorUs < best.errorUs ? each : best))
  }

  #await(): void {
    this.nextSample = new Promise((resolve) => (this.#onSample = resolve))
  }
}
