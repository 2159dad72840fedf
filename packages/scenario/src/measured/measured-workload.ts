/** In mode `metadata` operations and their targets are computed, not run. */
import { asError } from '../run/failure.js'
import type { Scenario } from '../file/parse.js'
import { operationNames, type OperationName, type WorkloadSource } from '../file/schema.js'
import type { KeyWeights } from '../keys/key-weights.js'
import { rateAt, type Load } from '../run/load.js'
import type { Routed } from '../run/routed.js'
import type { ScenarioWorld } from '../run/world.js'
import type { MeasuredCollection } from './measured-collection.js'
import type { Owners } from './owners.js'
import { inserted, targetsOf, type Targets } from './targets.js'

/**
 * Interval between two computations, as a share of the duration, unless samples are more frequent.
 */
const whileShare = 1 / 500
const whileMs = { least: 1000, most: 10 * 60_000 } as const
/** FailedToSatisfyReadPreference: a router's error when a shard is down. */
const shardDownCode = 133
/** The client reaches no router. */
const noRouterCode = 0

interface Stream {
  readonly source: WorkloadSource
  readonly collection: MeasuredCollection
  readonly weights: KeyWeights
  readonly documentBytes: number
  rate: WorkloadSource['rate']
  /** Fractions of operations that are due. */
  readonly due: Record<OperationName, number>
  /** Inserted documents whose range has moved since: a router resends them to the new owner. */
  late: number
  /** Valid while owners and sizes stay the same. */
  readonly targets: Map<OperationName, { readonly owners: Owners; readonly targets: Targets }>
}

export class MeasuredWorkload implements Load {
  readonly #world: ScenarioWorld
  readonly #routed: Routed
  readonly #streams: readonly Stream[]
  readonly #beginMs: number
  readonly #durationMs: number
  readonly #whileMs: number
  readonly #failedByCode = new Map<number, number>()
  total = 0
  #lastMs = 0
  #ended = false
  #failure: Error | null = null

  constructor(world: ScenarioWorld, scenario: Scenario, routed: Routed) {
    this.#world = world
    this.#routed = routed
    this.#beginMs = world.cluster.now()
    this.#durationMs = scenario.duration
    this.#whileMs = Math.min(
      scenario.tick ?? scenario.duration,
      whileMs.most,
      Math.max(whileMs.least, scenario.duration * whileShare),
    )
    this.#streams = scenario.workload.map((source): Stream => {
      const collection = world.measured.get(source.ns)!
      return {
        source,
        collection,
        weights: collection.weights(source.keys),
        documentBytes: collection.documentBytes(source.keys, source.documentSize),
        rate: source.rate,
        due: { insert: 0, findByKey: 0, findRange: 0, findOther: 0, updateByKey: 0 },
        late: 0,
        targets: new Map(),
      }
    })
  }

  get failed(): number {
    return [...this.#failedByCode.values()].reduce((sum, each) => sum + Math.round(each), 0)
  }

  get succeeded(): number {
    return this.total - this.failed
  }

  get errors(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      [...this.#failedByCode].map(([code, count]) => [code, Math.round(count)]).filter(([, count]) => count! > 0),
    )
  }

  begin(): void {
    if (this.#streams.length > 0) this.#later()
  }

  end(): void {
    this.#ended = true
    this.check()
  }

  check(): void {
    if (this.#failure !== null) throw this.#failure
  }

  setRate(ns: string, name: string | undefined, rate: WorkloadSource['rate']): void {
    this.#look()
    for (const stream of this.#streams)
      if (stream.source.ns === ns && (name === undefined || stream.source.name === name)) stream.rate = rate
  }

  latencies(): null {
    return null
  }

  /** The last interval covers the rest of the duration. */
  #later(): void {
    const leftMs = this.#durationMs - (this.#world.cluster.now() - this.#beginMs)
    if (leftMs <= 0) return
    this.#world.cluster.alarm(Math.min(this.#whileMs, leftMs), () => {
      if (this.#ended) return
      this.#look()
      this.#later()
    })
  }

  #look(): void {
    const now = this.#world.cluster.now() - this.#beginMs
    for (const stream of this.#streams) {
      const operations = operationsBetween(stream, this.#lastMs, now)
      if (operations > 0) this.#play(stream, operations).catch((error: unknown) => (this.#failure ??= asError(error)))
    }
    this.#lastMs = now
  }

  /** @param operations may be fractional */
  async #play(stream: Stream, operations: number): Promise<void> {
    const { source, collection, due } = stream
    const counts = operationNames.map((name) => {
      due[name] += operations * source.mix[name]
      // A sum of fractions just below an integer counts as that integer.
      const count = Math.floor(due[name] + 1e-6)
      due[name] -= count
      return [name, count] as const
    })
    const owners = await collection.owners()
    const down = this.#down()
    for (const [name, count] of counts) {
      if (count === 0) continue
      this.total += count
      if (!this.#hasRouter()) this.#fail(noRouterCode, count)
      else if (name === 'insert') await this.#insert(stream, count, down)
      else {
        const takesWhatItGets = source.allowPartialResults && name !== 'updateByKey'
        this.#note(this.#targetsOf(name, stream, owners), count, takesWhatItGets ? new Set() : down)
      }
    }
  }

  #targetsOf(name: Exclude<OperationName, 'insert'>, stream: Stream, owners: Owners): Targets {
    const { source, collection, weights } = stream
    const known = stream.targets.get(name)
    if (known?.owners === owners && !weights.isMonotonic && !collection.space.isCompound) return known.targets
    const targets = targetsOf(name, source, collection, owners, weights)
    stream.targets.set(name, { owners, targets })
    return targets
  }

  async #insert(stream: Stream, count: number, down: ReadonlySet<string>): Promise<void> {
    const { collection, weights, documentBytes } = stream
    const documents = count + stream.late
    stream.late = 0
    const ranges = collection.rangesOf(
      await collection.owners(),
      collection.place(weights, documents),
      documents,
      documentBytes,
    )
    this.#note(inserted(ranges, documents), count, down)
    for (const [shard, each] of ranges) {
      if (down.has(shard)) continue
      const wanted = each.reduce((sum, { documents }) => sum + documents, 0)
      void collection.grow(shard, each, true).then(
        (taken) => (stream.late += wanted - taken),
        (error: unknown) => (this.#failure ??= asError(error)),
      )
    }
  }

  #note({ kinds, perShard, failing }: Targets, count: number, down: ReadonlySet<string>): void {
    for (const kind of ['targeted', 'multi', 'broadcast'] as const) this.#routed.count(kind, kinds[kind] * count)
    for (const [shard, share] of perShard) this.#routed.ask(shard, share * count)
    if (down.size > 0) this.#fail(shardDownCode, failing(down) * count)
  }

  #fail(code: number, count: number): void {
    if (count > 0) this.#failedByCode.set(code, (this.#failedByCode.get(code) ?? 0) + count)
  }

  #down(): Set<string> {
    const members = this.#world.cluster.members()
    return new Set(
      members.filter(({ role, state }) => role === 'shard' && state !== 'running').map(({ address }) => address),
    )
  }

  #hasRouter(): boolean {
    return this.#world.cluster.members().some(({ role, state }) => role === 'mongos' && state === 'running')
  }
}

function operationsBetween({ source, rate }: Stream, fromMs: number, toMs: number): number {
  const [begin, end] = [Math.max(fromMs, source.from), Math.min(toMs, source.to ?? toMs)]
  return end <= begin ? 0 : (rateAt(rate, (begin + end) / 2) * (end - begin)) / 1000
}
