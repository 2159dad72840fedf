/** One thread's share: every `lanes`-th cycle, with an engine of its own. */
import { DriverEngine } from '../engines/driver-engine.js'
import type { Engine } from '../engines/engine.js'
import type { TransactionData } from '../engines/transaction-statistics.js'
import { WireEngine } from '../engines/wire/wire-engine.js'
import { Placement, type PlacementData } from '../placement/placement.js'
import type { EngineName, Ramp } from '../types.js'
import type { WorkloadSource } from '../workload/schema.js'
import { Schedule, type Plan } from '../workload/schedule.js'
import { compileWorkload, type Workload } from '../workload/workload.js'
import { nowUs, sleep } from './clock.js'
import { LaneJournal, type JournalData } from './journal.js'
import { allowedAt, dueBefore, highest, Pacer, startOffsetUs } from './pacing.js'
import { Recorder, type RecorderData } from './recorder.js'

export interface LaneOptions {
  readonly lane: number
  readonly lanes: number
  readonly workload: WorkloadSource
  readonly placement: PlacementData
  readonly engine: EngineName
  readonly uri: string
  readonly hosts: readonly string[]
  /** Of this lane. */
  readonly concurrency: number
  readonly pipeline: number
  readonly intervalUs: number
  readonly check: boolean
}

/** A section of the run; the same for all lanes. */
export interface Segment {
  readonly cyclesSoFar: number
  readonly weights: Readonly<Record<string, number>> | null
  readonly isMeasured: boolean
  readonly startUs: number
  readonly measuredSinceUs: number
  readonly durationSecs: number | null
  readonly operations: number | null
  readonly rate: Ramp | null
  readonly concurrency: Ramp
}

export interface LaneProgress {
  readonly operations: number
  readonly errors: number
  readonly p99Us: number | null
}

export interface LaneResult {
  readonly recorder: RecorderData
  readonly journal: JournalData | null
  readonly retries: number
  /** Measured operations that were due but did not start. */
  readonly notBegun: number
  /** null: the workload has none. */
  readonly transactions: TransactionData | null
}

/** Pause after a network error. */
const backoffMs = 25

export class Lane {
  readonly #options: LaneOptions
  readonly #workload: Workload
  readonly #schedule: Schedule
  readonly #placement: Placement
  readonly #engine: Engine
  readonly #journal: LaneJournal
  readonly #recorder: Recorder
  readonly #pacer = new Pacer()
  /** A closed loop waits before this cycle. */
  #cycleLimit = Number.POSITIVE_INFINITY
  #next = 0
  /** When no further operation may start. */
  #endingAtUs = Number.POSITIVE_INFINITY
  #notBegun = 0
  #isMeasuring = false

  private constructor(options: LaneOptions, workload: Workload, engine: Engine) {
    this.#options = options
    this.#workload = workload
    this.#schedule = new Schedule(workload)
    this.#placement = new Placement(options.placement, workload)
    this.#engine = engine
    this.#journal = new LaneJournal(options.lane, options.lanes)
    this.#recorder = new Recorder(options.intervalUs)
  }

  static async connect(options: LaneOptions): Promise<Lane> {
    const workload = compileWorkload(options.workload)
    const { engine: name, uri, hosts, concurrency, pipeline } = options
    const engine =
      name === 'driver'
        ? await DriverEngine.connect(workload, { name, uri, concurrency, pipeline })
        : await WireEngine.connect(workload, { name, uri, concurrency, pipeline, hosts })
    return new Lane(options, workload, engine)
  }

  /** The next cycle of the lane. */
  get next(): number {
    return this.#next
  }

  /** Cycles from here on wait for a higher limit, in a closed loop. */
  limit(cycle: number): void {
    this.#cycleLimit = cycle
  }

  /** Another generator has played this segment. */
  skip({ cyclesSoFar, weights }: Pick<Segment, 'cyclesSoFar' | 'weights'>): void {
    this.#schedule.begin(cyclesSoFar, weights)
  }

