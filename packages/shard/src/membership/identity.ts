import type { Address, ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, DocumentWriter, emptyDocument, findField, sameBytes } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { createCollection, setFeatureCompatibilityVersionOf, type NodeHost } from '@shardlab/node'
import { internalDatabases } from '@shardlab/query'
import type { ShardHandlers } from '../host/handlers.js'
import type { ShardHost } from '../host/host.js'

export const identityHandlers: ShardHandlers<'shard.initialise' | 'shard.relocate' | 'shard.data-size', ShardHost> = {
  'shard.initialise': initialise,
  'shard.relocate': relocate,
  'shard.data-size': dataSize,
}

const identityNs = 'admin.system.version'
const identityFilter = new DocumentWriter().string('_id', 'shardIdentity').finish()

/** The server, too, stores it in admin.system.version, as `shardIdentity`. */
export class ShardIdentity {
  readonly #setName: Address
  readonly #node: () => NodeHost
  #shardId: string | null = null

  /** @param node called only after the node was created */
  constructor(setName: Address, node: () => NodeHost) {
    this.#setName = setName
    this.#node = node
  }

  /** The id in config.shards; before the member has joined a cluster, the name of its set. */
  get shardId(): string {
    return (this.#shardId ??= this.#stored()) ?? this.#setName
  }

  /** False before the member has joined a cluster. A removed shard keeps its identity. */
  get isKnown(): boolean {
    return (this.#shardId ??= this.#stored()) !== null
  }

  /** Server: sharding_state.cpp, assertCanAcceptShardedCommands. */
  require(): void {
    if (this.isKnown) return
    throw new CommandError(
      'ShardingStateNotInitialized',
      'Cannot accept sharding commands if sharding state has not been initialized with a shardIdentity document',
    )
  }

  #stored(): string | null {
    const document = identityOf(this.#node())
    return document === undefined ? null : findField(document, 'shardName')!.asString()
  }
}

function identityOf(node: NodeHost): Uint8Array | undefined {
  return node.collection(identityNs)?.findById(findField(identityFilter, '_id')!)?.document
}

/** Whether the member has joined a cluster. */
export const hasIdentity = (node: NodeHost): boolean => identityOf(node) !== undefined

/**
 * Server: createShardIdentityUpsertForAddShard, an upsert by name and cluster.
 * @throws CommandError 11000 DuplicateKey for a shard of another name or cluster
 */
async function initialise(
  { node }: ShardHost,
  { clusterId, shardName, configHost }: RequestOf<'shard.initialise'>,
): Promise<ReplyOf<'shard.initialise'>> {
  const known = identityOf(node)
  if (
    known !== undefined &&
    (findField(known, 'shardName')!.asString() !== shardName ||
      !sameBytes(findField(known, 'clusterId')!.slice(), clusterId))
  )
    throw new CommandError(
      'DuplicateKey',
      `E11000 duplicate key error collection: ${identityNs} index: _id_ dup key: { _id: "shardIdentity" }`,
    )
  write(node, identityDocument(shardName, clusterId, configHost), known !== undefined)
  // addShard sets that of the cluster afterwards.
  if (known === undefined && node.behaviours.featureCompatibilityVersionCanBeSet)
    setFeatureCompatibilityVersionOf(node, node.behaviours.featureCompatibilityVersion)
  await node.flushToMajority()
  node.timeKeys?.start()
  return { error: null }
}

/** The config server of a copied cluster has another address. */
async function relocate(
  { node }: ShardHost,
  { configHost }: RequestOf<'shard.relocate'>,
): Promise<ReplyOf<'shard.relocate'>> {
  const known = identityOf(node)
  if (known === undefined || findField(known, 'configsvrConnectionString')!.asString() === configHost) return {}
  const shardName = findField(known, 'shardName')!.asString()
  write(node, identityDocument(shardName, findField(known, 'clusterId')!.slice(), configHost), true)
  await node.flushToMajority()
  return {}
}

function write(node: NodeHost, identity: Uint8Array, isKnown: boolean): void {
  const ns = identityNs
  const { uuid } = node.collection(ns) ?? createCollection(node, ns, emptyDocument)
  const id = findField(identity, '_id')!
  node.apply({ op: isKnown ? 'u' : 'i', ns, uuid, object: identity, id, session: null })
}

function identityDocument(shard: string, clusterId: Uint8Array, configHost: string): Uint8Array {
  return new DocumentWriter()
    .string('_id', 'shardIdentity')
    .string('shardName', shard)
    .objectId('clusterId', clusterId)
    .string('configsvrConnectionString', configHost)
    .finish()
}

function dataSize({ node }: ShardHost): ReplyOf<'shard.data-size'> {
  return {
    sizeBytes: node.engine
      .collections()
      .filter(({ ns }) => !internalDatabases.has(databaseNameOf(ns)))
      .reduce((sum, collection) => sum + collection.dataSizeBytes, 0),
  }
}
