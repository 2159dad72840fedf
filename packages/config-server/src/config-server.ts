/** The config server role: a storage node that keeps the sharding catalog in its config.* collections. */
import {
  createDeferred,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { StorageNode, type Access } from '@shardlab/node'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { ShardingCatalog } from './catalog/sharding-catalog.js'

export interface ConfigServerOptions {
  readonly emulate: EmulatedVersion
  readonly maxWireVersion: number
  /** Refuse commands and operators that silently lack something. Default false. */
  readonly strict?: boolean
}

export function createConfigServer(context: ActorContext, options: ConfigServerOptions): Actor {
  return new ConfigServer(context, options)
}

const everything: Access = { ownership: null }

class ConfigServer implements Actor {
  readonly #context: ActorContext
  readonly #node: StorageNode
  readonly #catalog: ShardingCatalog
  /** Settled once the catalog exists: routers and shards may ask before the API has introduced the shards. */
  readonly #initialised = createDeferred<void>()

  constructor(context: ActorContext, options: ConfigServerOptions) {
    this.#context = context
    this.#node = new StorageNode(
      context,
      { behaviours: behavioursOf(options.emulate), maxWireVersion: options.maxWireVersion, strict: options.strict ?? false },
      () => ({
        name: 'config-server',
        setName: context.address,
        rows: [],
        enter: () => everything,
        checkReplacement: () => {},
        checkImplicitCreate: () => {},
      }),
    )
    this.#catalog = new ShardingCatalog(this.#node)
  }

  start(): void {
    this.#node.start()
    if (this.#catalog.isInitialised) this.#initialised.resolve()
  }

  async wake(timer: string): Promise<void> {
    await this.#node.wake(timer)
  }

  stop(): void {
    this.#node.stop()
  }

  async receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    if (kind === 'config.initialise') {
      const reply = await this.#catalog.initialise(request as RequestOf<'config.initialise'>)
      this.#initialised.resolve()
      return reply as ReplyOf<K>
    }
    if (!this.#catalog.isInitialised) await this.#initialised.promise
    return (await this.#serve(kind, request)) as ReplyOf<K>
  }

  #serve(kind: MessageKind, request: unknown): unknown {
    const served = this.#node.serve(kind, request)
    if (served !== undefined) return served
    switch (kind) {
      case 'config.get-shards':
        return this.#catalog.getShards()
      case 'config.get-database':
        return { database: this.#catalog.getDatabase((request as RequestOf<'config.get-database'>).db) }
      case 'config.create-database':
        return this.#catalog.createDatabase(request as RequestOf<'config.create-database'>)
      case 'config.get-collection':
        return this.#catalog.getCollection(request as RequestOf<'config.get-collection'>)
      case 'config.commit-create-collection':
        return this.#catalog.commitCreateCollection(request as RequestOf<'config.commit-create-collection'>)
      case 'config.commit-drop-collection':
        return this.#catalog.commitDropCollection((request as RequestOf<'config.commit-drop-collection'>).ns)
      case 'config.commit-rename-collection':
        return this.#catalog.commitRenameCollection(request as RequestOf<'config.commit-rename-collection'>)
      case 'config.commit-drop-collections':
        return this.#catalog.commitDropCollections((request as RequestOf<'config.commit-drop-collections'>).db)
      case 'config.commit-drop-database':
        return this.#catalog.commitDropDatabase((request as RequestOf<'config.commit-drop-database'>).db)
      case 'config.log-change':
        return this.#catalog.logChange(request as RequestOf<'config.log-change'>)
      case 'config.mongos-ping':
        return this.#catalog.mongosPing(request as RequestOf<'config.mongos-ping'>)
      case 'config.set-balancer-mode':
        return this.#catalog.setBalancerMode((request as RequestOf<'config.set-balancer-mode'>).mode)
      case 'config.get-balancer-settings':
        return { settings: this.#catalog.balancerSettings() }
      default:
        throw new UnservedMessageError(this.#context.address, kind)
    }
  }

  describe(): Record<string, unknown> {
    return { collections: this.#node.engine.collections().map(({ ns, count }) => ({ ns, count })), cursors: this.#node.cursors.size }
  }
}
