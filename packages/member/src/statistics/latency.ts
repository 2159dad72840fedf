/** Server: operation_latency_histogram.cpp. */
import type { DocumentWriter } from '@shardlab/bson'

export type LatencyClass = 'reads' | 'writes' | 'commands' | 'transactions'

/** In the order of reports. */
const classes: readonly LatencyClass[] = ['reads', 'writes', 'commands', 'transactions']

interface Latency {
  micros: number
  operations: number
  /** Operations by bucket number; undefined: 0. */
  readonly buckets: number[]
}

const classOf: ReadonlyMap<string, LatencyClass> = new Map([
  ...['find', 'aggregate', 'count', 'distinct', 'getMore', 'explain'].map((name) => [name, 'reads'] as const),
  ...['insert', 'update', 'delete', 'findAndModify', 'bulkWrite'].map((name) => [name, 'writes'] as const),
])

export class Latencies {
  readonly #sums: Partial<Record<LatencyClass, Latency>> = {}

  add(kind: LatencyClass, micros: number): void {
    const latency = (this.#sums[kind] ??= emptyLatency())
    latency.operations++
    latency.micros += micros
    const bucket = bucketOf(micros)
    latency.buckets[bucket] = (latency.buckets[bucket] ?? 0) + 1
  }

  write(writer: DocumentWriter, histograms: boolean): DocumentWriter {
    for (const kind of classes) {
      const { micros, operations, buckets } = this.#sums[kind] ?? emptyLatency()
      writer.startDocument(kind)
      if (histograms) {
        writer.startArray('histogram')
        let shown = 0
        buckets.forEach((count, bucket) =>
          writer.startDocument(String(shown++)).int64('micros', lowerBoundOf(bucket)).int64('count', count).end(),
        )
        writer.end()
      }
      writer.int64('latency', micros).int64('ops', operations).end()
    }
    return writer
  }
}

/**
 * The bucket number: twice the exponent of the power of two at which the bucket begins. From 2048
 * to 2 097 152 microseconds each power has a second bucket, one number higher, that begins half way
 * to the next power.
 */
function bucketOf(micros: number): number {
  if (micros < 2) return 0
  const exponent = Math.min(40, Math.floor(Math.log2(micros)))
  const power = 2 ** exponent
  return exponent * 2 + (power >= 2048 && power < 2_097_152 && micros >= power * 1.5 ? 1 : 0)
}

function lowerBoundOf(bucket: number): number {
  return bucket === 0 ? 0 : 2 ** (bucket >> 1) * (bucket % 2 === 0 ? 1 : 1.5)
}

export function latencyClassOf(command: string): LatencyClass {
  return classOf.get(command) ?? 'commands'
}

function emptyLatency(): Latency {
  return { micros: 0, operations: 0, buckets: [] }
}
