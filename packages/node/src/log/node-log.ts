/**
 * The one log of a node: every change of documents and collections is an entry that is applied to the engine and
 * written to the disk. Recovery is replay; whatever must know what changed reads entries.
 */
import { DiskFullError, type ClusterClock, type Disk } from '@shardlab/actor'
import { findField, readUint32, writeInt32, type RawValue } from '@shardlab/bson'
import { decodeLogEntry, encodeLogEntry, type LogEntry, type StorageEngine } from '@shardlab/storage'
import { RetryHistory } from '../sessions/retry-history.js'
import { decodeSessionsImage, encodeSessionsImage } from './sessions-image.js'

/** Hears of every change after it was applied, in the same turn. `preImage`: the document before an update or delete, else null. */
export type ChangeObserver = (entry: LogEntry, preImage: Uint8Array | null) => void

/** The parts of an entry that its writer chooses; time and wall clock are added. */
export type LogChange = Pick<LogEntry, 'op' | 'ns' | 'uuid' | 'object' | 'id' | 'session'>

export interface NodeLogOptions {
  /** A checkpoint is written when the log on disk is larger than this and than twice the last checkpoint. */
  readonly checkpointAfterBytes: number
}

export class NodeLog {
  readonly #engine: StorageEngine
  readonly #disk: Disk
  readonly #clock: ClusterClock
  readonly #now: () => number
  readonly #retries: RetryHistory
  readonly #options: NodeLogOptions
  /** Whoever follows what changes while it does; recovery tells nobody. */
  readonly observers = new Set<ChangeObserver>()
  #unwritten: Uint8Array[] = []
  #appending: Promise<void> | null = null
  #checkpointing: Promise<void> | null = null

  constructor(parts: {
    engine: StorageEngine
    disk: Disk
    clock: ClusterClock
    now: () => number
    retries: RetryHistory
    options: NodeLogOptions
  }) {
    this.#engine = parts.engine
    this.#disk = parts.disk
    this.#clock = parts.clock
    this.#now = parts.now
    this.#retries = parts.retries
    this.#options = parts.options
  }

  /** Rebuilds engine, retry history and clock from the disk. */
  recover(): void {
    const { checkpoint, records } = this.#disk.read()
    if (checkpoint !== null) {
      const engineLength = readUint32(checkpoint, 0)
      this.#engine.restore(checkpoint.slice(16, 16 + engineLength))
      this.#retries.import(decodeSessionsImage(checkpoint.slice(16 + engineLength)))
      this.#clock.advance([readUint32(checkpoint, 4), readUint32(checkpoint, 8)])
    }
    for (const record of records) {
      for (let at = 0; at < record.length;) {
        const length = readUint32(record, at)
        const entry = decodeLogEntry(record.slice(at, at + length))
        this.#engine.apply(entry)
        this.#retries.record(entry, insertedId(entry))
        this.#clock.advance(entry.ts)
        at += length
      }
    }
  }

  /**
   * Applies one change in memory and queues it for the disk: {@link flush} before acknowledging it.
   * @throws CommandError what the engine refuses (duplicate keys …): nothing has changed then
   */
  apply(change: LogChange): LogEntry {
    const entry = stamped(change, this.#clock.tick(), this.#now())
    const { preImage } = this.#engine.apply(entry)
    this.#retries.record(entry, insertedId(entry))
    this.#unwritten.push(encodeLogEntry(entry))
    for (const observer of this.observers) observer(entry, preImage)
    return entry
  }

  /**
   * Resolves when everything applied so far is on the disk.
   * @throws DiskFullError when it does not fit, not even as a checkpoint; the entries stay queued for the next flush
   */
  async flush(): Promise<void> {
    // An append or a checkpoint that is being written may hold what the caller applied. And there is one append at a
    // time: entries build on those before them, so none may reach the disk when an earlier one did not.
    while (this.#appending !== null) await this.#appending.catch(() => {})
    if (this.#unwritten.length === 0) {
      if (this.#checkpointing !== null) await this.#checkpointing
      return
    }
    this.#appending = this.#append().finally(() => {
      this.#appending = null
    })
    await this.#appending
    const { logBytes, checkpointBytes } = this.#disk.usage()
    if (logBytes > Math.max(this.#options.checkpointAfterBytes, 2 * checkpointBytes)) await this.#checkpoint()
  }

  async #append(): Promise<void> {
    const entries = this.#unwritten
    this.#unwritten = []
    try {
      await this.#disk.append(entries.length === 1 ? entries[0]! : Buffer.concat(entries))
    } catch (error) {
      this.#unwritten = [...entries, ...this.#unwritten]
      if (!(error instanceof DiskFullError)) throw error
      // A log of many changes to few documents shrinks to a checkpoint that may fit.
      await this.#checkpoint()
    }
  }

  #checkpoint(): Promise<void> {
    this.#checkpointing ??= this.#writeCheckpoint().finally(() => {
      this.#checkpointing = null
    })
    return this.#checkpointing
  }

  async #writeCheckpoint(): Promise<void> {
    const unwritten = this.#unwritten
    // Entries that are applied but not yet appended are in the image: they need no record after it.
    this.#unwritten = []
    const engine = this.#engine.checkpoint()
    const header = Buffer.alloc(16)
    writeInt32(header, 0, engine.length)
    writeInt32(header, 4, this.#clock.time[0])
    writeInt32(header, 8, this.#clock.time[1])
    try {
      await this.#disk.writeCheckpoint(Buffer.concat([header, engine, encodeSessionsImage(this.#retries.export())]))
    } catch (error) {
      this.#unwritten = [...unwritten, ...this.#unwritten]
      throw error
    }
  }
}

/** Field by field: spreading the change costs as much as all else that happens to it here. */
function stamped({ op, ns, uuid, object, id, session }: LogChange, ts: LogEntry['ts'], wallMs: number): LogEntry {
  return { ts, op, ns, uuid, object, id, session, wallMs }
}

function insertedId(entry: LogEntry): RawValue | null {
  return entry.op === 'i' ? (findField(entry.object, '_id') ?? null) : null
}
