/** Server: router_role, kMaxNumStaleVersionRetries. */
import { BsonType, CommandError, ErrorCodes, findField } from '@shardlab/bson'
import { collectionUuidOf, uuidMismatch } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { isStaleCode } from '../remote/command-reply.js'
import { abortToRestart } from '../transactions/end-transaction.js'
import { again, retryStale } from './retry-stale.js'
import { knownRoute, placementOf, resolveRoute, type Route } from './route.js'

/**
 * After each failure for stale routing, fetches the placement again and repeats the attempt.
 * @throws CommandError those of the attempt; the stale error after the last attempt
 */
export function withRoute<T>(
  invocation: MongosInvocation,
  ns: string,
  createDatabase: boolean,
  attempt: (route: Route) => Promise<T>,
): Promise<T> {
  const route = knownRoute(invocation, ns)
  if (route === null) return withFetchedRoute(invocation, ns, createDatabase, attempt, 1)
  const retry = (error: unknown): Promise<T> => {
    noteFailure(invocation, ns, route, error)
    return withFetchedRoute(invocation, ns, createDatabase, attempt, 2)
  }
  let first: Promise<T>
  try {
    first = attempt(route)
  } catch (error) {
    first = Promise.reject(error)
  }
  return first.catch(retry)
}

function withFetchedRoute<T>(
  invocation: MongosInvocation,
  ns: string,
  createDatabase: boolean,
  attempt: (route: Route) => Promise<T>,
  firstAttempt: number,
): Promise<T> {
  let failure: unknown
  return retryStale(
    invocation.host,
    async () => {
      const route = await resolveRoute(invocation, ns, createDatabase)
      if (route.kind === 'missing') refuseUuid(invocation, ns)
      try {
        return await attempt(route)
      } catch (error) {
        noteFailure(invocation, ns, route, error)
        failure = error
        return again
      }
    },
    () => {
      throw failure
    },
    firstAttempt,
  )
}

/** @throws the error itself unless it reports stale routing */
function noteFailure(invocation: MongosInvocation, ns: string, route: Route, error: unknown): void {
  if (!(error instanceof CommandError) || !isStaleCode(error.code)) throw error
  noteStale(invocation, ns, route, error)
}

/**
 * A database that does not exist has no collection with that UUID.
 * @throws CommandError 361 CollectionUUIDMismatch
 */
export function refuseUuid({ args }: MongosInvocation, ns: string): void {
  const uuid = collectionUuidOf(args)
  if (uuid !== null) throw uuidMismatch(ns, uuid, null)
}

/** @throws CommandError the error itself in a transaction that cannot be routed again */
export function noteStale(invocation: MongosInvocation, ns: string, route: Route, error: CommandError): void {
  markStale(invocation, ns, route, error)
  const { transaction } = invocation.operation
  transaction?.restart(error, (shards) => abortToRestart(invocation, transaction, shards))
}

function markStale({ host, db, operation }: MongosInvocation, ns: string, route: Route, error: CommandError): void {
  host.catalog.staleConfigCount++
  operation.staleReplies++
  if (error.code === ErrorCodes.StaleDbVersion) {
    if (route.kind === 'unsharded') host.catalog.markDatabaseStale(db, route.database)
    else host.catalog.forgetDatabase(db)
    return
  }
  host.catalog.markCollectionStale(ns, placementOf(route))
  // The error may be about another collection than the command's.
  const named = error.extra === null ? undefined : findField(error.extra, 'ns')
  if (named?.type === BsonType.string && named.asString() !== ns) host.catalog.forgetCollection(named.asString())
}
