/**
 * Stages with a source of their own, as a router serves them. A row says where the stage runs:
 * - `router`: the router gives the documents itself (`$listLocalSessions`, `$currentOp` with `localOps`): `open` does;
 * - `every-shard`: each shard gives its own, whatever the collection (`$currentOp`);
 * - `owning-shards`: the shards that own chunks of the collection, the primary shard of an unsharded one (`$collStats`,
 *   `$indexStats`).
 *
 * On shards the stage goes out as the client wrote it and its row in `packages/node/src/sources` answers; what follows it is split
 * as any pipeline is.
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
  /** Of the stage, with its `$`. */
  readonly name: string
  /** @throws CommandError for an argument that is none */
  place(argument: RawValue): SourcePlace
  /** The documents, for `router`; never called for the other places. @throws CommandError */
  open?(request: RouterSourceRequest): DocumentSource | Promise<DocumentSource>
}
