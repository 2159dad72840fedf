/** A mongod outside of a cluster: alone, or a member of a replica set. */
import type { ActorContext, MessageKind, ReplyOf, RequestOf, Actor } from '@shardlab/actor'
import { UnservedMessageError } from '@shardlab/actor'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import type { Access, NodeRole, StorageNodeOptions } from '../host/node-host.js'
import type { NodeClients, NodeState } from '../host/node-state.js'
import { StorageNode, type NodeOfSet } from '../host/storage-node.js'
import { SetMember, type SetOptions } from '../replication/set-member.js'

export interface MongodOptions {
  readonly emulate: EmulatedVersion
  readonly maxWireVersion: number
  /** Refuses commands and operators that are only partly implemented. Default false. */
  readonly strict?: boolean
  /** These two: see `StorageNodeOptions`. */
  readonly checkpointAfterBytes?: number
  readonly oplogSizeBytes?: number
  /** Null: the only member of its set, or standalone. */
  readonly set: SetOptions | null
  /** Started without `--replSet`. Default false. */
  readonly isStandalone?: boolean
}

export function createMongod(context: ActorContext, options: MongodOptions): Actor {
  const nodeOptions: StorageNodeOptions = {
    behaviours: behavioursOf(options.emulate),
    maxWireVersion: options.maxWireVersion,
    strict: options.strict ?? false,
    isStandalone: options.isStandalone ?? false,
    ...(options.checkpointAfterBytes === undefined ? {} : { checkpointAfterBytes: options.checkpointAfterBytes }),
    ...(options.oplogSizeBytes === undefined ? {} : { oplogSizeBytes: options.oplogSizeBytes }),
  }
  if (options.set === null) return new Mongod(context, nodeOptions, context.address, null)
  const { set } = options
  return new SetMember(context, nodeOptions, set, (nodeContext, ofSet) => {
    const mongod = new Mongod(nodeContext, nodeOptions, set.name, ofSet)
    return { node: mongod.node, actor: mongod }
  })
}

const everything: Access = { ownership: null }

const noRows: NodeRole['rows'] = []

function plainRole(setName: string, memberName: string): NodeRole {
  return {
    name: 'mongod',
    setName,
    memberName,
    rows: noRows,
    enter: () => everything,
    checkReplacement: () => {},
    checkImplicitCreate: () => {},
  }
}

class Mongod implements Actor {
  readonly node: StorageNode
  readonly #context: ActorContext

  constructor(context: ActorContext, options: StorageNodeOptions, setName: string, ofSet: NodeOfSet | null) {
    this.#context = context
    this.node = new StorageNode(context, options, () => plainRole(setName, context.address), ofSet)
  }

  start(): void {
    this.node.start()
  }

  exportState(): NodeState {
    return this.node.exportState()
  }

  exportClients(): NodeClients {
    return this.node.exportClients()
  }

  resume(state: NodeState, clients: NodeClients | null): void {
    this.node.resume(state, clients)
  }

  async wake(timer: string): Promise<void> {
    await this.node.wake(timer)
  }

  stop(): void {
    this.node.stop()
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    const served = this.node.serve(kind, request)
    if (served === undefined) throw new UnservedMessageError(this.#context.address, kind)
    return served as Promise<ReplyOf<K>> | ReplyOf<K>
  }

  describe(): Record<string, unknown> {
    return {
      collections: this.node.engine.collections().map(({ ns, count }) => ({ ns, count })),
      cursors: this.node.cursors.size,
      sessions: this.node.sessions.size,
    }
  }
}
