/**
 * Compares the versions that a router sent with what this shard knows; decides which documents the command may see.
 * Server: shardingState checks in service_entry_point, collection_sharding_runtime.cpp.
 */
import type { DatabaseVersionTuple, PlacementVersionTuple, ShardVersionField } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { type Access, type Entrant, type RoutedBy } from '@shardlab/node'
import {
  isOlderGeneration,
  isWriteCompatible,
  OwnershipFilter,
  sameDatabaseVersion,
  sameGeneration,
  writeDatabaseVersion,
  writePlacementVersion,
  type CollectionPlacement,
} from '@shardlab/sharding'
import { HidingFilter } from '../document-moves/hiding-filter.js'
import type {
  BlockedNamespaces,
  CollectionPlacements,
  DatabasePlacement,
  DatabasePlacements,
  VersionedEntry,
  VersionErrors,
} from '../host/host.js'

const everything: Access = { ownership: null }

/** What somebody who wants to touch a collection was routed by. */

/** Defects built in on purpose: see `mutationNames`. */
export interface VersionCheckMutations {
  readonly ownershipFilterOff: boolean
  readonly versionCheckOff: boolean
}

export class VersionCheck implements VersionedEntry, VersionErrors {
  readonly #shard: string
  readonly #placements: CollectionPlacements & DatabasePlacements
  readonly #critical: BlockedNamespaces
  readonly #hiddenIn: (collectionUuid: Uint8Array) => ReadonlySet<string> | undefined
  readonly #mutations: VersionCheckMutations
  /** One filter per placement: built once, shared by all commands under it. */
  readonly #filters = new WeakMap<CollectionPlacement, Access>()

  /** @param hiddenIn `_id`s, as KeyStrings, of documents in the collection with this UUID that nobody sees yet */
  constructor(
    shard: string,
    placements: CollectionPlacements & DatabasePlacements,
    critical: BlockedNamespaces,
    hiddenIn: (collectionUuid: Uint8Array) => ReadonlySet<string> | undefined = () => undefined,
    mutations: VersionCheckMutations = { ownershipFilterOff: false, versionCheckOff: false },
  ) {
    this.#shard = shard
    this.#placements = placements
    this.#critical = critical
    this.#hiddenIn = hiddenIn
    this.#mutations = mutations
  }

  /**
   * @param routed null: nobody has routed it, everything is open to it
   * @param command what wants to enter: if it only reads, it does not wait where only writes do; default: something that waits
   * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion
   */
  enter(ns: string, routed: RoutedBy | null, command?: Entrant): Promise<Access> | Access {
    if (routed === null) return everything
    const { shardVersion, databaseVersion } = routed
    if (shardVersion === null && databaseVersion === null) return everything
    if (this.#critical.blocking(ns, command) !== undefined)
      return this.#enterSlowly(ns, shardVersion, databaseVersion, command)
    const database = databaseVersion === null ? undefined : this.#placements.database(databaseNameOf(ns))
    if (
      databaseVersion !== null &&
      (database === undefined ||
        database === null ||
        database.primary !== this.#shard ||
        !sameDatabaseVersion(databaseVersion, database.version))
    ) {
      return this.#enterSlowly(ns, shardVersion, databaseVersion, command)
    }
    const placement = this.#placements.collection(ns)
    const access = shardVersion === null ? everything : this.#accept(placement, shardVersion)
    return access ?? this.#enterSlowly(ns, shardVersion, databaseVersion, command)
  }

  /** The access when the versions fit what is known, undefined when they do not or nothing is known. */
  #accept(
    placement: CollectionPlacement | null | undefined,
    received: NonNullable<ShardVersionField>,
  ): Access | undefined {
    if (placement === undefined) return undefined
    if (received === 'IGNORED') return placement === null ? everything : this.#filter(placement)
    if (received === 'UNSHARDED') return placement === null ? everything : undefined
    if (placement === null) return undefined
    const fits = this.#mutations.versionCheckOff || isWriteCompatible(received, placement.table.versionOn(this.#shard))
    return fits ? this.#filter(placement) : undefined
  }

