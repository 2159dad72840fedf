import {
  answering,
  gossipedKinds,
  type Actor,
  type ActorContext,
  type Gossiped,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type UnfinishedWork,
} from '@shardlab/actor'
import { SetContext } from '@shardlab/member'
import type { LogEntry } from '@shardlab/storage'
import {
  createSetMember,
  RoleActor,
  startWithOldestFeatureCompatibilityVersion,
  type NodeClients,
  type NodeOfSet,
  type StorageNode,
} from '@shardlab/node'
import { collModRecovery } from './coordinators/collections/coll-mod.js'
import { dropCollectionRecovery } from './coordinators/collections/drop-collection.js'
import { refineShardKeyRecovery } from './coordinators/collections/refine-shard-key.js'
import { renameCollectionRecovery } from './coordinators/collections/rename-collection.js'
import { dropDatabaseRecovery } from './coordinators/databases/drop-database.js'
import { movePrimaryRecovery } from './coordinators/databases/move-primary.js'
import { receiveDatabaseRecovery } from './coordinators/databases/receive-database.js'
import { createCollectionRecovery } from './coordinators/shard-collection/create-collection.js'
import type { DdlRecoveries } from './coordinators/ddl-coordinators.js'
import { createParts, nodeOptionsOf, type ShardOptions } from './create-parts.js'
import { samplesTimers } from './query-analysis/query-samples.js'
import { rangeDeleterTimer } from './range-deletion/range-deleter.js'
import { reportHosts } from './membership/report-hosts.js'
import { recoverReshardCommands } from './resharding/command/reshard-collection.js'
import { reshardingTimer } from './resharding/participant/reshardings.js'
import { shardHandlers } from './shard-handlers.js'
import type { ShardParts } from './shard-parts.js'
import { exportShardState, resumeShard, unfinishedWork, type ShardState } from './shard-state.js'

export function createShard(context: ActorContext, options: ShardOptions): Actor {
  const { set = null, findReplicaSetHostTimeoutMs = 0 } = options
  return createSetMember(
    context,
    nodeOptionsOf(options),
    { set, isConfigServer: false },
    (nodeContext, ofSet) => new Shard(new SetContext(nodeContext, findReplicaSetHostTimeoutMs), options, ofSet),
  )
}

const ddlRecoveries: DdlRecoveries<ShardParts> = {
  collMod: collModRecovery,
  createCollection: createCollectionRecovery,
  dropCollection: dropCollectionRecovery,
  dropDatabase: dropDatabaseRecovery,
  movePrimary: movePrimaryRecovery,
  receiveDatabase: receiveDatabaseRecovery,
  refineCollectionShardKey: refineShardKeyRecovery,
  renameCollection: renameCollectionRecovery,
}

class Shard extends RoleActor {
  readonly node: StorageNode
  readonly #isSecondary: boolean
  readonly #parts: ShardParts
  /** Without the node's timers. */
  readonly #timers: ReadonlyMap<string, () => Promise<void>>

  constructor(context: ActorContext, options: ShardOptions, ofSet: NodeOfSet) {
    super()
    this.#parts = createParts(context, options, ofSet)
    this.node = this.#parts.node
    this.#isSecondary = ofSet.mode === 'secondary'
    const { rangeDeleter, reshardings, samples } = this.#parts
    this.#timers = new Map([
      [rangeDeleterTimer, () => rangeDeleter.wake()],
      [reshardingTimer, () => reshardings.wake()],
      ...(samples === null ? [] : samplesTimers.map((timer) => [timer, () => samples.wake(timer)] as const)),
    ])
  }

  override start(): void {
    const { coordinators, reshardings, migrations, ddl, autoSplitter, samples, sizeReports } = this.#parts
    super.start()
    if (this.#isSecondary) return
    startWithOldestFeatureCompatibilityVersion(this.node)
    this.#parts.ranges.start()
    sizeReports?.start()
    coordinators.start()
    reshardings.start()
    migrations.start()
    recoverReshardCommands(this.#parts)
    ddl.recover(this.#parts, ddlRecoveries)
    autoSplitter.start()
    samples?.start()
    // A set of one has the members that it had.
    if (!this.node.set.isAlone) reportHosts(this.node)
  }

  override configChanged(): void {
    reportHosts(this.node)
  }

  override applied(entry: LogEntry): void {
    this.#parts.secondary?.applied(entry)
  }

  unfinished(): UnfinishedWork[] {
    return unfinishedWork(this.#parts)
  }

  override exportState(): ShardState {
    return exportShardState(this.#parts)
  }

  resume(state: ShardState, clients: NodeClients | null): void {
    resumeShard(this.#parts, state, clients)
  }

  override async wake(timer: string): Promise<void> {
    await (this.#timers.get(timer)?.() ?? super.wake(timer))
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    const handler = (shardHandlers as Partial<Record<MessageKind, (shard: ShardParts, request: unknown) => unknown>>)[
      kind
    ]
    if (handler === undefined) return this.serveAsNode(kind, request)
    if (!gossipedKinds.has(kind)) return answering(kind, () => handler(this.#parts, request) as ReplyOf<K>)
    const { clusterTime } = request as Gossiped
    if (clusterTime != null) this.node.clock.advance(clusterTime)
    return this.#withTime(answering(kind, () => handler(this.#parts, request) as ReplyOf<K>))
  }

  async #withTime<R>(answer: Promise<R> | R): Promise<R> {
    return { ...(await answer), clusterTime: this.node.clock.time }
  }

  override describe(): Record<string, unknown> {
    return { ...super.describe(), collectionVersions: this.#parts.placements.collectionVersions() }
  }
}
