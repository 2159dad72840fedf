/** Where a namespace lives, as this router knows it. */
import { configAddress } from '@shardlab/actor'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { MongosInvocation } from '../command/invocation.js'
import type { RemoteCommand } from '../remote/remote.js'

export type Route =
  /** `config` and `admin`: on the config server, without versions. */
  | { readonly kind: 'config' }
  | { readonly kind: 'sharded'; readonly placement: CollectionPlacement }
  /** On the primary shard of its database. */
  | { readonly kind: 'unsharded'; readonly database: DatabaseEntry }
  /** There is no such database. */
  | { readonly kind: 'missing' }

export type ShardedRoute = Extract<Route, { kind: 'sharded' }>

export function isConfigDatabase(db: string): boolean {
  return db === 'config' || db === 'admin'
}

const configRoute: Route = { kind: 'config' }
const missingRoute: Route = { kind: 'missing' }

/** @throws CommandError 133, 6, 50; with `createDatabase` also what the config server says of the database */
export async function resolveRoute(invocation: MongosInvocation, ns: string, createDatabase: boolean): Promise<Route> {
  const { host, db, operation } = invocation
  if (isConfigDatabase(db)) return configRoute
  const cached = host.catalog.peekCollection(ns)
  const placement = cached === undefined ? await host.catalog.collection(ns, operation) : cached
  if (placement !== null) return { kind: 'sharded', placement }
  const database = host.catalog.peekDatabase(db) ?? (await host.catalog.database(db, operation))
  if (database !== null) return { kind: 'unsharded', database }
  return createDatabase ? { kind: 'unsharded', database: await host.catalog.createDatabase(db, operation) } : missingRoute
}

/** The one member that a route without chunks leads to. */
export function soleMember(route: Extract<Route, { kind: 'config' | 'unsharded' }>): string {
  return route.kind === 'config' ? configAddress : route.database.primaryShard
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
  const placed = invocation.concerns.read.level === 'available' ? configRoute : route
  switch (placed.kind) {
    case 'sharded':
      return {
        db: invocation.db,
        body,
        sequences,
        shardVersion: placed.placement.table.versionOn(member),
        databaseVersion: null,
        stmtIds: null,
      }
    case 'unsharded':
      return { db: invocation.db, body, sequences, shardVersion: 'UNSHARDED', databaseVersion: placed.database.version, stmtIds: null }
    default:
      return { db: invocation.db, body, sequences, shardVersion: null, databaseVersion: null, stmtIds: null }
  }
}