  #filter(placement: CollectionPlacement): Access {
    const hidden = this.#hiddenIn(placement.uuid)
    if (this.#mutations.ownershipFilterOff) return everything
    if (hidden !== undefined) return { ownership: new HidingFilter(placement, this.#shard, hidden) }
    if (placement.isUnsplittable && placement.table.lowestShard() === this.#shard) return everything
    let access = this.#filters.get(placement)
    if (access === undefined) {
      access = { ownership: new OwnershipFilter(placement, this.#shard) }
      this.#filters.set(placement, access)
    }
    return access
  }

  async #enterSlowly(
    ns: string,
    shardVersion: ShardVersionField,
    databaseVersion: DatabaseVersionTuple | null,
    command: Entrant | undefined,
  ): Promise<Access> {
    const blocking = () => this.#critical.blocking(ns, command)
    let refreshed = false
    for (;;) {
      for (let blocked = blocking(); blocked !== undefined; blocked = blocking()) await blocked
      if (databaseVersion !== null) await this.#checkDatabase(databaseNameOf(ns), databaseVersion)
      // What was waited for may have let somebody into the critical section.
      if (blocking() !== undefined) continue
      if (shardVersion === null) return everything
      const known = this.#placements.collection(ns)
      const access = this.#accept(known, shardVersion)
      if (access !== undefined) return access
      // Only a router that may know more than this shard is worth a question; an outdated one is told at once.
      if (known !== undefined && (refreshed || !this.#mayBeNewer(known, shardVersion)))
        throw staleConfig(
          ns,
          this.#shard,
          shardVersion,
          known === null ? 'UNSHARDED' : known.table.versionOn(this.#shard),
        )
      await this.#placements.refreshCollection(ns)
      refreshed = true
    }
  }

  /** What may be seen and changed by who is let in under a placement. */
  accessUnder(placement: CollectionPlacement): Access {
    return this.#filter(placement)
  }

  /** What a shard answers that was asked to do something for which it is not, or no longer, the right one. */
  stale(ns: string, message: string): CommandError {
    const placement = this.#placements.collection(ns) ?? null
    const wanted = placement === null ? 'UNSHARDED' : placement.table.versionOn(this.#shard)
    return staleConfig(ns, this.#shard, 'IGNORED', wanted, message)
  }

  #mayBeNewer(known: CollectionPlacement | null, received: NonNullable<ShardVersionField>): boolean {
    if (received === 'IGNORED') return false
    // A router that holds the collection for unsharded may have heard of a drop that this shard has not.
    if (known === null || received === 'UNSHARDED') return true
    const own = known.table.versionOn(this.#shard)
    if (!sameGeneration(received, own)) return !isOlderGeneration(received, own)
    // 0|0 says that this shard owns nothing, which has no place in the order of versions.
    return received[3] === 0 || received[3] > own[3]
  }

  async #checkDatabase(db: string, received: DatabaseVersionTuple): Promise<void> {
    let known = this.#placements.database(db)
    if (known === undefined || known === null || isOlderDatabase(known, received))
      known = await this.#placements.refreshDatabase(db)
    if (known === null || !sameDatabaseVersion(known.version, received) || known.primary !== this.#shard)
      throw staleDatabase(db, received, known)
  }
}

function isOlderDatabase(known: DatabasePlacement, received: DatabaseVersionTuple): boolean {
  const [uuid, seconds, increment, lastMod] = known.version
  if (uuid === received[0]) return lastMod < received[3]
  // Before 5.0 there are no timestamps: equal ones say nothing about which database is the newer one.
  return seconds < received[1] || (seconds === received[1] && increment <= received[2])
}

const zeroEpoch = '000000000000000000000000'

function staleConfig(
  ns: string,
  shard: string,
  received: NonNullable<ShardVersionField>,
  wanted: PlacementVersionTuple | 'UNSHARDED',
  message = `sharding status of collection ${ns} is not currently known or has changed and needs to be recovered from the config server`,
): CommandError {
  const tuple = (version: NonNullable<ShardVersionField>): PlacementVersionTuple =>
    typeof version === 'string' ? [zeroEpoch, 0, 0, 0, 0] : version
  const extra = new DocumentWriter(256).string('ns', ns)
  writePlacementVersion(extra, 'vReceived', tuple(received))
  writePlacementVersion(extra, 'vWanted', tuple(wanted))
  extra.string('shardId', shard)
  return new CommandError('StaleConfig', message, { extra: extra.finish() })
}

/** StaleDbVersion with what was received and what is known. */
export function staleDatabase(
  db: string,
  received: DatabaseVersionTuple,
  wanted: DatabasePlacement | null,
): CommandError {
  const extra = new DocumentWriter(256).string('db', db)
  writeDatabaseVersion(extra, 'vReceived', received)
  if (wanted !== null) writeDatabaseVersion(extra, 'vWanted', wanted.version)
  return new CommandError('StaleDbVersion', `version mismatch for database ${db}`, { extra: extra.finish() })
}
