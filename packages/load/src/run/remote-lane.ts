/** A lane on another machine, with another clock, that may die and be replaced. */
import { OptionError } from '../option-error.js'
import type { GeneratorPool, OpenGenerator } from '../types.js'
import { blockCycles } from '../workload/schedule.js'
import { nowUs } from './clock.js'
import type { FromGenerator, GeneratorProgress, ToGenerator } from './generator-protocol.js'
import type { LaneOptions, LaneProgress, LaneResult, Segment } from './lane.js'
import { dueBefore } from './pacing.js'
import { PeerClock } from './peer-clock.js'
import type { NotLearned } from './not-learned.js'

const pingEveryMs = 250
const pingsToCompareClocks = 8
/**
 * A generator may run this many times ahead of what it ran between two pings, and at least so far.
 */
const aheadTimes = 20
const aheadCycles = 20_000
/** A replacement in an open loop needs so long until it begins. */
const replacementUs = 500_000
const noProgress: GeneratorProgress = { operations: 0, errors: 0, p99Us: null, next: 0 }

/** Segments begin with a block of the schedule. */
const firstCycleOf = ({ cyclesSoFar }: Segment): number => Math.ceil(cyclesSoFar / blockCycles) * blockCycles

type Addressed<Message> = Message extends unknown ? Omit<Message, 'to'> : never

export class RemoteLane {
  readonly #options: LaneOptions
  readonly #generator: OpenGenerator
  readonly #notLearned: NotLearned
  readonly #pings: NodeJS.Timeout
  /** Of the generator that plays the lane now; null: none yet. */
  #name: string | null = null
  #clock = new PeerClock()
  #progress = noProgress
  #cycleLimit = aheadCycles
  readonly #earlier: Segment[] = []
  #running: { readonly segment: Segment; readonly resolve: (next: number) => void; fromCycle: number } | null = null
  #isFinishing = false
  /** Cycles of generators that died are below it. */
  #lostBelow = 0
  readonly #result: Promise<LaneResult>
  readonly #failed: Promise<never>
  #fail: (error: Error) => void = () => {}
  /** One past the highest cycle of the segments that have ended. */
  #ranTo = 0
  readonly #ready: Promise<void>
  #onReady: () => void = () => {}

  private constructor(pool: GeneratorPool, options: LaneOptions, notLearned: NotLearned) {
    this.#options = options
    this.#notLearned = notLearned
    this.#cycleLimit *= options.lanes
    this.#ready = new Promise((resolve) => (this.#onReady = resolve))
    this.#failed = new Promise((_, reject) => (this.#fail = reject))
    this.#generator = pool.open(options, (message) => this.#onMessage(message as FromGenerator))
    this.#result = this.#generator.result as Promise<LaneResult>
    this.#result.catch((error: Error) => this.#fail(error))
    // The run may not listen yet.
    this.#failed.catch(() => {})
    this.#pings = setInterval(() => this.#ping(), pingEveryMs)
  }

