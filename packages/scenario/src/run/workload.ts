/** Operations start at a rate, independent of the outcome of earlier ones. */
import { asError } from './failure.js'
import type { Random } from '@shardlab/actor'
import { encode, type Document } from '@shardlab/bson'
import type { Scenario } from '../file/parse.js'
import { operationNames, type OperationName, type WorkloadSource } from '../file/schema.js'
import { otherField, otherValues, type DocumentMaker } from '../keys/document-maker.js'
import { keysOf, type Keys } from '../keys/keys.js'
import { createClient, errorsOf, type Client, type Outcome } from '../client/index.js'
import { rateAt, type Load } from './load.js'
import { splitNamespace, type ScenarioWorld } from './world.js'

/** Interval at which a rate of zero is read again. */
const lookMs = 1000
/** Further operations fail. */
const inFlightMax = 20_000
/** For operations beyond {@link inFlightMax}. */
const notSentCode = -1

interface Stream {
  readonly source: WorkloadSource
  readonly keys: Keys
  readonly maker: DocumentMaker
  readonly random: Random
  readonly firstField: string
  /** Queries on the first field do not know the others. */
  readonly isCompound: boolean
  readonly weights: readonly (readonly [OperationName, number])[]
  rate: WorkloadSource['rate']
}

export class Workload implements Load {
  readonly #world: ScenarioWorld
  /** One client stands for many: it has a connection per operation in flight. */
  readonly #client: Client
  readonly #streams: readonly Stream[]
  readonly #beginMs: number
  readonly #latencies: number[] = []
  readonly errors: Record<string, number> = {}
  readonly messages = new Map<number, string>()
  total = 0
  succeeded = 0
  failed = 0
  #inFlight = 0
  #ended = false
  #failure: Error | null = null

  constructor(world: ScenarioWorld, scenario: Scenario) {
    this.#world = world
    this.#client = createClient(world.cluster, { maxPoolSize: Infinity })
    this.#beginMs = world.cluster.now()
    this.#streams = scenario.workload.map((source, i) => {
      const { key } = scenario.collections.find(({ ns }) => ns === source.ns)!
      const fields = Object.keys(key)
      return {
        source,
        keys: keysOf(source.keys),
        maker: world.makers.get(source.ns)!,
        random: world.random.fork(`workload ${i}`),
        firstField: fields[0]!,
        isCompound: fields.length > 1,
        weights: operationNames.filter((name) => source.mix[name] > 0).map((name) => [name, source.mix[name]] as const),
        rate: source.rate,
      }
    })
  }

  begin(): void {
    for (const stream of this.#streams) this.#world.cluster.alarm(stream.source.from, () => this.#next(stream))
  }

  end(): void {
    this.#ended = true
    this.check()
  }

  check(): void {
    if (this.#failure !== null) throw this.#failure
  }

  setRate(ns: string, name: string | undefined, rate: WorkloadSource['rate']): void {
    for (const stream of this.#streams)
      if (stream.source.ns === ns && (name === undefined || stream.source.name === name)) stream.rate = rate
  }

  latencies(): { p50: number; p99: number; max: number } {
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const at = (share: number): number =>
      Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(3))
    return { p50: at(0.5), p99: at(0.99), max: at(1) }
  }

  /**
   * Arrivals are independent: the gaps are exponential, and cutting one short does not affect the
   * next.
   */
  #next(stream: Stream): void {
    const atMs = this.#world.cluster.now() - this.#beginMs
    if (this.#ended || (stream.source.to !== undefined && atMs >= stream.source.to)) return
    const rate = rateAt(stream.rate, atMs)
    const gapMs = rate === 0 ? Infinity : (-Math.log(1 - stream.random.fraction()) * 1000) / rate
    if (gapMs > lookMs) this.#world.cluster.alarm(lookMs, () => this.#next(stream))
    else this.#world.cluster.alarm(gapMs, () => this.#arrive(stream))
  }

  #arrive(stream: Stream): void {
    const atMs = this.#world.cluster.now() - this.#beginMs
    if (this.#ended || (stream.source.to !== undefined && atMs >= stream.source.to)) return
    this.#send(stream).catch((error: unknown) => (this.#failure ??= asError(error)))
    this.#next(stream)
  }

  async #send(stream: Stream): Promise<void> {
    const beganMs = this.#world.cluster.now()
    this.total++
    let failure: Failure | null = { code: notSentCode, message: 'too many operations are in flight' }
    if (this.#inFlight < inFlightMax) {
      this.#inFlight++
      failure = failureOf(await this.#operation(stream))
      this.#inFlight--
    }
    if (this.#ended) return
    if (failure === null) this.succeeded++
    else {
      const { code, message } = failure
      this.failed++
      this.errors[code] = (this.errors[code] ?? 0) + 1
      if (!this.messages.has(code)) this.messages.set(code, message)
    }
    this.#latencies.push(this.#world.cluster.now() - beganMs)
  }

  #operation(stream: Stream): Promise<Outcome> {
    const { source, keys, maker, random, firstField, isCompound } = stream
    const [db, name] = splitNamespace(source.ns)
    const partial = source.allowPartialResults ? { allowPartialResults: true } : {}
    const find = (filter: Document, limit: number): Promise<Outcome> =>
      this.#client.run({ find: name, filter, limit, batchSize: limit, singleBatch: true, ...partial, $db: db })
    const key = () => keys.drawn(random.fraction(), maker.progress)
    switch (this.#choose(stream)) {
      case 'insert':
        return this.#client.run(
          { insert: name, $db: db },
          { sequences: [['documents', [maker.make(keys, source.documentSize)]]] },
        )
      case 'findByKey':
        return find({ [firstField]: key() }, 1)
      case 'findRange': {
        const from = key()
        const range = typeof from === 'number' ? { $gte: from, $lt: from + source.rangeKeys } : { $gte: from }
        return find({ [firstField]: range }, 20)
      }
      case 'findOther':
        return find({ [otherField]: random.below(otherValues) }, 20)
      case 'updateByKey': {
        const update = encode({ q: { [firstField]: key() }, u: { $inc: { updates: 1 } }, multi: isCompound })
        return this.#client.run({ update: name, $db: db }, { sequences: [['updates', [update]]] })
      }
    }
  }

  #choose({ weights, random }: Stream): OperationName {
    let left = random.fraction()
    for (const [name, weight] of weights) {
      left -= weight
      if (left < 0) return name
    }
    return weights.at(-1)![0]
  }
}

interface Failure {
  readonly code: number
  readonly message: string
}

/** The router was unreachable or went away. */
const noAnswerCode = 0

function failureOf(outcome: Outcome): Failure | null {
  if (!outcome.ok) return { code: outcome.code ?? noAnswerCode, message: outcome.message }
  const error = errorsOf(outcome.reply)[0]
  return error === undefined ? null : { code: error['code'] as number, message: String(error['errmsg']) }
}
