/** 13 bytes for each cycle, in pages. The cycles of a lane are `lane`, `lane + lanes`, … */

export const outcomes = { none: 0, acknowledged: 1, unknown: 2, inPart: 3 } as const

const pageCycles = 65536

interface Page {
  readonly outcome: Uint8Array<ArrayBuffer>
  readonly startUs: Float64Array<ArrayBuffer>
  readonly durationUs: Uint32Array<ArrayBuffer>
}

export interface JournalData {
  readonly lane: number
  readonly lanes: number
  readonly pages: readonly (Page | undefined)[]
  /** Bulk inserts that failed in part: the cycle, and positions of the inserted documents. */
  readonly inPart: readonly (readonly [number, readonly number[]])[]
  /** Cycles below it that are not noted may have run: their generator died. Default 0. */
  readonly lostBelow?: number
}

export class LaneJournal {
  readonly lane: number
  readonly lanes: number
  readonly #pages: (Page | undefined)[] = []
  readonly #inPart: [number, readonly number[]][] = []

  constructor(lane: number, lanes: number) {
    this.lane = lane
    this.lanes = lanes
  }

  note(cycle: number, acknowledged: boolean, written: readonly number[] | null, startUs: number, endUs: number): void {
    const n = (cycle - this.lane) / this.lanes
    const at = n % pageCycles
    const page = (this.#pages[Math.floor(n / pageCycles)] ??= {
      outcome: new Uint8Array(pageCycles),
      startUs: new Float64Array(pageCycles),
      durationUs: new Uint32Array(pageCycles),
    })
    page.outcome[at] = acknowledged ? outcomes.acknowledged : written === null ? outcomes.unknown : outcomes.inPart
    page.startUs[at] = startUs
    page.durationUs[at] = Math.ceil(endUs - startUs)
    if (written !== null) this.#inPart.push([cycle, written])
  }

  data(): JournalData {
    return { lane: this.lane, lanes: this.lanes, pages: this.#pages, inPart: this.#inPart }
  }
}

export class Journal {
  readonly #lanes: readonly JournalData[]
  readonly #inPart: ReadonlyMap<number, ReadonlySet<number>>

  constructor(lanes: readonly JournalData[]) {
    this.#lanes = [...lanes].sort((a, b) => a.lane - b.lane)
    this.#inPart = new Map(
      lanes.flatMap(({ inPart }) => inPart.map(([cycle, written]) => [cycle, new Set(written)] as const)),
    )
  }

  /** @param index which of the records that the cycle creates; 0 for other writes */
  outcome(cycle: number, index = 0): 'none' | 'acknowledged' | 'unknown' {
    const [page, at] = this.#find(cycle)
    const outcome = page?.outcome[at] ?? outcomes.none
    if (outcome === outcomes.none && cycle < (this.#lanes[cycle % this.#lanes.length]!.lostBelow ?? 0)) return 'unknown'
    if (outcome === outcomes.inPart) return this.#inPart.get(cycle)?.has(index) === true ? 'acknowledged' : 'unknown'
    return outcome === outcomes.none ? 'none' : outcome === outcomes.acknowledged ? 'acknowledged' : 'unknown'
  }

  startUs(cycle: number): number {
    const [page, at] = this.#find(cycle)
    return page?.startUs[at] ?? 0
  }

  /** Time of the reply. */
  endUs(cycle: number): number {
    const [page, at] = this.#find(cycle)
    return page === undefined ? 0 : page.startUs[at]! + page.durationUs[at]!
  }

  #find(cycle: number): [Page | undefined, number] {
    const { lanes } = this.#lanes[0]!
    const n = Math.floor(cycle / lanes)
    return [this.#lanes[cycle % lanes]!.pages[Math.floor(n / pageCycles)], n % pageCycles]
  }
}
