/**
 * Compares the versions that a router sent with what this shard knows; decides which documents the command may see.
 * Server: shardingState checks in service_entry_point, collection_sharding_runtime.cpp.
 */
import type { DatabaseVersionTuple, NodeCommand, PlacementVersionTuple, ShardVersionField } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { Access } from '@shardlab/node'
import { splitNamespace } from '@shardlab/node'
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
import type { CriticalSections } from './critical-sections.js'
import type { DatabasePlacement, PlacementState } from './placement-state.js'

const everything: Access = { ownership: null }

export class VersionCheck {
  readonly #shard: string
  readonly #state: PlacementState
  readonly #critical: CriticalSections
  /** One filter per placement: built once, shared by all commands under it. */
  readonly #filters = new WeakMap<CollectionPlacement, Access>()

  constructor(shard: string, state: PlacementState, critical: CriticalSections) {
    this.#shard = shard
    this.#state = state
    this.#critical = critical
  }

  /** @throws CommandError 13388 StaleConfig, 249 StaleDbVersion */
  enter(
    ns: string,
    { routed }: { readonly routed: Pick<NodeCommand, 'shardVersion' | 'databaseVersion'> | null },
  ): Promise<Access> | Access {
    if (routed === null) return everything
    const { shardVersion, databaseVersion } = routed
    if (shardVersion === null && databaseVersion === null) return everything
    const blocked = this.#critical.blocking(ns)
    if (blocked !== undefined) return this.#enterSlowly(ns, shardVersion, databaseVersion)
    const database = databaseVersion === null ? undefined : this.#state.database(splitNamespace(`${ns}.`)[0])
    if (
      databaseVersion !== null &&
      (database === undefined ||
        database === null ||
        database.primary !== this.#shard ||
        !sameDatabaseVersion(databaseVersion, database.version))
    ) {
      return this.#enterSlowly(ns, shardVersion, databaseVersion)
    }
    const placement = this.#state.collection(ns)
    const access = shardVersion === null ? everything : this.#accept(placement, shardVersion)
    return access ?? this.#enterSlowly(ns, shardVersion, databaseVersion)
  }

  /** The access when the versions fit what is known, undefined when they do not or nothing is known. */
  #accept(placement: CollectionPlacement | null | undefined, received: NonNullable<ShardVersionField>): Access | undefined {
    if (placement === undefined) return undefined
    if (received === 'IGNORED') return placement === null ? everything : this.#filter(placement)
    if (received === 'UNSHARDED') return placement === null ? everything : undefined
    if (placement === null) return undefined
    return isWriteCompatible(received, placement.table.versionOn(this.#shard)) ? this.#filter(placement) : undefined
  }

  #filter(placement: CollectionPlacement): Access {
    let access = this.#filters.get(placement)
    if (access === undefined) {
      access = { ownership: new OwnershipFilter(placement, this.#shard) }
      this.#filters.set(placement, access)
    }
    return access
  }

  async #enterSlowly(ns: string, shardVersion: ShardVersionField, databaseVersion: DatabaseVersionTuple | null): Promise<Access> {
    for (let blocked = this.#critical.blocking(ns); blocked !== undefined; blocked = this.#critical.blocking(ns)) await blocked
    if (databaseVersion !== null) await this.#checkDatabase(splitNamespace(`${ns}.`)[0], databaseVersion)
    if (shardVersion === null) return everything
    const known = this.#state.collection(ns)
    const accepted = this.#accept(known, shardVersion)
    if (accepted !== undefined) return accepted
    // Only a router that may know more than this shard is worth a question; an outdated one is told at once.
    const placement = known === undefined || this.#mayBeNewer(known, shardVersion) ? await this.#state.refreshCollection(ns) : known
    const access = this.#accept(placement, shardVersion)
    if (access !== undefined) return access
    throw staleConfig(ns, this.#shard, shardVersion, placement === null ? 'UNSHARDED' : placement.table.versionOn(this.#shard))
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
    let known = this.#state.database(db)
    if (known === undefined || known === null || isOlderDatabase(known, received)) known = await this.#state.refreshDatabase(db)
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
): CommandError {
  const tuple = (version: NonNullable<ShardVersionField>): PlacementVersionTuple =>
    typeof version === 'string' ? [zeroEpoch, 0, 0, 0, 0] : version
  const extra = new DocumentWriter(256).string('ns', ns)
  writePlacementVersion(extra, 'vReceived', tuple(received))
  writePlacementVersion(extra, 'vWanted', tuple(wanted))
  extra.string('shardId', shard)
  return new CommandError(
    'StaleConfig',
    `sharding status of collection ${ns} is not currently known or has changed and needs to be recovered from the config server`,
    { extra: extra.finish() },
  )
}

/** StaleDbVersion with what was received and what is known. */
export function staleDatabase(db: string, received: DatabaseVersionTuple, wanted: DatabasePlacement | null): CommandError {
  const extra = new DocumentWriter(256).string('db', db)
  writeDatabaseVersion(extra, 'vReceived', received)
  if (wanted !== null) writeDatabaseVersion(extra, 'vWanted', wanted.version)
  return new CommandError('StaleDbVersion', `version mismatch for database ${db}`, { extra: extra.finish() })
}
