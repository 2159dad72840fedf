/** Counts the samples of this member. Server: query_analysis_sample_tracker.cpp. */
import { DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import type { ShardLabel } from '../operations/shard-label.js'
import type { SamplingReport } from './sampling-report.js'

interface Counters {
  count: number
  bytes: number
}

interface TrackedCollection {
  readonly ns: string
  readonly uuid: Uint8Array
  samplesPerSecond: number
  startedAtMs: number
  readonly reads: Counters
  readonly writes: Counters
}

/** A router reports its sampling rate; a storage node reports the bytes that it stores. */
export class SampleTracker implements SamplingReport {
  #collections = new Map<string, TrackedCollection>()
  readonly #everSampled = new Set<string>()
  readonly #reads: Counters = { count: 0, bytes: 0 }
  readonly #writes: Counters = { count: 0, bytes: 0 }
  readonly #isRouter: boolean

  constructor(member: 'mongos' | 'mongod') {
    this.#isRouter = member === 'mongos'
  }

  get isActive(): boolean {
    return this.#collections.size > 0
  }

  tracks(ns: string, uuid: Uint8Array): boolean {
    const known = this.#collections.get(ns)
    return known !== undefined && sameBytes(known.uuid, uuid)
  }

  /**
   * @param configurations reply of config.refresh-query-analyzer; sampling ends for collections
   *   that are absent
   */
  use(configurations: readonly Uint8Array[]): void {
    const collections = new Map<string, TrackedCollection>()
    for (const configuration of configurations) {
      const ns = findField(configuration, 'ns')!.asString()
      const id = findField(configuration, 'collectionUuid')!
      const uuid = id.asBinary().slice()
      const samplesPerSecond = findField(configuration, 'samplesPerSecond')!.asNumber()
      const startedAtMs = dateOf(configuration, 'startTime')
      const known = this.tracks(ns, uuid) ? this.#collections.get(ns)! : null
      if (known !== null) Object.assign(known, { samplesPerSecond, startedAtMs })
      const none = () => ({ count: 0, bytes: 0 })
      collections.set(ns, known ?? { ns, uuid, samplesPerSecond, startedAtMs, reads: none(), writes: none() })
      this.#everSampled.add(ns)
    }
    this.#collections = collections
  }

  count(ns: string, kind: 'reads' | 'writes', bytes: number): void {
    const total = kind === 'reads' ? this.#reads : this.#writes
    total.count++
    total.bytes += bytes
    const own = this.#collections.get(ns)?.[kind]
    if (own === undefined) return
    own.count++
    own.bytes += bytes
  }

  operations(shard: ShardLabel): Uint8Array[] {
    return [...this.#collections.values()].map(({ ns, uuid, samplesPerSecond, startedAtMs, reads, writes }) => {
      const writer = new DocumentWriter(256)
      if (shard !== null) writer.string('shard', shard)
      writer.string('desc', 'query analyzer').string('ns', ns).uuid('collUuid', uuid)
      if (this.#isRouter) writer.double('samplesPerSecond', samplesPerSecond)
      writer.date('startTime', startedAtMs).int64('sampledReadsCount', reads.count)
      if (!this.#isRouter) writer.int64('sampledReadsBytes', reads.bytes)
      writer.int64('sampledWritesCount', writes.count)
      if (!this.#isRouter) writer.int64('sampledWritesBytes', writes.bytes)
      return writer.finish()
    })
  }

  writeStatus(writer: DocumentWriter): void {
    writer
      .int64('activeCollections', this.#collections.size)
      .int64('totalCollections', this.#everSampled.size)
      .int64('totalSampledReadsCount', this.#reads.count)
      .int64('totalSampledWritesCount', this.#writes.count)
    if (this.#isRouter) return
    writer.int64('totalSampledReadsBytes', this.#reads.bytes).int64('totalSampledWritesBytes', this.#writes.bytes)
  }
}

function dateOf(document: Uint8Array, name: string): number {
  const value = findField(document, name)!
  return Number(Buffer.from(value.bytes.buffer, value.bytes.byteOffset).readBigInt64LE(value.start))
}
