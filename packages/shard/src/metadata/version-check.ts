/**
 * Compares a router's versions with those of this shard, and decides which documents the command
 * may see.
 * Server: shardingState checks in service_entry_point, collection_sharding_runtime.cpp.
 */
import { type DatabaseVersionTuple, type PlacementVersionTuple, type ShardVersionField } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import type { Access, Entrant, NodeHost, RoutedBy } from '@shardlab/node'
import {
  isOlderGeneration,
  isWriteCompatible,
  OwnershipFilter,
  sameDatabaseVersion,
  sameGeneration,
  writeDatabaseVersion,
  writePlacementVersion,
  type CollectionPlacement,
  type OwnershipRules,
} from '@shardlab/sharding'
import type {
  BlockedNamespaces,
  CollectionPlacements,
  DatabasePlacement,
  DatabasePlacements,
  VersionedEntry,
  VersionErrors,
} from '../host/host.js'
import { within } from '../common/within.js'
import { awaitEntry } from './await-entry.js'
import type { SecondaryPlacements } from './secondary-placements.js'

const everything: Access = { ownership: null }

/** Deliberate defects: see `mutationNames`. */
export interface VersionCheckMutations {
  readonly ownershipFilterOff: boolean
  readonly versionCheckOff: boolean
}

export class VersionCheck implements VersionedEntry, VersionErrors {
  readonly #identity: { readonly shardId: string }
  readonly #placements: CollectionPlacements & DatabasePlacements
  readonly #critical: BlockedNamespaces
  readonly #mutations: VersionCheckMutations
  readonly #rules: OwnershipRules
  readonly #secondary: SecondaryPlacements | null
  readonly #filters = new WeakMap<CollectionPlacement, Access>()

  /**
   * @param secondary null: a primary
   */
  constructor(
    identity: { readonly shardId: string },
    rules: OwnershipRules,
    placements: CollectionPlacements & DatabasePlacements,
    critical: BlockedNamespaces,
    mutations: VersionCheckMutations = { ownershipFilterOff: false, versionCheckOff: false },
    secondary: SecondaryPlacements | null = null,
  ) {
    this.#secondary = secondary
    this.#identity = identity
    this.#placements = placements
    this.#critical = critical
    this.#mutations = mutations
    this.#rules = rules
  }

