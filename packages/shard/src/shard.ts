/** The shard role: a storage node that knows which part of each collection is its own. */
import {
  RequestFailedError,
  StepFailedError,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, DocumentWriter, errorDocument, findField } from '@shardlab/bson'
import { buildIndex, createCollection, dropLocalCollection, dropLocalDatabase, StorageNode } from '@shardlab/node'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { createShardedCollection, type CreateCollectionParts } from './coordinators/create-collection.js'
import { dropCollection, dropDatabase } from './coordinators/drop-collection.js'
import { adoptRename, renameCollection, renameParticipant } from './coordinators/rename-collection.js'
import { protectedIndexes } from './coordinators/shard-key-index.js'
import { CriticalSections } from './metadata/critical-sections.js'
import { PlacementState } from './metadata/placement-state.js'
import { checkShardKeyUnchanged } from './metadata/shard-key-updates.js'
import { VersionCheck } from './metadata/version-check.js'
import { shardRows } from './shard-rows.js'

export interface ShardOptions {
  readonly emulate: EmulatedVersion
  readonly maxWireVersion: number
  /** Refuse commands and operators that silently lack something. Default false. */
  readonly strict?: boolean
}

export function createShard(context: ActorContext, options: ShardOptions): Actor {
  return new Shard(context, options)
}

class Shard implements Actor {
  readonly #context: ActorContext
  readonly #node: StorageNode
  readonly #parts: CreateCollectionParts

