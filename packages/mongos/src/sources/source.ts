/**
 * Stages with a source of their own, on a router. A row says where the stage runs:
 * - `router`: `open` produces the documents (`$listLocalSessions`, `$currentOp` with `localOps`).
 * - `every-shard`: each shard produces its own, regardless of the collection (`$currentOp`).
 * - `owning-shards`: the owners of chunks of the collection, or the primary shard of an unsharded
 *   one (`$collStats`, `$indexStats`).
 *
 * Shards get the stage unchanged; its row in `packages/node/src/sources` runs there. The rest of
 * the pipeline is split as usual.
 */
import type { RawValue } from '@shardlab/bson'
import type { DocumentSource } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

export interface RouterSourceRequest {
  readonly invocation: MongosInvocation
  /** `database.collection`; `database.$cmd.aggregate` for `{aggregate: 1}`. */
  readonly ns: string
  readonly argument: RawValue
}

export type SourcePlace = 'router' | 'every-shard' | 'owning-shards'

export interface MongosStageSource {
  /** With its `$`. */
  readonly name: string
  /** @throws CommandError for an invalid argument */
  place(argument: RawValue, invocation: MongosInvocation): SourcePlace
  /**
   * Called for `router` only.
   * @throws CommandError
   */
  open?(request: RouterSourceRequest): DocumentSource | Promise<DocumentSource>
}
