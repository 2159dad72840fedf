/** Attempts with routing that may be stale. Server: router_role, kMaxNumStaleVersionRetries. */
import { BsonType, CommandError, findField } from '@shardlab/bson'
import { collectionUuidOf, uuidMismatch } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import { isStaleCode } from '../remote/command-reply.js'
import { placementOf, resolveRoute, type Route } from './route.js'

/**
 * Runs `attempt` with a route until it does not fail for stale routing: after each such failure what was used is
 * fetched anew.
 * @throws CommandError whatever else the attempt throws; the stale error itself after the last attempt
 */
export async function withRoute<T>(
  invocation: MongosInvocation,
  ns: string,
  createDatabase: boolean,
  attempt: (route: Route) => Promise<T>,
): Promise<T> {
  const { host } = invocation
  for (let attempts = 1; ; attempts++) {
    const route = await resolveRoute(invocation, ns, createDatabase)
    if (route.kind === 'missing') refuseUuid(invocation, ns)
    try {
      return await attempt(route)
    } catch (error) {
      if (!(error instanceof CommandError) || !isStaleCode(error.code)) throw error
      noteStale(invocation, ns, route, error)
      if (attempts >= host.limits.staleAttemptsMax) {
        host.limitReached('staleAttemptsMax', attempts)
        throw error
      }
    }
  }
}

/** No collection of a database that is not there has a UUID. @throws CommandError 361 CollectionUUIDMismatch */
function refuseUuid({ args, host }: MongosInvocation, ns: string): void {
  const uuid = collectionUuidOf(args, host.behaviours)
  if (uuid !== null) throw uuidMismatch(ns, uuid, null)
}

/** Marks stale what the route was made of. */
export function noteStale({ host, db }: MongosInvocation, ns: string, route: Route, error: CommandError): void {
  host.catalog.staleConfigCount++
  if (error.code === 249) {
    if (route.kind === 'unsharded') host.catalog.markDatabaseStale(db, route.database)
    else host.catalog.forgetDatabase(db)
    return
  }
  host.catalog.markCollectionStale(ns, placementOf(route))
  // A command may touch other collections than the one that it names.
  const named = error.extra === null ? undefined : findField(error.extra, 'ns')
  if (named?.type === BsonType.string && named.asString() !== ns) host.catalog.forgetCollection(named.asString())
}