  constructor(context: ActorContext, options: ShardOptions) {
    this.#context = context
    const behaviours = behavioursOf(options.emulate)
    const state = new PlacementState(context, (ns, placement) => adoptRename(this.#node, ns, placement))
    const critical = new CriticalSections()
    const versions = new VersionCheck(context.address, state, critical)
    this.#node = new StorageNode(context, { behaviours, maxWireVersion: options.maxWireVersion, strict: options.strict ?? false }, () => ({
      name: 'shard',
      setName: context.address,
      rows: shardRows,
      enter: (ns, invocation) => versions.enter(ns, invocation),
      checkReplacement: (access, before, after, invocation) =>
        checkShardKeyUnchanged(behaviours, context.address, access, before, after, invocation),
      *placements() {
        for (const [ns, placement] of state.collections()) yield [ns, placement?.table.versionOn(context.address) ?? null] as const
      },
      enterInBackground: (ns) => versions.enter(ns, { routed: { shardVersion: 'IGNORED', databaseVersion: null } }),
      shardKeyIndexes: ({ ownership }, collection) =>
        ownership === null || !behaviours.shardKeyIndexIsProtected ? [] : protectedIndexes(collection, ownership.placement.shardKey),
      checkImplicitCreate(ns, { routed }) {
        if (routed !== null && typeof routed.shardVersion !== 'string') {
          throw new CommandError('CannotImplicitlyCreateCollection', "request doesn't allow collection to be created implicitly", {
            extra: new DocumentWriter().string('ns', ns).finish(),
          })
        }
      },
    }))
    this.#parts = { node: this.#node, state, critical }
  }

  start(): void {
    this.#node.start()
  }

  async wake(timer: string): Promise<void> {
    await this.#node.wake(timer)
  }

  stop(): void {
    this.#node.stop()
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    return this.#serve(kind, request) as Promise<ReplyOf<K>> | ReplyOf<K>
  }

  #serve(kind: MessageKind, request: unknown): unknown {
    const served = this.#node.serve(kind, request)
    if (served !== undefined) return served
    switch (kind) {
      case 'shard.initialise':
        return this.#initialise(request as RequestOf<'shard.initialise'>)
      case 'shard.create-sharded-collection':
        return answering({ uuid: noUuid }, () =>
          createShardedCollection(this.#parts, request as RequestOf<'shard.create-sharded-collection'>),
        )
      case 'shard.create-local-collection':
        return answering({}, () => this.#createLocalCollection(request as RequestOf<'shard.create-local-collection'>))
      case 'shard.drop-collection':
        return answering({ existed: false, indexCount: null }, () =>
          dropCollection(this.#parts, request as RequestOf<'shard.drop-collection'>),
        )
      case 'shard.drop-local-collection':
        return this.#dropLocalCollection((request as RequestOf<'shard.drop-local-collection'>).ns)
      case 'shard.rename-collection':
        return answering({}, () => renameCollection(this.#parts, request as RequestOf<'shard.rename-collection'>))
      case 'shard.rename-local-collection':
        return this.#renameLocalCollection(request as RequestOf<'shard.rename-local-collection'>)
      case 'shard.drop-database':
        return answering({}, () => dropDatabase(this.#parts, request as RequestOf<'shard.drop-database'>))
      case 'shard.drop-local-database':
        return this.#dropLocalDatabase((request as RequestOf<'shard.drop-local-database'>).db)
      case 'shard.data-size':
        return {
          sizeBytes: this.#node.engine
            .collections()
            .filter(({ ns }) => !isInternal(ns))
            .reduce((sum, collection) => sum + collection.dataSizeBytes, 0),
        }
      default:
        throw new UnservedMessageError(this.#context.address, kind)
    }
  }

  describe(): Record<string, unknown> {
    return {
      collections: this.#node.engine.collections().map(({ ns, count }) => ({ ns, count })),
      cursors: this.#node.cursors.size,
      sessions: this.#node.sessions.size,
    }
  }

  /** Stores who this shard is, where the server keeps it: admin.system.version, `shardIdentity`. */
  async #initialise({ clusterId, configHost }: RequestOf<'shard.initialise'>): Promise<ReplyOf<'shard.initialise'>> {
    const ns = 'admin.system.version'
    const collection = this.#node.collection(ns) ?? createCollection(this.#node, ns, new DocumentWriter().finish())
    const identity = new DocumentWriter()
      .string('_id', 'shardIdentity')
      .string('shardName', this.#context.address)
      .objectId('clusterId', clusterId)
      .string('configsvrConnectionString', configHost)
      .finish()
    const id = findField(identity, '_id')!
    if (collection.findById(id) === undefined) this.#node.apply({ op: 'i', ns, uuid: collection.uuid, object: identity, id, session: null })
    await this.#node.flush()
    return {}
  }

  async #createLocalCollection({
    ns,
    uuid,
    options,
    indexes,
  }: RequestOf<'shard.create-local-collection'>): Promise<ReplyOf<'shard.create-local-collection'>> {
    const stale = this.#node.collection(ns)
    // What an earlier life of the namespace left behind has another UUID and no owner.
    if (stale !== undefined && Buffer.compare(stale.uuid, uuid) !== 0) dropLocalCollection(this.#node, ns)
    const collection = this.#node.collection(ns) ?? createCollection(this.#node, ns, options, uuid)
    for (const spec of indexes) {
      if (collection.index(findField(spec, 'name')!.asString()) === undefined) buildIndex(this.#node, collection, spec)
    }
    this.#parts.state.forgetCollection(ns)
    await this.#node.flush()
    return { error: null }
  }

  async #dropLocalCollection(ns: string): Promise<ReplyOf<'shard.drop-local-collection'>> {
    const indexCount = dropLocalCollection(this.#node, ns)
    this.#parts.state.forgetCollection(ns)
    await this.#node.flush()
    return { existed: indexCount !== null, indexCount: indexCount ?? 0 }
  }

  async #renameLocalCollection(request: RequestOf<'shard.rename-local-collection'>): Promise<ReplyOf<'shard.rename-local-collection'>> {
    renameParticipant(this.#node, request)
    this.#parts.state.forgetCollection(request.ns)
    this.#parts.state.forgetCollection(request.to)
    await this.#node.flush()
    return {}
  }

  async #dropLocalDatabase(db: string): Promise<ReplyOf<'shard.drop-local-database'>> {
    dropLocalDatabase(this.#node, db)
    this.#parts.state.forgetDatabase(db)
    await this.#node.flush()
    return {}
  }
}

const noUuid = new Uint8Array(16)

function isInternal(ns: string): boolean {
  return ns.startsWith('admin.') || ns.startsWith('config.') || ns.startsWith('local.')
}

/** Turns what a client did wrong, and peers that cannot be reached, into the error field of the reply. */
async function answering<T extends object>(
  otherwise: Omit<T, 'error'>,
  work: () => Promise<T & { error: Uint8Array | null }>,
): Promise<object> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) return { ...otherwise, error: errorDocument(error) }
    if (error instanceof StepFailedError) return { ...otherwise, error: errorDocument(new CommandError('OperationFailed', error.message)) }
    if (error instanceof RequestFailedError) {
      return {
        ...otherwise,
        error: errorDocument(
          new CommandError(
            'FailedToSatisfyReadPreference',
            `Could not find host matching read preference { mode: "primary" } for set ${error.to}`,
          ),
        ),
      }
    }
    throw error
  }
}
