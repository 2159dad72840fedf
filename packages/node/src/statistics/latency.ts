/** How long operations took, by class, with a histogram. Server: operation_latency_histogram.cpp. */
import type { DocumentWriter } from '@shardlab/bson'

export type LatencyClass = 'reads' | 'writes' | 'commands' | 'transactions'

/** Classes in the order of reports. */
const classes: readonly LatencyClass[] = ['reads', 'writes', 'commands', 'transactions']

interface Latency {
  micros: number
  operations: number
  /** Operations by the lower bound of their bucket, in microseconds. */
  readonly buckets: Map<number, number>
}

const readCommands: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct', 'getMore', 'explain'])
const writeCommands: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'findAndModify', 'bulkWrite'])

export class Latencies {
  readonly #sums: Readonly<Record<LatencyClass, Latency>> = {
    reads: emptyLatency(),
    writes: emptyLatency(),
    commands: emptyLatency(),
    transactions: emptyLatency(),
  }

  add(kind: LatencyClass, micros: number): void {
    const latency = this.#sums[kind]
    latency.operations++
    latency.micros += micros
    const bound = bucketOf(micros)
    latency.buckets.set(bound, (latency.buckets.get(bound) ?? 0) + 1)
  }

  /** Appends a document for each class. */
  write(writer: DocumentWriter, histograms: boolean): DocumentWriter {
    for (const kind of classes) {
      const { micros, operations, buckets } = this.#sums[kind]
      writer.startDocument(kind)
      if (histograms) {
        writer.startArray('histogram')
        const bounds = [...buckets.keys()].sort((a, b) => a - b)
        bounds.forEach((bound, i) => writer.startDocument(String(i)).int64('micros', bound).int64('count', buckets.get(bound)!).end())
        writer.end()
      }
      writer.int64('latency', micros).int64('ops', operations).end()
    }
    return writer
  }
}

/** Lower bound of the bucket: a power of two, with a bucket between each two from 2048 to 2 097 152 microseconds. */
function bucketOf(micros: number): number {
  if (micros < 2) return 0
  const power = 2 ** Math.min(40, Math.floor(Math.log2(micros)))
  return power >= 2048 && power < 2_097_152 && micros >= power * 1.5 ? power * 1.5 : power
}

export function latencyClassOf(command: string): LatencyClass {
  return readCommands.has(command) ? 'reads' : writeCommands.has(command) ? 'writes' : 'commands'
}

function emptyLatency(): Latency {
  return { micros: 0, operations: 0, buckets: new Map() }
}
