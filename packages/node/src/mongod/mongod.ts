/** A mongod outside of a cluster: a member of a replica set, or standalone. */
import type { Actor, ActorContext, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import type { StartOptions } from '@shardlab/member'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import type { Access, NodeRole, StorageNodeOptions } from '../host/node-host.js'
import type { NodeClients, NodeState } from '../host/node-state.js'
import { createSetMember, RoleActor } from '../host/role-actor.js'
import { StorageNode, type NodeOfSet } from '../host/storage-node.js'
import type { SetOptions } from '../replication/set-member.js'

export interface MongodOptions {
  readonly emulate: EmulatedVersion
  readonly maxWireVersion: number
  /** Clients need privileges for their commands. Default false. */
  readonly hasAccessControl?: boolean
  readonly startOptions?: StartOptions
  /** Refuses commands and operators that are only partly implemented. Default false. */
  readonly strict?: boolean
  /** These three: see `StorageNodeOptions`. */
  readonly periodicNoopIntervalSecs?: number
  readonly checkpointAfterBytes?: number
  readonly oplogSizeBytes?: number
  /** Null: a set with the name of this member, which initiates itself; or standalone. */
  readonly set: SetOptions | null
  /** Started without `--replSet`. Default false. */
  readonly isStandalone?: boolean
}

export function createMongod(context: ActorContext, options: MongodOptions): Actor {
  const { set } = options
  const nodeOptions: StorageNodeOptions = {
    behaviours: behavioursOf(options.emulate),
    maxWireVersion: options.maxWireVersion,
    strict: options.strict ?? false,
    hasAccessControl: options.hasAccessControl ?? false,
    ...(options.startOptions === undefined ? {} : { startOptions: options.startOptions }),
    isStandalone: options.isStandalone ?? false,
    ...(options.checkpointAfterBytes === undefined ? {} : { checkpointAfterBytes: options.checkpointAfterBytes }),
    ...(options.periodicNoopIntervalSecs === undefined
      ? {}
      : { periodicNoopIntervalSecs: options.periodicNoopIntervalSecs }),
    ...(options.oplogSizeBytes === undefined ? {} : { oplogSizeBytes: options.oplogSizeBytes }),
  }
  return createSetMember(
    context,
    nodeOptions,
    { set, isConfigServer: false },
    (nodeContext, ofSet) => new Mongod(nodeContext, nodeOptions, ofSet),
  )
}

const everything: Access = { ownership: null }

const noRows: NodeRole['rows'] = []

class Mongod extends RoleActor {
  readonly node: StorageNode

  constructor(context: ActorContext, options: StorageNodeOptions, ofSet: NodeOfSet) {
    super()
    const role: NodeRole = {
      name: 'mongod',
      setName: context.address,
      memberName: context.address,
      rows: noRows,
      enter: () => everything,
      checkReplacement: () => {},
      checkImplicitCreate: () => {},
    }
    this.node = new StorageNode(context, options, () => role, ofSet)
  }

  resume(state: NodeState, clients: NodeClients | null): void {
    this.node.resume(state, clients)
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    return this.serveAsNode(kind, request)
  }
}
