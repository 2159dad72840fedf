/** What the protocols of a shard work on, and the table that their handlers stand in. */
import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import type { NodeRole, StorageNode } from '@shardlab/node'
import type { AutoSplitter } from './auto-split/auto-splitter.js'
import type { DdlCoordinators } from './coordinators/ddl-coordinators.js'
import type { DocumentMoves } from './document-moves/document-moves.js'
import type { CriticalSections } from './metadata/critical-sections.js'
import type { DatabaseMoves } from './coordinators/locks/database-moves.js'
import type { PlacementState } from './metadata/placement-state.js'
import type { QuerySamples } from './query-analysis/query-samples.js'
import type { OrphanCounts } from './range-deletion/orphan-counts.js'
import type { VersionCheck } from './metadata/version-check.js'
import type { MeasuredCollections } from './ranges/measured/measured-collections.js'
import type { Migrations } from './migration/migrations.js'
import type { DefinitionLocks } from './coordinators/locks/definition-locks.js'
import type { Reshardings } from './resharding/participant/reshardings.js'

export interface ShardParts {
  readonly node: StorageNode
  readonly state: PlacementState
  readonly critical: CriticalSections
  readonly databaseMoves: DatabaseMoves
  readonly ddl: DdlCoordinators
  readonly versions: VersionCheck
  readonly documentMoves: DocumentMoves
  readonly migrations: Migrations
  readonly reshardings: Reshardings
  readonly definitionLocks: DefinitionLocks
  readonly autoSplitter: AutoSplitter
  readonly measured: MeasuredCollections
  readonly orphans: OrphanCounts
  /** Null where the emulated version samples no queries. */
  readonly samples: QuerySamples | null
}

export interface ShardRole extends NodeRole {
  readonly parts: ShardParts
}

/** The parts of the shard that a node belongs to: for commands, which know their node. */
export function partsOf(node: StorageNode): ShardParts {
  return (node.role as ShardRole).parts
}

/** Requests that shards answer, commands of clients apart. */
export type ShardKind = Extract<MessageKind, `shard.${string}`>

/** One handler for each kind. A CommandError that it throws becomes the reply's `error`. */
export type ShardHandlers<K extends ShardKind = ShardKind> = {
  readonly [Kind in K]: (shard: ShardParts, request: RequestOf<Kind>) => Promise<ReplyOf<Kind>> | ReplyOf<Kind>
}
