/** A storage node whose config.* collections are the sharding catalog. */
import {
  answering,
  clusterAddress,
  createDeferred,
  RequestFailedError,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type UnfinishedWork,
} from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import { SetContext, type StartOptions } from '@shardlab/member'
import {
  connectionStringOf,
  createSetMember,
  RoleActor,
  StorageNode,
  type Access,
  type NodeClients,
  type NodeOfSet,
  type NodeState,
  type SetOptions,
  type StorageNodeOptions,
} from '@shardlab/node'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { operationsNs, parseOperation } from './catalog/resharding/operation.js'
import { configHandlers } from './catalog/handlers.js'
import { nameShards } from './catalog/members/shard-names.js'
import { maxChunkSizeBytes } from './catalog/settings/chunk-size.js'
import { ShardingCatalog } from './catalog/sharding-catalog.js'
import { checkClientCommand, checkCreate, mayWrite } from './client-rules.js'
import { needsRoom } from './needs-room.js'

export interface ConfigServerOptions {
  readonly emulate: EmulatedVersion
  readonly maxWireVersion: number
  /** Clients need privileges for their commands. Default false. */
  readonly hasAccessControl?: boolean
  readonly startOptions?: StartOptions
  /** Refuses commands and operators that are only partly implemented. Default false. */
  readonly strict?: boolean
  /** These four: see `StorageNodeOptions`. */
  readonly oplogSizeBytes?: number
  readonly findReplicaSetHostTimeoutMs?: number
  readonly periodicNoopIntervalSecs?: number
  readonly checkpointAfterBytes?: number
  /** Default null: the only member of its set. */
  readonly set?: SetOptions | null
}

function nodeOptionsOf(options: ConfigServerOptions): StorageNodeOptions {
  return {
    behaviours: behavioursOf(options.emulate),
    maxWireVersion: options.maxWireVersion,
    strict: options.strict ?? false,
    hasAccessControl: options.hasAccessControl ?? false,
    ...(options.startOptions === undefined ? {} : { startOptions: options.startOptions }),
    findReplicaSetHostTimeoutMs: options.findReplicaSetHostTimeoutMs ?? 0,
    ...(options.checkpointAfterBytes === undefined ? {} : { checkpointAfterBytes: options.checkpointAfterBytes }),
    ...(options.oplogSizeBytes === undefined ? {} : { oplogSizeBytes: options.oplogSizeBytes }),
    ...(options.periodicNoopIntervalSecs === undefined
      ? {}
      : { periodicNoopIntervalSecs: options.periodicNoopIntervalSecs }),
  }
}

export function createConfigServer(context: ActorContext, options: ConfigServerOptions): Actor {
  const { set = null, findReplicaSetHostTimeoutMs = 0 } = options
  return createSetMember(
    context,
    nodeOptionsOf(options),
    { set, isConfigServer: true },
    (nodeContext, ofSet) => new ConfigServer(new SetContext(nodeContext, findReplicaSetHostTimeoutMs), options, ofSet),
  )
}

const everything: Access = { ownership: null }

/** One array, because the command table is kept for it. */
const noRows: readonly [] = []

function unlessUnreachable(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}

/** Receivers cache these replies, and later request only newer data. */
const tellsPlacement: ReadonlySet<MessageKind> = new Set([
  'config.get-chunks',
  'config.get-collection',
  'config.get-database',
])

class ConfigServer extends RoleActor {
  readonly #context: ActorContext
  readonly node: StorageNode
  readonly #isSecondary: boolean
  readonly #catalog: ShardingCatalog
  /** Only true is cached: every message needs the check. */
  #isInitialised = false
  /**
   * Resolves once the catalog exists: routers and shards may send requests before the shards are
   * registered.
   */
  readonly #initialised = createDeferred<void>()

