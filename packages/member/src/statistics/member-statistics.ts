/** Server: counters.cpp, service_latency_tracker.cpp. */
import { BsonType, ErrorCodes, findField, firstFieldName, type CommandError, type DocumentWriter } from '@shardlab/bson'
import { Latencies, latencyClassOf } from './latency.js'

/** Commands that count as statements or queries, not as commands. */
const countedOtherwise: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'find', 'getMore', 'bulkWrite'])

/** Header, flags and section kind of an OP_MSG. */
const messageOverheadBytes = 21

export class MemberStatistics {
  readonly opcounters = { insert: 0, query: 0, update: 0, delete: 0, getmore: 0, command: 0 }
  readonly network = { bytesIn: 0, bytesOut: 0, requests: 0 }
  readonly latencies = new Latencies()
  /** Failed commands. */
  userAsserts = 0
  unknownCommands = 0
  staleConfigErrors = 0
  readonly #commands = new Map<string, { failed: number; total: number }>()

  commandBegins(name: string): void {
    const counts = this.#commands.get(name)
    if (counts === undefined) this.#commands.set(name, { failed: 0, total: 1 })
    else counts.total++
    if (!countedOtherwise.has(name)) this.opcounters.command++
  }

  commandCount(name: string): number {
    return this.#commands.get(name)?.total ?? 0
  }

  /**
   * @param ns null: the command names no collection. Only shards count by collection.
   * @param error null: it succeeded
   */
  commandEnds(name: string, _ns: string | null, durationMs: number, error: CommandError | null): void {
    if (error !== null) {
      this.#commands.get(name)!.failed++
      this.userAsserts++
      if (error.code === ErrorCodes.StaleConfig) this.staleConfigErrors++
    }
    this.latencies.add(latencyClassOf(name), durationMs * 1000)
  }

  exchanged(bytesIn: number, bytesOut: number): void {
    this.network.requests++
    this.network.bytesIn += bytesIn + messageOverheadBytes
    this.network.bytesOut += bytesOut + messageOverheadBytes
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
}

/** Named in the first field, for getMore in `collection`; null: none */
export function namespaceOf(db: string, body: Uint8Array): string | null {
  const name = firstFieldName(body)
  if (name === undefined) return null
  let target = findField(body, name)
  if (target?.type === BsonType.int64 && name === 'getMore') target = findField(body, 'collection')
  return target?.type === BsonType.string ? `${db}.${target.asString()}` : null
}

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
