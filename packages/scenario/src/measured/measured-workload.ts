/** In mode `metadata` operations and their targets are computed, not run. */
import type { CollectionPlacement, EmulatedVersion } from '@shardlab/sharding'
import { asError } from '../run/failure.js'
import type { Scenario } from '../file/parse.js'
import type { Shape, Stream as StreamSource } from '../file/application.js'
import { fieldKeysOf, type Keys } from '../keys/keys.js'
import { rateAt, type Load } from '../run/load.js'
import type { Routed } from '../run/routed.js'
import type { ScenarioWorld } from '../run/world.js'
import { targetsOf, type ShapeTargets } from '../routing/shape-targets.js'
import type { Weighted } from './key-space.js'
import type { MeasuredCollection } from './measured-collection.js'

/**
 * Interval between two computations, as a share of the duration, unless samples are more frequent.
 */
const whileShare = 1 / 500
const whileMs = { least: 1000, most: 10 * 60_000 } as const
/** FailedToSatisfyReadPreference: a router's error when a shard has no primary. */
const shardDownCode = 133
/** The client reaches no router. */
const noRouterCode = 0

/** Targets are computed again when there are so many more documents. */
const growthOfTargets = 1.01

export function computedEveryMs({ tick, duration }: Pick<Scenario, 'tick' | 'duration'>): number {
  return Math.min(tick ?? duration, whileMs.most, Math.max(whileMs.least, duration * whileShare))
}

interface Stream {
  readonly source: StreamSource
  readonly collection: MeasuredCollection
  readonly keys: ReadonlyMap<string, Keys>
  readonly documentBytes: number
  rate: StreamSource['rate']
  /** By shape: fractions of operations that are due. */
  readonly due: Map<Shape, number>
  /**
   * Inserted documents whose range has moved since: a router resends them to the new owner. Of an
   * expiry, documents that were not found.
   */
  late: number
  /** Valid while placement and sizes stay about the same. */
  readonly targets: Map<Shape, KnownTargets>
}

