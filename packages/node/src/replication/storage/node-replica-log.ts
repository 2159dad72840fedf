/** The log and the data of a node, as the protocol of its set uses them. */
import type { RolledBackNamespace } from '@shardlab/actor'
import { compareOpTimes, nullTimedOpTime, type OpTime, type TimedOpTime } from '@shardlab/replication'
import { opTimeOf, type LogEntry } from '@shardlab/storage'
import type { NodeStorage } from '../../host/node-storage.js'
import { noopOf } from '../../log/noop.js'
import { rolledBackBy } from '../rollback-files/rolled-back.js'
import type { RollbackFiles } from '../rollback-files/rollback-files.js'
import type { FetchOutcome, ReplicaLog, StoredDocuments } from '../protocol/replica-log.js'
import type { DiskWithDocuments } from './disk-with-documents.js'
import type { StableState } from './stable-state.js'

const configName = 'system.replset'
const voteName = 'replset.election'

export class NodeReplicaLog implements ReplicaLog {
  readonly #storage: NodeStorage
  readonly #disk: DiskWithDocuments
  readonly #stable: StableState
  readonly #rollbackFiles: RollbackFiles
  readonly #applied: (entry: LogEntry) => void
  #onDurable: (() => void) | null = null

  /**
   * @param applied called after each entry of another member
   */
  constructor(parts: {
    storage: NodeStorage
    disk: DiskWithDocuments
    stable: StableState
    rollbackFiles: RollbackFiles
    applied: (entry: LogEntry) => void
  }) {
    this.#storage = parts.storage
    this.#disk = parts.disk
    this.#stable = parts.stable
    this.#rollbackFiles = parts.rollbackFiles
    this.#applied = parts.applied
  }

  get last(): TimedOpTime {
    return this.#storage.log.lastApplied ?? nullTimedOpTime
  }

  get durable(): TimedOpTime {
    return this.#storage.log.oplog.last ?? nullTimedOpTime
  }

  get stored(): StoredDocuments {
    return { config: this.#disk.document(configName) ?? null, vote: this.#disk.document(voteName) ?? null }
  }

  set onDurable(listener: (() => void) | null) {
    const { durable } = this.#storage.log
    if (this.#onDurable !== null) durable.delete(this.#onDurable)
    this.#onDurable = listener
    if (listener !== null) durable.add(listener)
  }

  storeConfig(document: Uint8Array): Promise<void> {
    return this.#disk.storeDocument(configName, document)
  }

  adoptConfig(document: Uint8Array): void {
    this.#disk.adoptDocument(configName, document)
  }

  storeVote(document: Uint8Array): Promise<void> {
    return this.#disk.storeDocument(voteName, document)
  }

  entriesAfter(position: OpTime, bytesMax: number): FetchOutcome {
    return this.#storage.log.oplog.entriesAfter(position, bytesMax)
  }

  positionsBackwards(): Iterator<OpTime> {
    return this.#storage.log.oplog.optimesBackwards()
  }

  hasRoom(bytes: number): boolean {
    return this.#storage.log.hasRoom(bytes, 1)
  }

  append(entries: Uint8Array): number {
    let count = 0
    this.#storage.log.applyReplicated(entries, (entry) => {
      count++
      this.#applied(entry)
    })
    return count
  }

  appendNoop(message: string): TimedOpTime {
    const { ts, term, wallMs } = this.#storage.log.apply(noopOf(message))
    return { optime: { ts, term }, wallMs }
  }

  flush(): Promise<void> {
    return this.#storage.log.flush()
  }

  saveRolledBack(position: OpTime): Promise<RolledBackNamespace[]> {
    const newestFirst = [...this.#entriesAfter(position)]
    return this.#rollbackFiles.save(rolledBackBy(newestFirst.toReversed(), this.#storage.engine))
  }

  /** Newest first. */
  *#entriesAfter(position: OpTime): Generator<Uint8Array, void, void> {
    for (const [, entry] of this.#storage.log.oplog.window().entriesBackwards()) {
      if (compareOpTimes(opTimeOf(entry), position) <= 0) return
      yield entry
    }
  }

  rollBackTo(position: OpTime): number {
    let removed = 0
    for (const _ of this.#entriesAfter(position)) removed++
    const { log, snapshots } = this.#storage
    if (this.#stable.rollBackTo(position)) snapshots.rolledBackTo(position.ts)
    else {
      log.clear()
      this.#dataReplaced()
    }
    return removed
  }

  rewriteDisk(): Promise<void> {
    return this.#storage.log.rewriteDisk()
  }

  image(committed: OpTime): Uint8Array {
    return this.#storage.log.snapshotForInitialSync(committed)
  }

  restore(image: Uint8Array): void {
    this.#storage.log.restoreFrom(image)
    this.#dataReplaced()
  }

  #dataReplaced(): void {
    this.#stable.reset()
    this.#storage.snapshots.reset(this.#storage.log.lastTs)
  }
}