  get #shard(): string {
    return this.#identity.shardId
  }

  enter(ns: string, routed: RoutedBy | null, command?: Entrant): Promise<Access> | Access {
    if (routed === null) return everything
    const { shardVersion, databaseVersion } = routed
    if (shardVersion === null && databaseVersion === null) return everything
    if (command === undefined) return this.#enter(ns, shardVersion, databaseVersion, command)
    if (this.#secondary !== null) return this.#enterSecondary(this.#secondary, ns, routed, command)
    const entered = this.#enter(ns, shardVersion, databaseVersion, command)
    return entered instanceof Promise ? awaitEntry(entered, command) : entered
  }

  #enter(
    ns: string,
    shardVersion: ShardVersionField,
    databaseVersion: DatabaseVersionTuple | null,
    command: Entrant | undefined,
  ): Promise<Access> | Access {
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

  /** Undefined: the versions do not match, or the placement is unknown. */
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
    if (this.#mutations.ownershipFilterOff) return everything
    if (placement.isUnsplittable && placement.table.lowestShard() === this.#shard) return everything
    let access = this.#filters.get(placement)
    if (access === undefined) {
      access = { ownership: new OwnershipFilter(placement, this.#shard, this.#rules) }
      this.#filters.set(placement, access)
    }
    return access
  }

  #enterSecondary(
    secondary: SecondaryPlacements,
    ns: string,
    routed: RoutedBy,
    command: Entrant,
  ): Promise<Access> | Access {
    const { shardVersion, databaseVersion } = routed
    const entered = secondary.isUnsettled(ns)
      ? this.#enterUnsettled(secondary, ns, shardVersion, databaseVersion)
      : this.#enter(ns, shardVersion, databaseVersion, command)
    if (!(entered instanceof Promise) && secondary.hasData(ns, command)) return entered
    return this.#enterWithData(secondary, entered, ns, routed, command)
  }

  async #enterWithData(
    secondary: SecondaryPlacements,
    entered: Promise<Access> | Access,
    ns: string,
    routed: RoutedBy,
    command: Entrant,
  ): Promise<Access> {
    const admission = secondary.beginAdmission(ns)
    try {
      const access = entered instanceof Promise ? await awaitEntry(entered, command) : entered
      if (!secondary.hasData(ns, command)) await secondary.awaitData(ns, command)
      if (!admission.isOutdated) return access
    } finally {
      secondary.endAdmission(admission)
    }
    return this.#enterSecondary(secondary, ns, routed, command)
  }

  async #enterUnsettled(
    secondary: SecondaryPlacements,
    ns: string,
    shardVersion: ShardVersionField,
    databaseVersion: DatabaseVersionTuple | null,
  ): Promise<Access> {
    if (databaseVersion !== null) {
      const db = databaseNameOf(ns)
      this.#requireDatabase(db, databaseVersion, await secondary.databaseNow(db))
    }
    if (shardVersion === null) return everything
    const placement = await secondary.collectionNow(ns)
    const access = this.#accept(placement, shardVersion)
    if (access !== undefined) return access
    throw staleConfig(ns, this.#shard, shardVersion, this.#versionIn(placement))
  }

  #versionIn(placement: CollectionPlacement | null): PlacementVersionTuple | 'UNSHARDED' {
    return placement === null ? 'UNSHARDED' : placement.table.versionOn(this.#shard)
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
      for (let blocked = blocking(); blocked !== undefined; blocked = blocking())
        if (command?.transaction === undefined) await blocked
        else if (!(await endsSoon(blocked, command.host)))
          throw staleConfig(
            ns,
            this.#shard,
            shardVersion ?? 'IGNORED',
            this.#versionIn(this.#placements.collection(ns) ?? null),
          )
      if (databaseVersion !== null) await this.#checkDatabase(databaseNameOf(ns), databaseVersion)
      // A critical section may have begun during the wait.
      if (blocking() !== undefined) continue
      if (shardVersion === null) return everything
      const known = this.#placements.collection(ns)
      const access = this.#accept(known, shardVersion)
      if (access !== undefined) return access
      // Refresh only for a router that may have a newer version; an older one fails at once.
      if (known !== undefined && (refreshed || !this.#mayBeNewer(known, shardVersion)))
        throw staleConfig(ns, this.#shard, shardVersion, this.#versionIn(known))
      await this.#placements.refreshCollection(ns)
      refreshed = true
    }
  }

  accessUnder(placement: CollectionPlacement): Access {
    return this.#filter(placement)
  }

  stale(ns: string, message: string): CommandError {
    const wanted = this.#versionIn(this.#placements.collection(ns) ?? null)
    return staleConfig(ns, this.#shard, 'IGNORED', wanted, message)
  }

  #mayBeNewer(known: CollectionPlacement | null, received: NonNullable<ShardVersionField>): boolean {
    if (received === 'IGNORED') return false
    // A router that assumes an unsharded collection may know of a drop that this shard has missed.
    if (known === null || received === 'UNSHARDED') return true
    const own = known.table.versionOn(this.#shard)
    if (!sameGeneration(received, own)) return !isOlderGeneration(received, own)
    // 0|0 means that this shard owns nothing, and cannot be compared.
    return received[3] === 0 || received[3] > own[3]
  }

  async #checkDatabase(db: string, received: DatabaseVersionTuple): Promise<void> {
    let known = this.#placements.database(db)
    if (known === undefined || known === null || isOlderDatabase(known, received))
      known = await this.#placements.refreshDatabase(db)
    this.#requireDatabase(db, received, known)
  }

  #requireDatabase(db: string, received: DatabaseVersionTuple, known: DatabasePlacement | null): void {
    if (known === null || !sameDatabaseVersion(known.version, received) || known.primary !== this.#shard)
      throw staleDatabase(db, received, known)
  }
}

/**
 * The critical section may be waiting for the transaction to end. Server:
 * onCollectionPlacementVersionMismatch.
 */
async function endsSoon(blocked: Promise<void>, { context, parameters }: NodeHost): Promise<boolean> {
  const waitMs = parameters.number('metadataRefreshInTransactionMaxWaitBehindCritSecMS')
  const ended = blocked.then(() => true)
  return (await within(context, ended, waitMs)) ?? false
}

function isOlderDatabase(known: DatabasePlacement, received: DatabaseVersionTuple): boolean {
  const [uuid, seconds, increment, lastMod] = known.version
  if (uuid === received[0]) return lastMod < received[3]
  // Before 5.0 there are no timestamps: equal ones do not show which database is newer.
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
