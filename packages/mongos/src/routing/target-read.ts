/** Server: getTargetedShardsForQuery of cluster_commands_helpers.cpp. */
import { withLet } from '@shardlab/member'
import { compileFilter } from '@shardlab/query'
import { targetFilter, targetSoleEquality, type CollectionPlacement, type Targeting } from '@shardlab/sharding'
import {
  BsonType,
  compareDocuments,
  emptyDocument,
  findField,
  isEmptyDocument,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import {
  countRouted,
  isRoutingWatched,
  noteRouted,
  routedBy,
  routedToPrimary,
  type RoutedTo,
} from '../statistics/routed.js'
import type { CountedCommand } from '../statistics/statistics.js'
import { soleMember, type Route } from './route.js'

/** @throws CommandError for an invalid filter */
export function targetRead(
  { args, host }: MongosInvocation,
  placement: CollectionPlacement,
  filter: RawValue | undefined,
  collation: Uint8Array | undefined,
): Targeting {
  const options = collatedTargeting(placement, collation)
  // With `let`, the value may be a variable: compile the filter.
  const byKey = filter === undefined || args.has('let') ? null : targetSoleEquality(placement, filter, options)
  if (byKey !== null) return byKey
  const compiled = compileFilter(filter?.slice() ?? emptyDocument, withLet(host.evaluation(), args.document('let')))
  return targetFilter(placement, compiled, options)
}

export interface ReadTargets {
  readonly members: readonly string[]
  /** For {@link noteRead}; null: the database does not exist. */
  readonly to: RoutedTo | null
}

/**
 * Empty: the database does not exist. One: an unsharded collection.
 * @throws CommandError for an invalid filter
 */
export function membersOfRead(
  invocation: MongosInvocation,
  ns: string,
  route: Route,
  filter: RawValue | undefined,
  collation: Uint8Array | undefined,
): ReadTargets {
  if (route.kind === 'missing') return { members: [], to: null }
  if (route.kind !== 'sharded') {
    const member = soleMember(route)
    return { members: [member], to: routedToPrimary(ns, route, member) }
  }
  const targeting = targetRead(invocation, route.placement, filter, collation)
  return { members: targeting.shards, to: routedBy(ns, route, targeting) }
}

/** @param command null: the command has no targeting counters */
export function noteRead(
  invocation: MongosInvocation,
  to: RoutedTo | null,
  command: CountedCommand | null = null,
): void {
  if (to !== null) noteRouted(invocation, command === null ? [] : [{ command, shardCount: to.shards.length }], to)
}

export function noteTargetedRead(
  invocation: MongosInvocation,
  ns: string,
  route: Route,
  targeting: Targeting,
  command: CountedCommand,
): void {
  if (isRoutingWatched(invocation)) noteRead(invocation, routedBy(ns, route, targeting), command)
  else countRouted(invocation, [{ command, shardCount: targeting.shards.length }], route)
}

// Except under the simple collation, equal strings may have different bytes and so different
// shards. The comparison itself does not matter.
const collated: { readonly strings: StringComparator } = { strings: (a, b) => (a < b ? -1 : a > b ? 1 : 0) }

export function collatedTargeting(
  placement: CollectionPlacement,
  collation: Uint8Array | undefined,
): { strings?: StringComparator } {
  return isSimpleCollation(effectiveCollation(placement, collation)) ? {} : collated
}

/**
 * Only with the collection's default collation does equality on `_id` match at most one document.
 */
export function hasDefaultCollation(placement: CollectionPlacement, collation: Uint8Array | undefined): boolean {
  const effective = effectiveCollation(placement, collation)
  const own = placement.defaultCollation
  if (isSimpleCollation(effective)) return isSimpleCollation(own)
  return own !== null && compareDocuments(effective!, own) === 0
}

function effectiveCollation(placement: CollectionPlacement, collation: Uint8Array | undefined): Uint8Array | null {
  return collation === undefined || isEmptyDocument(collation) ? placement.defaultCollation : collation
}

function isSimpleCollation(collation: Uint8Array | null): boolean {
  if (collation === null) return true
  const locale = findField(collation, 'locale')
  return locale?.type === BsonType.string && locale.asString() === 'simple'
}