  constructor(context: ActorContext, options: ConfigServerOptions, ofSet: NodeOfSet) {
    super()
    this.#isSecondary = ofSet.mode === 'secondary'
    this.#context = context
    this.node = new StorageNode(
      context,
      nodeOptionsOf(options),
      () => ({
        name: 'config-server',
        setName: context.address,
        memberName: context.address,
        rows: noRows,
        enter: (ns, invocation) => {
          checkClientCommand(ns, invocation)
          if (ns === 'config.chunks' && mayWrite(invocation)) this.#catalog.placements.noteEdit()
          return everything
        },
        checkReplacement: () => {},
        chunkSizeBytes: () => maxChunkSizeBytes(this.#catalog, null),
        checkImplicitCreate: checkCreate,
        writeShardingStatistics: (writer) => this.#catalog.reshardings.writeStatistics(writer),
      }),
      ofSet,
    )
    this.#catalog = new ShardingCatalog(this.node)
  }

  override start(): void {
    super.start()
    if (this.#isSecondary) return
    if (!this.#catalog.isInitialised) return
    nameShards(this.#catalog)
    this.#catalog.reshardings.recover()
    this.#initialised.resolve()
  }

  /** Shards store the members of this set in their identity. */
  override configChanged(): void {
    const configHost = connectionStringOf(this.node)
    for (const document of this.#catalog.store.all('config.shards')) {
      const shard = findField(document, '_id')!.asString()
      this.#context.detach(this.#context.request(shard, 'shard.relocate', { configHost }).catch(unlessUnreachable))
    }
  }

  unfinished(): UnfinishedWork[] {
    const operations = this.#catalog.store.find(operationsNs).map((document) => parseOperation(document))
    return operations.flatMap((operation) =>
      operation === null ? [] : [{ what: `${operation.ns} is being resharded`, isBrief: false }],
    )
  }

  resume(state: NodeState, clients: NodeClients | null): void {
    this.node.resume(state, clients)
    if (!this.#catalog.isInitialised) return
    nameShards(this.#catalog)
    this.#initialised.resolve()
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (kind === 'config.initialise') return this.#initialise(kind, request)
    // The measuring API must not change anything, and its clock may be stopped.
    if (tellsPlacement.has(kind) && !this.node.isWritten && from !== clusterAddress)
      return this.#serveWritten(kind, request)
    this.#isInitialised ||= this.#catalog.isInitialised
    // Clients initiate the set before there can be a catalog.
    const servesNow = this.#isInitialised || (kind.startsWith('client.') && !this.node.set.isPrimary)
    return servesNow ? this.#serve(kind, request) : this.#serveLater(kind, request)
  }

  async #initialise<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const reply = await this.#answer(kind, request)
    this.#initialised.resolve()
    return reply
  }

  async #serveLater<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    await this.#initialised.promise
    return this.#serve(kind, request)
  }

  /** Flushes before replying: a peer must not learn state that a crash could undo. */
  async #serveWritten<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    try {
      while (!this.node.isWritten) await this.node.flushToMajority()
    } catch (error) {
      // Reads still work while the disk is full.
      if (!(error instanceof CommandError)) throw error
    }
    return this.#serveLater(kind, request)
  }

  #serve<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    const served = this.node.serve(kind, request)
    return served === undefined ? this.#answer(kind, request) : (served as Promise<ReplyOf<K>> | ReplyOf<K>)
  }

  #answer<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    const handler = (
      configHandlers as Partial<Record<MessageKind, (catalog: ShardingCatalog, request: unknown) => unknown>>
    )[kind]
    if (handler === undefined) throw new UnservedMessageError(this.#context.address, kind)
    const refused = (error: unknown) => answering<K>(kind, () => Promise.reject(error))
    try {
      if (needsRoom(kind)) this.node.requireRoom()
      const reply = handler(this.#catalog, request) as Promise<ReplyOf<K>> | ReplyOf<K>
      return reply instanceof Promise ? reply.catch(refused) : reply
    } catch (error) {
      return refused(error)
    }
  }
}
