/**
 * Stages with a source of their own on a storage node: `$collStats`, `$indexStats`, `$currentOp`, …
 * The stage table of `@shardlab/query` (`StageOperator.source`) lists these stages, their allowed
 * positions, and whether they take a collection. `node-sources.ts` has one row for each, which
 * gives their documents. A row that gives one document:
 * ```ts
 * export const collStatsSource: NodeStageSource = {
 *   name: '$collStats',
 *   open({ invocation, ns, argument }) {
 *     const collection = invocation.host.collection(ns)
 *     if (collection === undefined)
 *       throw new CommandError('NamespaceNotFound', `Unable to retrieve …`)
 *     return listSource([new DocumentWriter().string('ns', ns).finish()])
 *   },
 * }
 * ```
 * `$documents` has no row: it depends only on its argument, and the pipeline runs it itself.
 */
import type { RawValue } from '@shardlab/bson'
import type { OwnershipFilter } from '@shardlab/sharding'
import type { CursorSource } from '../../cursors/cursor-manager.js'
import type { NodeInvocation } from '../../host/node-host.js'

export interface SourceRequest {
  readonly invocation: NodeInvocation
  /**
   * `database.collection`; `database.$cmd.aggregate` for `{aggregate: 1}`. The role has already
   * entered it.
   */
  readonly ns: string
  readonly argument: RawValue
  /** The documents that the shard owns; null: all of them, or the collection does not exist. */
  readonly ownership: OwnershipFilter | null
}

export interface NodeStageSource {
  readonly name: string
  /**
   * Called once per command; the rest of the pipeline runs on the returned source.
   * @throws CommandError for an invalid argument or a missing collection
   */
  open(request: SourceRequest): CursorSource | Promise<CursorSource>
}
