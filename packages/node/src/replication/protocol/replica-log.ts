import type { RolledBackNamespace } from '@shardlab/actor'
import type { OpTime, TimedOpTime } from '@shardlab/replication'

/** Documents of a member that are not replicated: its configuration and its last vote. */
export interface StoredDocuments {
  /** The document of `local.system.replset`; null: the set was not initiated. */
  readonly config: Uint8Array | null
  /** The document of `local.replset.election`; null: this member never voted. */
  readonly vote: Uint8Array | null
}

export type FetchOutcome =
  | { readonly outcome: 'entries'; readonly entries: Uint8Array }
  /** `diverged`: this oplog does not have that entry. `too-old`: it has no longer any that old. */
  | { readonly outcome: 'diverged' | 'too-old' }

/**
 * The oplog and the data of one member, as the protocol uses them. Positions are those of entries
 * that are applied; an entry is shown to other members once it is on the disk.
 */
export interface ReplicaLog {
  /** The newest applied entry; the null optime while the log is empty. */
  readonly last: TimedOpTime
  /** The newest entry on the disk. */
  readonly durable: TimedOpTime
  readonly stored: StoredDocuments
  storeConfig(document: Uint8Array): Promise<void>
  /** For a copy: it is on the disk already. */
  adoptConfig(document: Uint8Array): void
  storeVote(document: Uint8Array): Promise<void>
  /** Entries on the disk after a position, at most about `bytesMax`, and at least one if any. */
  entriesAfter(position: OpTime, bytesMax: number): FetchOutcome
  /** From the newest entry on the disk to the oldest. */
  positionsBackwards(): Iterator<OpTime>
  /**
   * Applies entries of another member. Call {@link flush} afterwards.
   * @returns how many
   */
  append(entries: Uint8Array): number
  /** Whether the disk takes entries of that size. */
  hasRoom(bytes: number): boolean
  /** Appends an entry without effect, `{ msg }`, in this term. Call {@link flush} afterwards. */
  appendNoop(message: string): TimedOpTime
  /** Writes what was appended. @throws CommandError 14031 OutOfDiskSpace; it may be called again */
  flush(): Promise<void>
  /**
   * Keeps the documents that {@link rollBackTo} removes or overwrites, in files.
   * @throws DiskFullError as a rejection; it may be called again
   */
  saveRolledBack(position: OpTime): Promise<RolledBackNamespace[]>
  /**
   * Removes all entries after a position, and their effects, from memory. Call {@link rewriteDisk}
   * afterwards.
   * @returns how many
   */
  rollBackTo(position: OpTime): number
  /** @throws DiskFullError as a rejection; it may be called again */
  rewriteDisk(): Promise<void>
  /**
   * Everything that is applied, for a member without data, with the entries since the commit point.
   * @param committed the null optime: unknown, so all entries
   */
  image(committed: OpTime): Uint8Array
  /** On a member without data, in memory. Call {@link rewriteDisk} afterwards. */
  restore(image: Uint8Array): void
  /** Calls back after entries have reached the disk. One listener. */
  onDurable: (() => void) | null
}