  /**
   * Resolves with one past the highest cycle that may have run.
   * @param fromCycle leaves out the cycles before
   */
  async run(segment: Segment, fromCycle = 0): Promise<number> {
    const { lane, lanes } = this.#options
    if (segment.isMeasured && !this.#isMeasuring) this.#engine.transactions?.reset()
    this.#isMeasuring = segment.isMeasured
    const first = this.#schedule.begin(segment.cyclesSoFar, segment.weights)
    const end = segment.operations === null ? Number.POSITIVE_INFINITY : first + segment.operations
    const stopUs =
      segment.durationSecs === null ? Number.POSITIVE_INFINITY : segment.startUs + segment.durationSecs * 1e6
    const offsetUs = segment.rate === null ? null : startOffsetUs(segment.rate, segment.durationSecs)
    const allowed = allowedAt(segment.concurrency, segment.durationSecs)
    const from = Math.max(first, fromCycle)
    this.#next = from + ((((lane - from) % lanes) + lanes) % lanes)
    const isLimited = (): boolean => offsetUs === null && this.#next >= this.#cycleLimit

    const take = (): number | null => {
      if (this.#next >= end || nowUs() >= stopUs || this.#isEnding || isLimited()) return null
      if (offsetUs !== null && segment.startUs + offsetUs(this.#next - first) >= stopUs) return null
      const cycle = this.#next
      this.#next += lanes
      return cycle
    }
    const ready = (): { plan: Plan; prepared: unknown } | null => {
      const cycle = take()
      if (cycle === null) return null
      const plan = this.#schedule.plan(cycle)
      return { plan, prepared: this.#engine.prepare(plan) }
    }
    const slot = async (number: number): Promise<void> => {
      const place = number * lanes + lane
      let current: ReturnType<typeof ready> = null
      for (;;) {
        while (place >= allowed(nowUs() - segment.startUs)) {
          if (nowUs() >= stopUs || this.#isEnding) return
          await sleep(5)
        }
        while (current === null && isLimited() && this.#next < end && nowUs() < stopUs && !this.#isEnding)
          await sleep(5)
        current ??= ready()
        if (current === null) return
        const { plan, prepared } = current
        let intendedAtUs = 0
        if (offsetUs !== null) {
          intendedAtUs = segment.startUs + offsetUs(plan.cycle - first)
          await this.#pacer.until(intendedAtUs)
        } else if (nowUs() >= stopUs) return
        if (this.#isEnding) return
        const startUs = nowUs()
        const sent = this.#engine.send(prepared, number)
        // Prepare the next operation while waiting for the reply. In an open loop that would take
        // cycles too early.
        current = offsetUs === null ? ready() : null
        const result = await sent
        const endUs = nowUs()
        this.#note(segment, plan, offsetUs === null ? startUs : intendedAtUs, startUs, endUs, result)
        if (result.isNetworkError) await sleep(backoffMs)
      }
    }
    const wait = segment.startUs - nowUs()
    if (wait > 0) await sleep(wait / 1000)
    const slots = Math.ceil(highest(segment.concurrency) / lanes)
    await Promise.all(Array.from({ length: slots }, (_, i) => slot(i)))
    // At a slow rate the last operation may end before its time does.
    if (segment.rate !== null && stopUs < Number.POSITIVE_INFINITY && this.#next < end && !this.#isEnding)
      await this.#pacer.until(stopUs)
    if (segment.isMeasured && segment.rate !== null) {
      const due = dueBefore(
        segment.rate,
        segment.durationSecs,
      )(Math.min(stopUs, this.#endingAtUs, nowUs()) - segment.startUs)
      this.#notBegun += Math.max(0, Math.ceil((Math.min(end, first + due) - this.#next) / lanes))
    }
    return this.#next
  }

  progress(): LaneProgress {
    return { operations: this.#recorder.operations, errors: this.#recorder.failures, p99Us: this.#recorder.lastP99Us() }
  }

  result(): LaneResult {
    return {
      recorder: this.#recorder.data(),
      journal: this.#options.check ? this.#journal.data() : null,
      retries: this.#engine.retries,
      notBegun: this.#notBegun,
      transactions: this.#engine.transactions?.data() ?? null,
    }
  }

  /** Starts no further operation; a running segment ends after the operations in flight. */
  stop(): void {
    this.#endingAtUs = Math.min(this.#endingAtUs, nowUs())
    this.#pacer.release()
  }

  /** Also ends a running segment. */
  close(): Promise<void> {
    this.stop()
    return this.#engine.close()
  }

  get #isEnding(): boolean {
    return this.#endingAtUs < Number.POSITIVE_INFINITY
  }

  #note(
    segment: Segment,
    plan: Plan,
    intendedAtUs: number,
    startUs: number,
    endUs: number,
    result: Awaited<ReturnType<Engine['send']>>,
  ): void {
    const { operation, key, cycle } = plan
    const foundNothing = result.error === null && result.found === 0
    // An update that matched nothing has written nothing.
    if (this.#options.check)
      this.#journal.note(cycle, result.acknowledged && !foundNothing, result.written, startUs, endUs)
    if (foundNothing && key < this.#workload.records && operation.filter === null) this.#recorder.noteWrongRead(cycle)
    if (!segment.isMeasured) return
    this.#recorder.note(
      plan,
      this.#placement.targetOf(plan),
      result,
      endUs - intendedAtUs,
      endUs - startUs,
      endUs - segment.measuredSinceUs,
    )
  }
}
