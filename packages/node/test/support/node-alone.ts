import type { ActorContext, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import {
  RoleActor,
  SetMember,
  StorageNode,
  type NodeClients,
  type NodeHost,
  type NodeOfSet,
  type NodeRole,
  type NodeState,
  type StorageNodeOptions,
} from '../../src/index.js'

/** A node without messages of its own. */
class PlainActor extends RoleActor {
  readonly node: StorageNode

  constructor(node: StorageNode) {
    super()
    this.node = node
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    return this.serveAsNode(kind, request)
  }

  resume(state: unknown, clients: NodeClients | null): void {
    this.node.resume(state as NodeState, clients)
  }
}

/** A member of a set of its own, which has started, and the node that serves on it now. */
export function nodeAlone(
  context: ActorContext,
  options: StorageNodeOptions,
  makeRole: (node: NodeHost) => NodeRole,
): { readonly member: SetMember; readonly node: () => StorageNode } {
  let node: StorageNode
  const serve = (nodeContext: ActorContext, ofSet: NodeOfSet) => {
    node = new StorageNode(nodeContext, options, makeRole, ofSet)
    return new PlainActor(node)
  }
  const member = new SetMember(context, options, { name: context.address, isConfigServer: false }, serve)
  member.start()
  return { member, node: () => node }
}
