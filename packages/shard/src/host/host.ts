/**
 * The interfaces through which the protocols of a shard use one another. A function or class takes
 * the narrowest interface that suffices.
 */
import type { DatabaseVersionTuple } from '@shardlab/actor'
import type { CommandError } from '@shardlab/bson'
import type { Access, Entrant, RoutedBy, NodeHost } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'

export interface ShardHost {
  readonly node: NodeHost
}

export interface CollectionPlacements {
  /** null: known not to be sharded; undefined: unknown. */
  collection(ns: string): CollectionPlacement | null | undefined
  /**
   * Fetches changes from the config server. Concurrent calls share one request.
   * @throws CommandError 133
   */
  refreshCollection(ns: string): Promise<CollectionPlacement | null>
}

export interface DatabasePlacement {
  readonly primary: string
  readonly version: DatabaseVersionTuple
}

export interface DatabasePlacements {
  /** null: known not to exist; undefined: unknown. */
  database(db: string): DatabasePlacement | null | undefined
  /** As {@link CollectionPlacements.refreshCollection}. */
  refreshDatabase(db: string): Promise<DatabasePlacement | null>
}

export interface Placements extends CollectionPlacements, DatabasePlacements {
  /** The next command with a version asks the config server. */
  forgetCollection(ns: string): void
  /** Applies to the collections of the database, too. */
  forgetDatabase(db: string): void
}

export interface PlacementHost extends ShardHost {
  readonly placements: CollectionPlacements
}

export interface CriticalSection {
  blockReads(): void
  /** Releases what it blocks. Leaving twice has no effect. */
  leave(): void
}

export interface BlockedNamespaces {
  /**
   * Resolves when the section that blocks the namespace ends; undefined: none does.
   * @param command default: one that writes
   */
  blocking(ns: string, command?: Entrant): Promise<void> | undefined
  /** As {@link blocking}, of sections that block reads. `ns`: a collection or a database. */
  blockingReads(ns: string): Promise<void> | undefined
}

export interface ExclusiveSections {
  /** Runs the work in a critical section that blocks reads and writes. */
  hold<T>(ns: string, work: () => Promise<T>): Promise<T>
  /**
   * As {@link hold}, of a namespace that is in no section.
   * @param entering calls `enter` when the section may begin, which it does at once
   */
  holdAfter<T>(ns: string, entering: (enter: () => void) => Promise<unknown>, work: () => Promise<T>): Promise<T>
}

export interface EnterableSections extends BlockedNamespaces {
  /**
   * Enters at once: for a namespace that is known to be free, as after a restart.
   * @throws Error when it is not
   */
  enterNow(ns: string, blocks: 'writes' | 'all'): CriticalSection
  /** null: the namespace is in another section. */
  enterIfFree(ns: string, blocks: 'writes' | 'all'): CriticalSection | null
  /** Waits for the end of earlier sections of the namespace. */
  enter(ns: string, blocks: 'writes' | 'all'): Promise<CriticalSection>
}

export interface VersionErrors {
  /** For a request that belongs to another shard. */
  stale(ns: string, message: string): CommandError
}

export interface VersionedEntry {
  /**
   * @param routed null: no versions, so the request sees everything
   * @param command null or absent: the request writes
   * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion
   */
  enter(ns: string, routed: RoutedBy | null, command?: Entrant): Promise<Access> | Access
}

export interface ChunkChanges {
  /** Waits until no range of the collection is donated and no other split or merge of it runs. */
  changeChunks<T>(ns: string, work: () => Promise<T>): Promise<T>
}

export interface ReceivingRanges {
  /** Stops receiving for collections that are dropped. */
  abortReceiving(isDropped: (ns: string) => boolean): void
}

export interface OrphanCounter {
  /** The sum over the range deletions of a collection; 0: it has none. */
  of(collectionUuid: Uint8Array): number
  /** Observes the range deletions from now on: later observers of the node see updated sums. */
  watch(): void
}
