/**
 * Stages with a source of their own, as a storage node serves them: `$collStats`, `$indexStats`, `$currentOp`, … Which
 * stages there are, where they may stand and whether they take a collection is told by the stage table of
 * `@shardlab/query` (`StageOperator.source`); what they give is told here, one row each in `node-sources.ts`.
 *
 * A row that gives one document:
 * ```ts
 * export const collStatsSource: NodeStageSource = {
 *   name: '$collStats',
 *   open({ invocation, ns, argument }) {
 *     const collection = invocation.host.collection(ns)
 *     if (collection === undefined) throw new CommandError('NamespaceNotFound', `Unable to retrieve …`)
 *     return listSource([new DocumentWriter().string('ns', ns).finish()])
 *   },
 * }
 * ```
 * `$documents` needs no row: it depends on nothing but its argument and is run by the pipeline itself.
 */
import type { RawValue } from '@shardlab/bson'
import type { OwnershipFilter } from '@shardlab/sharding'
import type { CursorSource } from '../../cursors/cursor-manager.js'
import type { NodeInvocation } from '../../host/node-host.js'

/** What a source is opened for. */
export interface SourceRequest {
  readonly invocation: NodeInvocation
  /** `database.collection`; `database.$cmd.aggregate` for `{aggregate: 1}`. The role has let the command in. */
  readonly ns: string
  /** Argument of the stage. */
  readonly argument: RawValue
  /** What of the collection the shard owns; null: all of it, or there is no collection. */
  readonly ownership: OwnershipFilter | null
}

export interface NodeStageSource {
  /** Of the stage, with its `$`. */
  readonly name: string
  /**
   * Opened once per command; the rest of the pipeline runs on what it gives.
   * @throws CommandError for an argument that is none, a missing collection
   */
  open(request: SourceRequest): CursorSource | Promise<CursorSource>
}
