/**
 * The counters of a member for serverStatus. Server: counters.cpp, service_latency_tracker.cpp,
 * top.cpp.
 */
import { BsonType, ErrorCodes, findField, firstFieldName, type CommandError, type DocumentWriter } from '@shardlab/bson'
import { Latencies, latencyClassOf } from './latency.js'

/** Commands that count as statements or queries, not as commands. */
const countedOtherwise: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'find', 'getMore', 'bulkWrite'])

/** Most collections with latencies; the oldest entry is dropped first. */
const namespacesMax = 10_000
/** Length of the header, flags and section kind of an OP_MSG. */
const messageOverheadBytes = 21

export class MemberStatistics {
  readonly opcounters = { insert: 0, query: 0, update: 0, delete: 0, getmore: 0, command: 0 }
  readonly network = { bytesIn: 0, bytesOut: 0, requests: 0 }
  readonly latencies = new Latencies()
  /** Failed commands. */
  userAsserts = 0
  unknownCommands = 0
  /** Commands that failed with StaleConfig. */
  staleConfigErrors = 0
  readonly #commands = new Map<string, { failed: number; total: number }>()
  readonly #namespaces = new Map<string, Latencies>()

  /** Counts a command that begins. */
  commandBegins(name: string): void {
    const counts = this.#commands.get(name)
    if (counts === undefined) this.#commands.set(name, { failed: 0, total: 1 })
    else counts.total++
    if (!countedOtherwise.has(name)) this.opcounters.command++
  }

  /** Number of commands of this name that have begun. */
  commandCount(name: string): number {
    return this.#commands.get(name)?.total ?? 0
  }

  /**
   * Counts a command that has ended. `error` null: it succeeded. `ns` null: it names no collection.
   */
  commandEnds(name: string, ns: string | null, durationMs: number, error: CommandError | null): void {
    if (error !== null) {
      this.#commands.get(name)!.failed++
      this.userAsserts++
      if (error.code === ErrorCodes.StaleConfig) this.staleConfigErrors++
    }
    const kind = latencyClassOf(name)
    this.latencies.add(kind, durationMs * 1000)
    if (ns === null) return
    this.#ofNamespace(ns).add(kind, durationMs * 1000)
  }

  /** Counts a message of a client and its reply. */
  exchanged(bytesIn: number, bytesOut: number): void {
    this.network.requests++
    this.network.bytesIn += bytesIn + messageOverheadBytes
    this.network.bytesOut += bytesOut + messageOverheadBytes
  }

  /** Latencies of one collection since the member started. */
  namespaceLatencies(ns: string): Latencies {
    return this.#namespaces.get(ns) ?? new Latencies()
  }

  /** Removes the latencies of a collection that was dropped. */
  namespaceDropped(ns: string): void {
    this.#namespaces.delete(ns)
  }

  /** Appends `{ failed, total }` per command, in the order of `names`. */
  writeCommands(writer: DocumentWriter, names: readonly string[]): DocumentWriter {
    writer.int64('<UNKNOWN>', this.unknownCommands)
    for (const name of names) {
      const { failed, total } = this.#commands.get(name) ?? { failed: 0, total: 0 }
      writer.startDocument(name).int64('failed', failed).int64('total', total).end()
    }
    return writer
  }

  #ofNamespace(ns: string): Latencies {
    let latencies = this.#namespaces.get(ns)
    if (latencies === undefined) {
      if (this.#namespaces.size >= namespacesMax) this.#namespaces.delete(this.#namespaces.keys().next().value!)
      this.#namespaces.set(ns, (latencies = new Latencies()))
    }
    return latencies
  }
}

/**
 * The collection that a command names in its first field, or getMore in `collection`; null: none.
 */
export function namespaceOf(db: string, body: Uint8Array): string | null {
  const name = firstFieldName(body)
  if (name === undefined) return null
  let target = findField(body, name)
  if (target?.type === BsonType.int64 && name === 'getMore') target = findField(body, 'collection')
  return target?.type === BsonType.string ? `${db}.${target.asString()}` : null
}

/** Bytes of the sections of a message. */
export function bytesOfMessage(
  body: Uint8Array,
  sequences: readonly (readonly [string, readonly Uint8Array[]])[],
): number {
  let bytes = body.length
  for (const [name, documents] of sequences) {
    bytes += 6 + name.length
    for (const document of documents) bytes += document.length
  }
  return bytes
}
