/** The shards are real storage nodes, whose role checks versions and filters by placement. */
import { CommandError, decode, DocumentWriter, encode, type Document } from '@shardlab/bson'
import { createRandom, type Disk, type NodeCommand, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { splitNamespace } from '@shardlab/member'
import type { NodeRole, StorageNode } from '@shardlab/node'
import { nodeAlone } from '@shardlab/node/testing'
import {
  applyPlacementAnswer,
  behavioursOf,
  OwnershipFilter,
  type CollectionPlacement,
  type EmulatedVersion,
  type PlacementAnswer,
} from '@shardlab/sharding'
import { FakeCluster } from './fake-cluster.js'

/** One range on each of the three shards. */
export interface ShardedCollection {
  readonly ns: string
  readonly field: string
  readonly splits: readonly number[]
  readonly collation?: Document
}

export interface RealClusterOptions {
  /** Default 8.0. */
  readonly emulate?: EmulatedVersion
  readonly collation?: Document
  /** Default: `test.c` by `x`, split at 0 and 100. */
  readonly sharded?: readonly ShardedCollection[]
}

const shards = ['shard01', 'shard02', 'shard03']

export class RealCluster extends FakeCluster {
  readonly nodes = new Map<string, StorageNode>()
  /** By namespace; the router's cache may have older ones. */
  readonly placements = new Map<string, CollectionPlacement>()

  static async create({ emulate = '8.0', collation, sharded }: RealClusterOptions = {}): Promise<RealCluster> {
    const cluster = new RealCluster({ emulate })
    const standard = { ns: 'test.c', field: 'x', splits: [0, 100], ...(collation === undefined ? {} : { collation }) }
    for (const collection of sharded ?? [standard]) await cluster.shard(collection)
    for (const shard of shards) {
      const role: NodeRole = {
        name: 'shard',
        setName: shard,
        memberName: shard,
        rows: [],
        enter(ns, { routed }) {
          const version = routed!.shardVersion
          if (version === 'IGNORED' || version === null) return { ownership: null }
          const placement = cluster.placements.get(ns)
          if ((version === 'UNSHARDED') !== (placement === undefined))
            throw new CommandError('StaleConfig', 'stale', { extra: new DocumentWriter().string('ns', ns).finish() })
          return {
            ownership: placement === undefined ? null : new OwnershipFilter(placement, shard, behavioursOf(emulate)),
          }
        },
        checkReplacement() {},
        checkImplicitCreate() {},
      }
      const context = { ...cluster.world.context(shard), random: createRandom(shard), disk: noDisk }
      const node = nodeAlone(context, { behaviours: behavioursOf(emulate), maxWireVersion: 21 }, () => role).node()
      cluster.nodes.set(shard, node)
      cluster.world.members.set(shard, (kind, request) =>
        kind === 'node.command'
          ? node.nodeCommand(request as NodeCommand)
          : kind === 'shard.change-definition'
            ? cluster.#changeDefinition(node, request as never)
            : exchange(node, kind, request as never),
      )
    }
    return cluster
  }

  /** The shards have the new placement, the router's cache does not. */
  async shard({ ns, field, splits, collation }: ShardedCollection, owners: readonly string[] = shards): Promise<void> {
    this.shardByRange(ns, field, splits, owners, collation === undefined ? {} : { collation })
    const config = this.world.members.get('config')!
    const answer = (await config('config.get-collection', { ns, since: null } as never)) as PlacementAnswer
    this.placements.set(ns, applyPlacementAnswer(ns, null, answer)!)
  }

  async #changeDefinition(
    primary: StorageNode,
    { ns, body, sequences }: RequestOf<'shard.change-definition'>,
  ): Promise<ReplyOf<'shard.change-definition'>> {
    const sharded = this.placements.has(ns)
    const command = {
      db: ns.split('.', 1)[0]!,
      body,
      sequences,
      databaseVersion: null,
      stmtIds: null,
      operationKey: 0,
      batchBytesMax: 0,
    }
    const answers = []
    for (const [shard, node] of this.nodes)
      if (sharded || node === primary)
        answers.push([
          shard,
          (await node.nodeCommand({ ...command, shardVersion: 'IGNORED', clusterTime: [1, 1] })).body,
        ] as const)
    return { sharded, answers, error: null }
  }

  async all(collection = 'c', db = 'test'): Promise<Document[]> {
    const reply = await this.run({ find: collection, sort: { _id: 1 }, batchSize: 1000, $db: db })
    return (reply['cursor'] as { firstBatch: Document[] }).firstBatch
  }

  countOf(name: string): number {
    return shards.reduce((sum, shard) => sum + this.commandsTo(shard).filter((sent) => sent.name === name).length, 0)
  }
}

const noDisk: Disk = {
  append: async () => {},
  writeCheckpoint: async () => {},
  read: () => ({ checkpoint: null, records: [] }),
  usage: () => ({ logBytes: 0, checkpointBytes: 0, limitBytes: 1e9 }),
  hasRoom: () => true,
}

/** Runs a command that a primary shard coordinates on that shard alone, without the others. */
async function exchange(
  node: StorageNode,
  kind: string,
  request: { ns: string; to: string; dropTarget: boolean },
): Promise<object> {
  const { ns, to, dropTarget } = request
  const [db, name] = splitNamespace(ns)
  switch (kind) {
    case 'shard.drop-collection': {
      const indexCount = node.collection(ns)?.indexes().length
      return {
        existed: indexCount !== undefined,
        indexCount: indexCount ?? 0,
        error: await run(node, db, { drop: name }),
      }
    }
    case 'shard.rename-collection':
      return { error: await run(node, 'admin', { renameCollection: ns, to, dropTarget }) }
    default:
      throw new Error(`no shard here serves ${kind}`)
  }
}

/** Null: success. */
async function run(node: StorageNode, db: string, command: Document): Promise<Uint8Array | null> {
  const { body } = await node.nodeCommand({
    db,
    body: encode(command),
    sequences: [],
    shardVersion: null,
    databaseVersion: null,
    stmtIds: null,
    clusterTime: [1, 1],
    operationKey: 0,
    batchBytesMax: 0,
  })
  return decode(body)['ok'] === 1 ? null : body
}

export const realCluster = (
  sharded: readonly ShardedCollection[],
  emulate: EmulatedVersion = '8.0',
): Promise<RealCluster> => RealCluster.create({ sharded, emulate })

/** @param batchSize of each getMore; 0: no limit */
export async function drain(cluster: FakeCluster, command: Document, batchSize = 0): Promise<Document[]> {
  const reply = await cluster.run(command)
  if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  let { cursor } = reply
  const documents: Document[] = [...cursor.firstBatch]
  while (!cursor.id.isZero()) {
    const [db, collection] = (cursor.ns as string).split(/\.(.*)/s)
    const more = await cluster.run({ getMore: cursor.id, collection, ...(batchSize > 0 ? { batchSize } : {}), $db: db })
    if (more['ok'] !== 1) throw new Error(JSON.stringify(more))
    ;({ cursor } = more)
    documents.push(...cursor.nextBatch)
  }
  return documents
}
