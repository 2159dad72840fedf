/**
 * The interfaces through which the protocols of a shard use one another. The classes of its parts
 * implement them; a function or a class takes the narrowest that has what it uses.
 */
import type { DatabaseVersionTuple } from '@shardlab/actor'
import type { CommandError } from '@shardlab/bson'
import type { Access, Entrant, RoutedBy, NodeHost } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'

export interface ShardHost {
  readonly node: NodeHost
}

/** Placements of collections as this shard knows them. */
export interface CollectionPlacements {
  /** null: known not to be sharded; undefined: unknown. */
  collection(ns: string): CollectionPlacement | null | undefined
  /**
   * Asks the config server for what changed. Concurrent calls share one request.
   * @throws CommandError 133
   */
  refreshCollection(ns: string): Promise<CollectionPlacement | null>
}

export interface DatabasePlacement {
  /** The primary shard. */
  readonly primary: string
  readonly version: DatabaseVersionTuple
}

/** Placements of databases as this shard knows them. */
export interface DatabasePlacements {
  /** null: known not to exist; undefined: unknown. */
  database(db: string): DatabasePlacement | null | undefined
  /** As {@link CollectionPlacements.refreshCollection}. */
  refreshDatabase(db: string): Promise<DatabasePlacement | null>
}

/** Placements that coordinators change. */
export interface Placements extends CollectionPlacements, DatabasePlacements {
  /** The next command with a version asks the config server. */
  forgetCollection(ns: string): void
  /** Applies to the collections of the database, too. */
  forgetDatabase(db: string): void
}

export interface PlacementHost extends ShardHost {
  readonly placements: CollectionPlacements
}

/** A critical section that has been entered. */
export interface CriticalSection {
  /** Blocks reads as well. */
  blockReads(): void
  /** Releases what it blocks. Leaving twice has no effect. */
  leave(): void
}

/** Which namespaces are in a critical section. */
export interface BlockedNamespaces {
  /**
   * Resolves when the section that blocks the namespace ends; undefined: none does.
   * @param command default: one that writes
   */
  blocking(ns: string, command?: Entrant): Promise<void> | undefined
}

/** Critical sections that cover a piece of work. */
export interface ExclusiveSections {
  /** Runs the work in a critical section that blocks reads and writes. */
  hold<T>(ns: string, work: () => Promise<T>): Promise<T>
}

/** Critical sections that a protocol enters and leaves at steps of its own. */
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

/** Documents that other shards are moving here one by one, and whose moves are not decided. */
export interface PreparedDocuments {
  /** Their `_id`s as KeyStrings; undefined: the collection has none. */
  hiddenIn(collectionUuid: Uint8Array): ReadonlySet<string> | undefined
  /**
   * Resolves when all moves into the collection are decided, later ones included; undefined: there
   * are none.
   */
  settled(collectionUuid: Uint8Array): Promise<void> | undefined
}

/** Errors of requests that assume another placement. */
export interface VersionErrors {
  /** StaleConfig for a request that this shard is not, or no longer, the right one for. */
  stale(ns: string, message: string): CommandError
}

/** Compares the versions that requests carry with what this shard knows. */
export interface VersionedEntry {
  /**
   * @param routed null: the request carries no versions and sees everything
   * @param command null or absent: the request writes
   * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion
   */
  enter(ns: string, routed: RoutedBy | null, command?: Entrant): Promise<Access> | Access
}

/** Splits and merges, which exclude migrations of the same collection. */
export interface ChunkChanges {
  /** Runs a split or merge while no range of the collection is donated. */
  changeChunks<T>(ns: string, work: () => Promise<T>): Promise<T>
}

/** Ranges that this shard receives from others. */
export interface ReceivingRanges {
  /** Stops receiving for collections that are dropped. */
  abortReceiving(isDropped: (ns: string) => boolean): void
}

/** Documents of a collection that other shards own. */
export interface OrphanCounter {
  /** The sum over the range deletions of a collection; 0: it has none. */
  of(collectionUuid: Uint8Array): number
}
