/** Since the start of the member. Manual: reference/command/top. Server: top.cpp. */
import type { DocumentWriter } from '@shardlab/bson'
import { Latencies, latencyClassOf } from '@shardlab/member'

/** In the order of the report. */
const kinds = [
  'total',
  'readLock',
  'writeLock',
  'queries',
  'getmore',
  'insert',
  'update',
  'remove',
  'commands',
] as const
type UsageKind = (typeof kinds)[number]

interface Usage {
  /** Absent: 0. */
  readonly counts: Partial<Record<UsageKind, { micros: number; count: number }>>
  readonly latencies: Latencies
}

const operations: Readonly<Record<string, UsageKind>> = {
  find: 'queries',
  getMore: 'getmore',
  insert: 'insert',
  update: 'update',
  delete: 'remove',
}
const readers: ReadonlySet<string> = new Set([
  'find',
  'getMore',
  'count',
  'distinct',
  'aggregate',
  'explain',
  'listIndexes',
  'collStats',
  'dataSize',
])

/** The collection seen first is dropped first. */
const namespacesMax = 10_000
/** A drop by another command leaves its name here. */
const droppedMax = 100

function count({ counts }: Usage, kind: UsageKind, micros: number): void {
  const sum = (counts[kind] ??= { micros: 0, count: 0 })
  sum.count++
  sum.micros += micros
}

export class CollectionUsage {
  readonly #namespaces = new Map<string, Usage>()
  /** Their commands have not ended. */
  readonly #dropped = new Set<string>()

  add(ns: string, command: string, micros: number): void {
    const operation = operations[command] ?? 'commands'
    if (operation === 'commands' && this.#dropped.delete(ns)) return
    const usage = this.#of(ns)
    count(usage, 'total', micros)
    count(usage, readers.has(command) ? 'readLock' : 'writeLock', micros)
    count(usage, operation, micros)
    usage.latencies.add(latencyClassOf(command), micros)
  }

  /** The command that dropped the collection is not counted for it either. */
  dropped(ns: string): void {
    this.#namespaces.delete(ns)
    if (this.#dropped.size >= droppedMax) this.#dropped.delete(this.#dropped.keys().next().value!)
    this.#dropped.add(ns)
  }

  latenciesOf(ns: string): Latencies {
    return this.#namespaces.get(ns)?.latencies ?? new Latencies()
  }

  /**
   * Appends `{ total: { time, count }, … }` for each collection, by name; times in microseconds.
   */
  write(writer: DocumentWriter): DocumentWriter {
    for (const [ns, usage] of [...this.#namespaces].sort(([a], [b]) => (a < b ? -1 : 1))) {
      writer.startDocument(ns)
      for (const kind of kinds) {
        const { micros, count } = usage.counts[kind] ?? { micros: 0, count: 0 }
        writer.startDocument(kind).int64('time', micros).int64('count', count).end()
      }
      writer.end()
    }
    return writer
  }

  #of(ns: string): Usage {
    let usage = this.#namespaces.get(ns)
    if (usage === undefined) {
      if (this.#namespaces.size >= namespacesMax) this.#namespaces.delete(this.#namespaces.keys().next().value!)
      usage = { counts: {}, latencies: new Latencies() }
      this.#namespaces.set(ns, usage)
    }
    return usage
  }
}