  /** Resolves when a generator is ready. @throws the error of its connection */
  static async connect(pool: GeneratorPool, options: LaneOptions, notLearned: NotLearned): Promise<RemoteLane> {
    const lane = new RemoteLane(pool, options, notLearned)
    try {
      await Promise.race([lane.#ready, lane.#failed])
    } catch (error) {
      clearInterval(lane.#pings)
      throw error
    }
    return lane
  }

  run(segment: Segment): Promise<number> {
    const running = new Promise<number>((resolve) => {
      this.#running = { segment, resolve, fromCycle: 0 }
      this.#begin()
    })
    return Promise.race([running, this.#failed])
  }

  progress(): LaneProgress {
    return this.#progress
  }

  async result(): Promise<LaneResult> {
    this.#isFinishing = true
    this.#post({ type: 'finish' })
    const { journal, ...result } = await Promise.race([this.#result, this.#failed])
    clearInterval(this.#pings)
    return {
      ...result,
      journal: journal === null ? null : { ...this.#clock.localJournal(journal), lostBelow: this.#lostBelow },
    }
  }

  stop(): void {
    this.#post({ type: 'stop' })
  }

  async close(): Promise<void> {
    clearInterval(this.#pings)
    if (!this.#isFinishing) this.#post({ type: 'finish' })
  }

  #onMessage(message: FromGenerator): void {
    if (message.type === 'ready') void this.#take(message.from)
    if (message.from !== this.#name) return
    if (message.type === 'pong') this.#onPong(message)
    if (message.type === 'lapsed')
      this.#fail(new OptionError(`generator ${this.#options.lane + 1} got no message for five seconds, and has ended`))
    if (message.type === 'ran') {
      this.#ranTo = Math.max(this.#ranTo, message.next)
      this.#earlier.push(this.#running!.segment)
      this.#running!.resolve(message.next)
      this.#running = null
    }
  }

  /** The first generator, or one for another that died. */
  async #take(name: string): Promise<void> {
    const isFirst = this.#name === null
    this.#name = name
    if (!isFirst) this.#replace()
    this.#clock = new PeerClock()
    this.#progress = { ...noProgress, next: this.#progress.next }
    for (let i = 0; i < pingsToCompareClocks; i++) {
      this.#ping()
      await this.#clock.nextSample
      if (this.#name !== name) return
    }
    if (this.#isFinishing) this.#post({ type: 'finish' })
    else if (this.#running !== null) this.#begin()
    this.#onReady()
  }

  /** The cycles of the dead generator have an unknown outcome. */
  #replace(): void {
    const running = this.#running
    this.#lostBelow = Math.max(this.#lostBelow, this.#ranTo)
    if (running === null) return
    const { rate, durationSecs, startUs, measuredSinceUs, isMeasured } = running.segment
    const first = firstCycleOf(running.segment)
    // No generator runs ahead of the times of an open loop.
    running.fromCycle =
      rate === null ? this.#cycleLimit : first + dueBefore(rate, durationSecs)(nowUs() + replacementUs - startUs)
    this.#lostBelow = Math.max(this.#lostBelow, running.fromCycle)
    const atSecs = Math.max(0, (nowUs() - measuredSinceUs) / 1e6).toFixed(1)
    if (isMeasured)
      this.#notLearned.add(
        `what generator ${this.#options.lane + 1} did before ${atSecs} s`,
        'its worker ended, and another one continues its part',
      )
  }

  #begin(): void {
    if (this.#name === null || !this.#clock.isCompared) return
    const { segment, fromCycle } = this.#running!
    this.#cycleLimit = Math.max(firstCycleOf(segment), fromCycle) + aheadCycles * this.#options.lanes
    this.#ping()
    const { startUs, measuredSinceUs } = segment
    const own = {
      ...segment,
      startUs: this.#clock.peerUs(startUs),
      measuredSinceUs: measuredSinceUs === 0 ? 0 : this.#clock.peerUs(measuredSinceUs),
    }
    const earlier = this.#earlier.map(({ cyclesSoFar, weights }) => ({ cyclesSoFar, weights }))
    this.#post({ type: 'run', run: { segment: own, earlier, fromCycle } })
  }

  #ping(): void {
    this.#post({ type: 'ping', ping: this.#clock.begin(nowUs()), cycleLimit: this.#cycleLimit })
  }

  #onPong({ ping, nowUs: peerUs, progress }: Extract<FromGenerator, { type: 'pong' }>): void {
    this.#clock.end(ping, peerUs, nowUs())
    const ran = Math.max(0, progress.next - this.#progress.next)
    this.#progress = progress
    const ahead = Math.max(aheadCycles * this.#options.lanes, ran * aheadTimes)
    this.#cycleLimit = Math.max(this.#cycleLimit, progress.next + ahead)
  }

  #post(message: Addressed<ToGenerator>): void {
    if (this.#name !== null) this.#generator.post({ to: this.#name, ...message })
  }
}
