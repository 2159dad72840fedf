/** A lane on another machine, with another clock, that may die and be replaced, or not. */
import { messageOf } from '../option-error.js'
import type { GeneratorPool, LostGenerator, OpenGenerator } from '../types.js'
import { blockCycles } from '../workload/schedule.js'
import { nowUs } from './clock.js'
import type { FromGenerator, GeneratorProgress, ToGenerator } from './generator-protocol.js'
import type { LaneOptions, LaneProgress, LaneResult, Segment } from './lane.js'
import { dueBefore } from './pacing.js'
import { PeerClock } from './peer-clock.js'
import { Recorder } from './recorder.js'

const pingEveryMs = 250
const pingsToCompareClocks = 8
/**
 * A generator may run this many times ahead of what it ran between two pings, and at least so far.
 */
const aheadTimes = 20
const aheadCycles = 20_000
/** A replacement in an open loop needs so long until it begins. */
const replacementUs = 500_000
/**
 * A generator from which no message came for so many pings, half a minute, has died, and no worker
 * was free for another one. Pings are counted, because time alone would count when this process is
 * blocked.
 */
const silentPingsMax = 120
/** Its result may be large, and the link slow: ten minutes. */
const silentPingsOfResultMax = 2400
const noProgress: GeneratorProgress = { operations: 0, errors: 0, p99Us: null, next: 0 }

/** Segments begin with a block of the schedule. */
const firstCycleOf = ({ cyclesSoFar }: Segment): number => Math.ceil(cyclesSoFar / blockCycles) * blockCycles

type Addressed<Message> = Message extends unknown ? Omit<Message, 'to'> : never

export class RemoteLane {
  readonly #options: LaneOptions
  readonly #generator: OpenGenerator
  readonly #lost: LostGenerator[]
  readonly #pings: NodeJS.Timeout
  /** Of the generator that plays the lane now; null: none yet. */
  #name: string | null = null
  #clock = new PeerClock()
  #progress = noProgress
  #cycleLimit = aheadCycles
  readonly #earlier: Segment[] = []
  #running: { readonly segment: Segment; readonly resolve: (next: number) => void; fromCycle: number } | null = null
  #isFinishing = false
  /** Its result is under way. */
  #isClosed = false
  #silentPings = 0
  /** Of the latest measured segment; 0: none yet. */
  #measuredSinceUs = 0
  /** Why no generator plays the lane any more. */
  #end: Error | null = null
  /** Cycles of generators that died are below it. */
  #lostBelow = 0
  readonly #result: Promise<LaneResult>
  /** Resolves when no generator plays the lane any more. */
  readonly #ended: Promise<void>
  #onEnded: () => void = () => {}
  /** One past the highest cycle of the segments that have ended. */
  #ranTo = 0
  readonly #ready: Promise<void>
  #onReady: () => void = () => {}

  private constructor(pool: GeneratorPool, options: LaneOptions, lost: LostGenerator[]) {
    this.#options = options
    this.#lost = lost
    this.#cycleLimit *= options.lanes
    this.#ready = new Promise((resolve) => (this.#onReady = resolve))
    this.#ended = new Promise((resolve) => (this.#onEnded = resolve))
    this.#generator = pool.open(options, (message) => this.#onMessage(message as FromGenerator))
    this.#result = this.#generator.result as Promise<LaneResult>
    this.#result.catch((error: Error) => this.#lose(error))
    this.#pings = setInterval(() => this.#onTick(), pingEveryMs)
  }

