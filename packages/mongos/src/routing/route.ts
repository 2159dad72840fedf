import { configAddress, unversioned } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { CollectionPlacement, PlacementHistory } from '@shardlab/sharding'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { RemoteCommand } from '../remote/remote.js'
import { bodyWithSettings } from './settings-of-command.js'
import { createImplicitly } from './implicit-database.js'
import { again, retryStale } from './retry-stale.js'

export type Route =
  /** `config` and `admin`: on the config server, without versions. */
  | { readonly kind: 'config' }
  /** `known`: the current placement, where `placement` has the owners at an earlier time. */
  | { readonly kind: 'sharded'; readonly placement: CollectionPlacement; readonly known?: CollectionPlacement }
  /**
   * `home` is null on the primary shard of the database. A moved collection is on the owner of its
   * only chunk, with `home` as its placement.
   */
  | { readonly kind: 'unsharded'; readonly database: DatabaseEntry; readonly home: CollectionPlacement | null }
  /** The database does not exist. */
  | { readonly kind: 'missing' }

export type ShardedRoute = Extract<Route, { kind: 'sharded' }>
export type UnshardedRoute = Extract<Route, { kind: 'unsharded' }>

export function isConfigDatabase(db: string): boolean {
  return db === 'config' || db === 'admin'
}

const configRoute: Route = { kind: 'config' }
const missingRoute: Route = { kind: 'missing' }

/** Null: an entry is not cached. */
export function knownRoute({ host, db, concerns }: MongosInvocation, ns: string): Route | null {
  if (isConfigDatabase(db)) return configRoute
  const placement = host.catalog.peekCollection(ns)
  if (placement === undefined || concerns.read.atClusterTime !== null) return null
  if (placement !== null && !placement.isUnsplittable) return { kind: 'sharded', placement }
  const database = host.catalog.peekDatabase(db)
  return database === null || database === undefined ? null : { kind: 'unsharded', database, home: placement }
}

/**
 * @throws CommandError 133, 6, 50, 250 StaleChunkHistory; with `createDatabase` also those of
 *   creating it
 */
export async function resolveRoute(invocation: MongosInvocation, ns: string, createDatabase: boolean): Promise<Route> {
  const { host, db, operation } = invocation
  if (isConfigDatabase(db)) return configRoute
  const cached = host.catalog.peekCollection(ns)
  let placement = cached === undefined ? await host.catalog.collection(ns, operation) : cached
  const { atClusterTime } = invocation.concerns.read
  if (placement !== null && atClusterTime !== null) {
    const found = await withHistory(invocation, ns, placement)
    placement = found === null ? null : found.placement
    if (found !== null) {
      host.clock.advance(found.history.newest)
      const past = found.history.at(atClusterTime)
      if (past !== found.placement) return { kind: 'sharded', placement: past, known: found.placement }
    }
  }
  if (placement !== null && !placement.isUnsplittable) return { kind: 'sharded', placement }
  const database = host.catalog.peekDatabase(db) ?? (await host.catalog.database(db, operation))
  if (database !== null) return { kind: 'unsharded', database, home: placement }
  return createDatabase
    ? { kind: 'unsharded', database: await createImplicitly(host, db, operation), home: placement }
    : missingRoute
}

/**
 * Returns a newer placement if the collection was recreated; null: it was dropped.
 * @throws CommandError 13388 StaleConfig when the placement cannot be fetched
 */
function withHistory(
  { host, operation }: MongosInvocation,
  ns: string,
  known: CollectionPlacement,
): Promise<{ readonly placement: CollectionPlacement; readonly history: PlacementHistory } | null> {
  let placement: CollectionPlacement | null = known
  return retryStale(
    host,
    async () => {
      if (placement === null) return null
      const history = await host.catalog.history(placement, operation)
      if (history !== null) return { placement, history }
      host.catalog.markCollectionStale(ns, placement)
      placement = await host.catalog.collection(ns, operation)
      return again
    },
    () => {
      throw new CommandError('StaleConfig', `collection ${ns} was dropped or recreated during the operation`)
    },
  )
}

export function soleMember(route: Extract<Route, { kind: 'config' | 'unsharded' }>): string {
  if (route.kind === 'config') return configAddress
  return route.home === null ? route.database.primaryShard : route.home.table.lowestShard()
}

/** The current placement; null: the collection is not in the catalog. */
export function placementOf(route: Route): CollectionPlacement | null {
  if (route.kind === 'sharded') return route.known ?? route.placement
  return route.kind === 'unsharded' ? route.home : null
}

export function routedCommand(
  invocation: MongosInvocation,
  route: Route,
  member: string,
  plainBody: Uint8Array,
  sequences: RemoteCommand['sequences'] = [],
): RemoteCommand {
  const body = bodyWithSettings(invocation, plainBody)
  // Reads with `available` ignore ownership. Server: service_entry_point_common.cpp,
  // initializeClientRoutingVersions.
  const { db } = invocation
  const isVersioned = invocation.concerns.read.level !== 'available'
  const placement = isVersioned ? placementOf(route) : null
  if (placement !== null)
    return {
      db,
      body,
      sequences,
      shardVersion: placement.table.versionOn(member),
      databaseVersion: null,
      stmtIds: null,
    }
  if (isVersioned && route.kind === 'unsharded')
    return { db, body, sequences, shardVersion: 'UNSHARDED', databaseVersion: route.database.version, stmtIds: null }
  return unversioned(db, body, sequences)
}
