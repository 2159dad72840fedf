/** Operations start at a rate, independent of the outcome of earlier ones. */
import { asError } from './failure.js'
import type { Random } from '@shardlab/actor'
import { encode, type Document } from '@shardlab/bson'
import type { Scenario } from '../file/parse.js'
import type { Shape, Statement, Stream as StreamSource } from '../file/application.js'
import type { DocumentMaker } from '../keys/document-maker.js'
import { fieldKeysOf, type Keys } from '../keys/keys.js'
import { drawnOnce, filterOf, type FieldDraw } from './filter.js'
import {
  createClient,
  errorsOf,
  labelsOf,
  type Client,
  type Failed,
  type Outcome,
  type RunOptions,
} from '../client/index.js'
import { rateAt, type Load } from './load.js'
import { splitNamespace } from './namespace.js'
import { TransactionCounts } from './transaction-counts.js'
import type { ScenarioWorld } from './world.js'

/** Interval at which a rate of zero is read again. */
const lookMs = 1000
/** Further operations fail. */
const inFlightMax = 20_000
/** For operations beyond {@link inFlightMax}. */
const notSentCode = -1

interface Stream {
  readonly source: StreamSource
  readonly keys: ReadonlyMap<string, Keys>
  readonly maker: DocumentMaker
  readonly random: Random
  rate: StreamSource['rate']
}

export class Workload implements Load {
  readonly #world: ScenarioWorld
  /** One client stands for many: it has a connection per operation in flight. */
  readonly #client: Client
  readonly #streams: readonly Stream[]
  readonly #beginMs: number
  readonly #latencies: number[] = []
  readonly errors: Record<string, number> = {}
  readonly transactions = new TransactionCounts()
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
    this.#streams = scenario.workload.map((source, i) => ({
      source,
      keys: fieldKeysOf(source.fields),
      maker: world.makers.get(source.ns)!,
      random: world.random.fork(`workload ${i}`),
      rate: source.rate,
    }))
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

  setRate(ns: string, name: string | undefined, rate: StreamSource['rate']): void {
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
      failure = await this.#operation(stream)
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

  async #operation(stream: Stream): Promise<Failure | null> {
    const shape = chosenShape(stream.source.shapes, stream.random)
    if (shape.do === 'expire') throw new Error('documents expire only in mode metadata')
    if (shape.statements !== undefined) return this.#transaction(stream, shape, shape.statements)
    return failureOf(await this.#run(stream, shape as Statement, () => stream.random.fraction(), {}))
  }

  async #transaction(stream: Stream, { same }: Shape, statements: readonly Statement[]): Promise<Failure | null> {
    const session = this.#client.startSession()
    const options = { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } }
    const body = async (): Promise<Failed | null> => {
      const fractionOf = drawnOnce(same, () => stream.random.fraction())
      for (const statement of statements) {
        const outcome = await this.#run(stream, statement, fractionOf, { session })
        const failed = failedOf(outcome)
        if (failed !== null) return failed
      }
      return null
    }
    const outcome = await this.#client.withTransaction(session, body, options)
    session.end()
    if (!this.#ended) this.transactions.note(outcome)
    return outcome.failure === null ? null : failureOf(outcome.failure)
  }

  #run(
    { source, keys, maker }: Stream,
    statement: Statement,
    fractionOf: (field: string) => number,
    options: RunOptions,
  ): Promise<Outcome> {
    const [db, name] = splitNamespace(source.ns)
    const draw = (field: string): FieldDraw => ({
      keys: keys.get(field),
      progress: maker.progressOf(field),
      u: fractionOf(field),
    })
    const filter = () => filterOf(statement, draw)
    const send = (command: Document, sequence: string, document: Uint8Array): Promise<Outcome> =>
      this.#client.run({ ...command, $db: db }, { ...options, sequences: [[sequence, [document]]] })
    switch (statement.do) {
      case 'insert':
        return send({ insert: name }, 'documents', maker.make(keys, source.documentSize))
      case 'find': {
        const { limit } = statement
        const partial = source.allowPartialResults ? { allowPartialResults: true } : {}
        const find = { find: name, filter: filter(), limit, batchSize: limit, singleBatch: true, ...partial, $db: db }
        return this.#client.run(find, options)
      }
      case 'updateOne':
      case 'updateMany': {
        const update = encode({ q: filter(), u: { $inc: { updates: 1 } }, multi: statement.do === 'updateMany' })
        return send({ update: name }, 'updates', update)
      }
      case 'deleteOne':
      case 'deleteMany': {
        const remove = encode({ q: filter(), limit: statement.do === 'deleteOne' ? 1 : 0 })
        return send({ delete: name }, 'deletes', remove)
      }
    }
  }
}

function chosenShape(shapes: readonly Shape[], random: Random): Shape {
  let left = random.fraction()
  for (const shape of shapes) {
    left -= shape.share
    if (left < 0) return shape
  }
  return shapes.at(-1)!
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

/** Also for errors of single statements. */
function failedOf(outcome: Outcome): Failed | null {
  if (!outcome.ok) return outcome
  const { reply, from, attempts } = outcome
  const error = errorsOf(reply)[0]
  if (error === undefined) return null
  const { code, message } = { code: Number(error['code']), message: String(error['errmsg']) }
  return {
    ok: false,
    kind: 'command',
    code,
    message,
    labels: labelsOf(reply),
    reply,
    from,
    attempts,
    mayHaveActed: true,
  }
}
