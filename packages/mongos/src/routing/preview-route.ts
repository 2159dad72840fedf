/** Where a router would send an operation, without sending it: for tools. */
import { CommandError } from '@shardlab/bson'
import type { ModifyStatement } from '@shardlab/member'
import { compileFilter, type EvaluationContext } from '@shardlab/query'
import { behavioursOf, targetFilter, type CollectionPlacement, type EmulatedVersion } from '@shardlab/sharding'
import { queryLanguageOf } from '../host/query-language.js'
import type { StatementTarget } from '../writes/targeting/statement-target.js'
import { targetInsert } from '../writes/targeting/target-insert.js'
import { targetModify } from '../writes/targeting/target-modify.js'

export type PreviewedOperation =
  | { readonly kind: 'insert'; readonly document: Uint8Array }
  | { readonly kind: 'find'; readonly filter: Uint8Array }
  /** `document`: the statement as a client sends it, for error texts. */
  | { readonly kind: 'write'; readonly statement: ModifyStatement; readonly document: Uint8Array }

export interface PreviewedRoute {
  readonly kind: 'targeted' | 'multi' | 'broadcast' | 'refused'
  /** Empty if the router refuses the operation. */
  readonly shards: readonly string[]
  /** One document on one shard, found by asking the shards first. */
  readonly isSearched: boolean
  /** null: the router accepts the operation. */
  readonly error: CommandError | null
}

/**
 * @param allShards of the cluster, for multi-writes
 * @throws CommandError for an invalid filter
 */
export function previewRoute(
  emulate: EmulatedVersion,
  placement: CollectionPlacement,
  allShards: readonly string[],
  operation: PreviewedOperation,
): PreviewedRoute {
  const behaviours = behavioursOf(emulate)
  const evaluation: EvaluationContext = { now: () => 0, random: () => 0, ...queryLanguageOf(behaviours) }
  if (operation.kind === 'find') {
    const { kind, shards } = targetFilter(placement, compileFilter(operation.filter, evaluation))
    return { kind, shards, isSearched: false, error: null }
  }
  if (operation.kind === 'insert') return routeOf(targetInsert(placement, behaviours, operation.document, null))
  const targeter = { placement, behaviours, evaluation, allShards }
  return routeOf(targetModify(targeter, operation.statement, operation.document))
}

function routeOf(target: StatementTarget): PreviewedRoute {
  if (target.kind === 'failed') return { kind: 'refused', shards: [], isSearched: false, error: target.error }
  const shards = target.kind === 'one' ? [target.shard] : target.shards
  const kind = target.isBroadcast ? 'broadcast' : shards.length === 1 ? 'targeted' : 'multi'
  return { kind, shards, isSearched: target.kind === 'first-match' && target.search, error: null }
}
