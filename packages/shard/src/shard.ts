/** The shard role: a storage node that knows which part of each collection is its own. */
import {
  answering,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type UnfinishedWork,
} from '@shardlab/actor'
import { StorageNode, type NodeClients } from '@shardlab/node'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { AutoSplitter } from './auto-split/auto-splitter.js'
import { DdlCoordinators } from './coordinators/ddl-coordinators.js'
import { inDefinitionOrder } from './coordinators/locks/definition-order.js'
import { dropCollectionRecovery, dropDatabaseRecovery } from './coordinators/collections/drop-collection.js'
import { movePrimaryTimer, recoverMovePrimaries } from './coordinators/databases/move-primary.js'
import { adoptRename, renameCollectionRecovery } from './coordinators/collections/rename-collection.js'
import { DocumentMoves, documentMovesTimer } from './document-moves/document-moves.js'
import { CriticalSections } from './metadata/critical-sections.js'
import { DatabaseMoves } from './coordinators/locks/database-moves.js'
import { PlacementState } from './metadata/placement-state.js'
import { VersionCheck } from './metadata/version-check.js'
import { MeasuredCollections, type MeasuredOptions } from './ranges/measured/measured-collections.js'
import { Migrations } from './migration/migrations.js'
import { rangeDeleterTimer } from './range-deletion/range-deleter.js'
import { QuerySamples, samplesTimers } from './query-analysis/query-samples.js'
import { DefinitionLocks } from './coordinators/locks/definition-locks.js'
import { recoverReshardCommands } from './resharding/command/reshard-collection.js'
import { Reshardings, reshardingTimer } from './resharding/participant/reshardings.js'
import { shardHandlers } from './shard-handlers.js'
import type { ShardParts } from './shard-parts.js'
import { OrphanCounts } from './range-deletion/orphan-counts.js'
import { shardRole } from './shard-role.js'
import { exportShardState, resumeShard, unfinishedWork, type ShardState } from './shard-state.js'

export interface ShardOptions {
  readonly emulate: EmulatedVersion
  readonly maxWireVersion: number
  /** Refuse commands and operators that silently lack something. Default false. */
  readonly strict?: boolean
  /** Collections without documents. Default null: there are none. Only a simulated cluster gives it. */
  readonly measured?: MeasuredOptions | null
}

export function createShard(context: ActorContext, options: ShardOptions): Actor {
  return new Shard(context, options)
}

const ddlRecoveries = {
  dropCollection: dropCollectionRecovery,
  dropDatabase: dropDatabaseRecovery,
  renameCollection: renameCollectionRecovery,
}

class Shard implements Actor {
  readonly #context: ActorContext
  readonly #node: StorageNode
  readonly #parts: ShardParts
  /** Who is woken by a timer; those of the node are not among them. */
  readonly #timers: ReadonlyMap<string, () => Promise<void>>

  constructor(context: ActorContext, options: ShardOptions) {
    this.#context = context
    this.#parts = createParts(context, options)
    this.#node = this.#parts.node
    const { documentMoves, migrations, reshardings, samples } = this.#parts
    this.#timers = new Map([
      [documentMovesTimer, () => documentMoves.wake()],
      [rangeDeleterTimer, () => migrations.deleter.wake()],
      [reshardingTimer, () => reshardings.wake()],
      [movePrimaryTimer, () => recoverMovePrimaries(this.#parts)],
      ...(samples === null ? [] : samplesTimers.map((timer) => [timer, () => samples.wake(timer)] as const)),
    ])
  }

  start(): void {
    const { documentMoves, reshardings, migrations, ddl, autoSplitter, samples } = this.#parts
    this.#node.start()
    this.#parts.measured.start()
    this.#context.setTimer(movePrimaryTimer, 0)
    documentMoves.start()
    reshardings.start()
    migrations.start()
    recoverReshardCommands(this.#parts)
    ddl.recover(this.#parts, ddlRecoveries)
    autoSplitter.start()
    samples?.start()
  }

  unfinished(): UnfinishedWork[] {
    return unfinishedWork(this.#parts)
  }

  exportState(): ShardState {
    return exportShardState(this.#parts)
  }

  exportClients(): NodeClients {
    return this.#node.exportClients()
  }

  resume(state: ShardState, clients: NodeClients | null): void {
    resumeShard(this.#parts, state, clients)
  }

  async wake(timer: string): Promise<void> {
    await (this.#timers.get(timer)?.() ?? this.#node.wake(timer))
  }

  stop(): void {
    this.#node.stop()
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    const handler = (shardHandlers as Partial<Record<MessageKind, (shard: ShardParts, request: unknown) => unknown>>)[
      kind
    ]
    if (handler === undefined) return this.#serveAsNode(kind, request)
    return answering(
      kind,
      inDefinitionOrder(this.#parts, kind, request, () => handler(this.#parts, request) as ReplyOf<K>),
    )
  }

  #serveAsNode<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    const served = this.#node.serve(kind, request)
    if (served === undefined) throw new UnservedMessageError(this.#context.address, kind)
    return served as Promise<ReplyOf<K>> | ReplyOf<K>
  }

  describe(): Record<string, unknown> {
    return {
      collections: this.#node.engine.collections().map(({ ns, count }) => ({ ns, count })),
      collectionVersions: this.#parts.state.collectionVersions(),
      cursors: this.#node.cursors.size,
      sessions: this.#node.sessions.size,
    }
  }
}

function createParts(context: ActorContext, options: ShardOptions): ShardParts {
  const behaviours = behavioursOf(options.emulate)
  const state = new PlacementState(context, (ns, placement) => adoptRename(node, ns, placement))
  const node: StorageNode = new StorageNode(
    context,
    { behaviours, maxWireVersion: options.maxWireVersion, strict: options.strict ?? false },
    () => shardRole(context.address, behaviours, state, () => parts),
  )
  const critical = new CriticalSections()
  const documentMoves = new DocumentMoves(node)
  const parts: ShardParts = {
    node,
    state,
    critical,
    databaseMoves: new DatabaseMoves(behaviours.movePrimaryRefusesWrites, { context, behaviours }),
    ddl: new DdlCoordinators(node),
    versions: new VersionCheck(context.address, state, critical, (uuid) => documentMoves.coming.hiddenIn(uuid), {
      ownershipFilterOff: context.mutated('ownershipFilterOff'),
      versionCheckOff: context.mutated('versionCheckOff'),
    }),
    documentMoves,
    samples: behaviours.queryAnalyzer ? new QuerySamples(node) : null,
    migrations: new Migrations(() => parts, node),
    reshardings: new Reshardings(() => parts, node),
    definitionLocks: new DefinitionLocks({ context, behaviours }, critical),
    autoSplitter: new AutoSplitter(() => parts),
    measured: new MeasuredCollections(node, options.measured ?? null),
    orphans: new OrphanCounts(node),
  }
  return parts
}
