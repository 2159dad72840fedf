/** Since the start of the member. Manual: reference/command/top. Server: top.cpp. */
import type { DocumentWriter } from '@shardlab/bson'

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
type Usage = Record<UsageKind, { micros: number; count: number }>

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

function count(of: Usage[UsageKind], micros: number): void {
  of.count++
  of.micros += micros
}

export class CollectionUsage {
  readonly #namespaces = new Map<string, Usage>()
  #lastDropped: string | null = null

  add(ns: string, command: string, micros: number): void {
    const operation = operations[command] ?? 'commands'
    if (ns === this.#lastDropped && (operation === 'commands' || operation === 'queries')) {
      this.#lastDropped = null
      return
    }
    const usage = this.#of(ns)
    count(usage.total, micros)
    count(readers.has(command) ? usage.readLock : usage.writeLock, micros)
    count(usage[operation], micros)
  }

  /** The command that dropped the collection is not counted for it either. */
  dropped(ns: string): void {
    this.#namespaces.delete(ns)
    this.#lastDropped = ns
  }

  /**
   * Appends `{ total: { time, count }, … }` for each collection, by name; times in microseconds.
   */
  write(writer: DocumentWriter): DocumentWriter {
    for (const [ns, usage] of [...this.#namespaces].sort(([a], [b]) => (a < b ? -1 : 1))) {
      writer.startDocument(ns)
      for (const kind of kinds)
        writer.startDocument(kind).int64('time', usage[kind].micros).int64('count', usage[kind].count).end()
      writer.end()
    }
    return writer
  }

  #of(ns: string): Usage {
    let usage = this.#namespaces.get(ns)
    if (usage === undefined) {
      if (this.#namespaces.size >= namespacesMax) this.#namespaces.delete(this.#namespaces.keys().next().value!)
      usage = Object.fromEntries(kinds.map((kind) => [kind, { micros: 0, count: 0 }])) as Usage
      this.#namespaces.set(ns, usage)
    }
    return usage
  }
}
