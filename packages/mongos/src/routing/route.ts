/** Where a namespace lives, as this router knows it. */
import { configAddress } from '@shardlab/actor'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { MongosInvocation } from '../command/invocation.js'
import type { RemoteCommand } from '../remote/remote.js'

export type Route =
  /** `config` and `admin`: on the config server, without versions. */
  | { readonly kind: 'config' }
  /** `known`: what the router believes now, when `placement` has the owners of the past that is read. */
  | { readonly kind: 'sharded'; readonly placement: CollectionPlacement; readonly known?: CollectionPlacement }
  /** On the primary shard of its database; when it has been moved, where its only chunk is. Then `home` is that placement, otherwise null. */
  | { readonly kind: 'unsharded'; readonly database: DatabaseEntry; readonly home: CollectionPlacement | null }
  /** There is no such database. */
  | { readonly kind: 'missing' }

export type ShardedRoute = Extract<Route, { kind: 'sharded' }>
export type UnshardedRoute = Extract<Route, { kind: 'unsharded' }>

export function isConfigDatabase(db: string): boolean {
  return db === 'config' || db === 'admin'
}

const configRoute: Route = { kind: 'config' }
const missingRoute: Route = { kind: 'missing' }

/** @throws CommandError 133, 6, 50, 250 StaleChunkHistory; with `createDatabase` also what the config server says of the database */
export async function resolveRoute(invocation: MongosInvocation, ns: string, createDatabase: boolean): Promise<Route> {
  const { host, db, operation } = invocation
  if (isConfigDatabase(db)) return configRoute
  const cached = host.catalog.peekCollection(ns)
  const placement = cached === undefined ? await host.catalog.collection(ns, operation) : cached
  const { atClusterTime } = invocation.concerns.read
  if (placement !== null && atClusterTime !== null) {
    const history = await host.catalog.history(placement, operation)
    if (history === null) {
      host.catalog.markCollectionStale(ns, placement)
      return resolveRoute(invocation, ns, createDatabase)
    }
    host.clock.advance(history.newest)
    const past = history.at(atClusterTime)
    if (past !== placement) return { kind: 'sharded', placement: past, known: placement }
  }
  if (placement !== null && !placement.isUnsplittable) return { kind: 'sharded', placement }
  const database = host.catalog.peekDatabase(db) ?? (await host.catalog.database(db, operation))
  if (database !== null) return { kind: 'unsharded', database, home: placement }
  return createDatabase ? { kind: 'unsharded', database: await host.catalog.createDatabase(db, operation), home: placement } : missingRoute
}

/** The one member that a route without chunks leads to. */
export function soleMember(route: Extract<Route, { kind: 'config' | 'unsharded' }>): string {
  if (route.kind === 'config') return configAddress
  return route.home === null ? route.database.primaryShard : route.home.table.lowestShard()
}

/** What the router believes of the collection; null: the catalog does not have the collection. */
export function placementOf(route: Route): CollectionPlacement | null {
  if (route.kind === 'sharded') return route.known ?? route.placement
  return route.kind === 'unsharded' ? route.home : null
}

/** A command to one of the members of a route, with the versions that the router believes in. */
export function routedCommand(
  invocation: MongosInvocation,
  route: Route,
  member: string,
  body: Uint8Array,
  sequences: RemoteCommand['sequences'] = [],
): RemoteCommand {
  // Such a read takes what is there, wherever it belongs. Server: service_entry_point_common.cpp, initializeClientRoutingVersions.
  const versions = invocation.concerns.read.level === 'available' ? noVersions : versionsFor(route, member)
  return { db: invocation.db, body, sequences, ...versions, stmtIds: null }
}

const noVersions = { shardVersion: null, databaseVersion: null }

/** What a router believes, for one of the members of a route. */
function versionsFor(route: Route, member: string): Pick<RemoteCommand, 'shardVersion' | 'databaseVersion'> {
  const placement = placementOf(route)
  if (placement !== null) return { shardVersion: placement.table.versionOn(member), databaseVersion: null }
  if (route.kind === 'unsharded') return { shardVersion: 'UNSHARDED', databaseVersion: route.database.version }
  return noVersions
}