  /** Resolves when a generator is ready. @throws the error of its connection */
  static async connect(pool: GeneratorPool, options: LaneOptions, lost: LostGenerator[]): Promise<RemoteLane> {
    const lane = new RemoteLane(pool, options, lost)
    await Promise.race([lane.#ready, lane.#ended])
    if (lane.#end !== null) throw lane.#end
    return lane
  }

  /** Why no generator plays the lane any more; null: one does. */
  get error(): Error | null {
    return this.#end
  }

  /** Also resolves when the lane ends early. */
  async run(segment: Segment): Promise<number> {
    if (this.#end !== null) return 0
    if (segment.isMeasured) this.#measuredSinceUs = segment.measuredSinceUs
    return new Promise<number>((resolve) => {
      this.#running = { segment, resolve, fromCycle: 0 }
      this.#begin()
    })
  }

  progress(): LaneProgress {
    return this.#progress
  }

  async result(): Promise<LaneResult> {
    this.#isFinishing = true
    this.#post({ type: 'finish' })
    const found = await Promise.race([this.#result.catch(() => null), this.#ended.then(() => null)])
    clearInterval(this.#pings)
    if (found === null) return this.#noResult()
    const { journal, ...result } = found
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

  /** Of a lane that has ended: what its generators did is unknown. */
  #noResult(): LaneResult {
    const { lane, lanes, intervalUs, check } = this.#options
    const journal = { lane, lanes, pages: [], inPart: [], lostBelow: this.#lostBelow }
    return {
      recorder: new Recorder(intervalUs).data(),
      journal: check ? journal : null,
      ...{ retries: 0, notBegun: 0, transactions: null },
    }
  }

  #onMessage(message: FromGenerator): void {
    if (this.#end !== null) return
    this.#silentPings = 0
    if (message.type === 'ready') void this.#take(message.from)
    if (message.from !== this.#name) return
    if (message.type === 'pong') this.#onPong(message)
    if (message.type === 'lapsed') this.#lose(new Error('it got no message for five seconds, and has ended'))
    if (message.type === 'closed') this.#isClosed = true
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

  /** Another generator continues. */
  #replace(): void {
    this.#isClosed = false
    this.#noteLost(true, 'its worker ended')
    if (this.#running !== null) this.#running.fromCycle = this.#lostBelow
  }

  /** No generator continues: the other lanes continue, and their figures are kept. */
  #lose(error: Error): void {
    if (this.#end !== null) return
    this.#end = error
    clearInterval(this.#pings)
    // Otherwise the run has not begun.
    if (this.#name !== null) this.#noteLost(false, messageOf(error))
    this.#running?.resolve(this.#lostBelow)
    this.#running = null
    this.#onEnded()
  }

  /** The cycles of the dead generator have an unknown outcome, and its figures are missing. */
  #noteLost(isReplaced: boolean, why: string): void {
    this.#lostBelow = Math.max(this.#lostBelow, this.#ranTo)
    if (this.#running !== null) {
      const { rate, durationSecs, startUs } = this.#running.segment
      const first = firstCycleOf(this.#running.segment)
      // No generator runs ahead of the times of an open loop.
      const ranTo =
        rate === null ? this.#cycleLimit : first + dueBefore(rate, durationSecs)(nowUs() + replacementUs - startUs)
      this.#lostBelow = Math.max(this.#lostBelow, ranTo)
    }
    const isMeasuring = this.#measuredSinceUs > 0
    // A warm-up is in no figure.
    if (isReplaced && !isMeasuring) return
    const sinceSecs = isMeasuring ? (nowUs() - this.#measuredSinceUs) / 1e6 : 0
    this.#lost.push({
      generator: this.#options.lane + 1,
      atSecs: Math.round(Math.max(0, sinceSecs) * 10) / 10,
      operations: this.#progress.operations,
      errors: this.#progress.errors,
      isReplaced,
      why,
    })
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

  #onTick(): void {
    const limit = this.#isClosed ? silentPingsOfResultMax : silentPingsMax
    if (this.#name !== null && ++this.#silentPings > limit)
      this.#lose(new Error('no message came from it, and no worker was free to replace it'))
    else this.#ping()
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
    if (this.#name !== null && this.#end === null) this.#generator.post({ to: this.#name, ...message })
  }
}