interface KnownTargets {
  readonly placement: CollectionPlacement
  readonly documents: number
  readonly targets: ShapeTargets
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
    this.#whileMs = computedEveryMs(scenario)
    this.#streams = scenario.workload.map((source): Stream => {
      const collection = world.measured.get(source.ns)!
      return {
        source,
        collection,
        keys: fieldKeysOf(source.fields),
        documentBytes: collection.documentBytes(source.fields, source.documentSize),
        rate: source.rate,
        due: new Map(),
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

  setRate(ns: string, name: string | undefined, rate: StreamSource['rate']): void {
    this.#look()
    for (const stream of this.#streams)
      if (stream.source.ns === ns && (name === undefined || stream.source.name === name)) stream.rate = rate
  }

  readonly transactions = null

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
    const counts = source.shapes.map((shape) => {
      const all = (due.get(shape) ?? 0) + operations * shape.share
      // A sum of fractions just below an integer counts as that integer.
      const count = Math.floor(all + 1e-6)
      due.set(shape, all - count)
      return [shape, count] as const
    })
    await collection.owners()
    const down = await this.#down()
    for (const [shape, count] of counts) {
      if (count === 0) continue
      if (shape.do === 'expire') {
        const documents = count + stream.late
        stream.late = 0
        const oldest = () => collection.placeExpired(collection.weights(source.fields), documents)
        await this.#delete(stream, oldest, documents, (missed) => {
          stream.late += missed
        })
        continue
      }
      this.total += count
      if (!this.#hasRouter()) {
        this.#fail(noRouterCode, count)
        continue
      }
      const isRead = shape.do === 'find'
      const targets = this.#targetsOf(shape, stream)
      this.#note(targets, count, isRead && source.allowPartialResults ? new Set() : down)
      if (shape.do === 'insert') await this.#insert(stream, count, down)
      else if (shape.do === 'deleteOne') {
        const deleted = Math.round(count * (1 - targets.kinds.refused))
        await this.#delete(stream, () => collection.placeDeleted(collection.weights(source.fields)), deleted)
      }
    }
  }

  #targetsOf(shape: Shape, stream: Stream): ShapeTargets {
    const { collection, keys } = stream
    const { documents } = collection.progressOf('_id')
    const placement = collection.placement!
    const known = stream.targets.get(shape)
    if (known?.placement === placement && documents < known.documents * growthOfTargets) return known.targets
    const { cluster, scenario } = this.#world
    const targets = targetsOf({
      emulate: scenario.emulate as EmulatedVersion,
      shape,
      fields: keys,
      progressOf: (field) => collection.progressOf(field),
      placement,
      allShards: cluster.shards,
    })
    stream.targets.set(shape, { placement, documents, targets })
    return targets
  }

  async #insert(stream: Stream, count: number, down: ReadonlySet<string>): Promise<void> {
    const { source, collection, documentBytes } = stream
    const documents = count + stream.late
    stream.late = 0
    const owners = await collection.owners()
    const places = collection.place(collection.weights(source.fields), documents)
    const ranges = collection.rangesOf(owners, places, documents, documentBytes)
    for (const [shard, each] of ranges) {
      if (down.has(shard)) continue
      const wanted = each.reduce((sum, { documents }) => sum + documents, 0)
      void collection.change(shard, each, true).then(
        (taken) => (stream.late += wanted - taken),
        (error: unknown) => (this.#failure ??= asError(error)),
      )
    }
  }

  /**
   * A shard without a primary deletes nothing.
   * @param places under the key of the last look at the catalog
   * @param onMissed gets the number of documents that do not exist
   */
  async #delete(
    { collection, documentBytes }: Stream,
    places: () => readonly Weighted[],
    count: number,
    onMissed: (documents: number) => void = () => {},
  ): Promise<void> {
    if (count === 0) return
    const down = await this.#down()
    const owners = await collection.owners()
    for (const [shard, each] of collection.rangesOf(owners, places(), count, documentBytes)) {
      if (down.has(shard)) continue
      const negative = each.map((range) => ({ ...range, documents: -range.documents, bytes: -range.bytes }))
      const wanted = each.reduce((sum, { documents }) => sum + documents, 0)
      void collection.change(shard, negative, true).then(
        (deleted) => onMissed(wanted - deleted),
        (error: unknown) => (this.#failure ??= asError(error)),
      )
    }
  }

  #note({ kinds, perShard, refusedCode, failing }: ShapeTargets, count: number, down: ReadonlySet<string>): void {
    for (const kind of ['targeted', 'multi', 'broadcast'] as const) this.#routed.count(kind, kinds[kind] * count)
    for (const [shard, share] of perShard) this.#routed.ask(shard, share * count)
    if (refusedCode !== null) this.#fail(refusedCode, kinds.refused * count)
    if (down.size > 0) this.#fail(shardDownCode, failing(down) * count)
  }

  #fail(code: number, count: number): void {
    if (count > 0) this.#failedByCode.set(code, (this.#failedByCode.get(code) ?? 0) + count)
  }

  /** Without a primary. */
  async #down(): Promise<Set<string>> {
    const { cluster, sets } = this.#world
    const down = new Set<string>()
    for (const shard of cluster.shards) if ((await sets.primaryOf(shard)) === null) down.add(shard)
    return down
  }

  #hasRouter(): boolean {
    return this.#world.cluster.members().some(({ role, state }) => role === 'mongos' && state === 'running')
  }
}

function operationsBetween({ source, rate }: Stream, fromMs: number, toMs: number): number {
  const [begin, end] = [Math.max(fromMs, source.from), Math.min(toMs, source.to ?? toMs)]
  return end <= begin ? 0 : (rateAt(rate, (begin + end) / 2) * (end - begin)) / 1000
}
