/** What the actors of all roles on a storage node have in common. */
import {
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import type { LogEntry } from '@shardlab/storage'
import { SetMember, type SetOptions } from '../replication/set-member.js'
import type { StorageNodeOptions } from './node-host.js'
import type { NodeClients } from './node-state.js'
import type { NodeOfSet, StorageNode } from './storage-node.js'

export abstract class RoleActor implements Actor {
  abstract readonly node: StorageNode

  /** What it does before the first message needs no promise. */
  start(): void {
    this.node.start()
  }

  /** The configuration of the set has changed while this is primary. */
  configChanged(): void {}

  /** An entry of another member was applied. */
  applied(_entry: LogEntry): void {}

  abstract receive<K extends MessageKind>(
    kind: K,
    request: RequestOf<K>,
    from: Address,
  ): Promise<ReplyOf<K>> | ReplyOf<K>

  /** @throws {@link UnservedMessageError} */
  protected serveAsNode<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    const served = this.node.serve(kind, request)
    if (served === undefined) throw new UnservedMessageError(this.node.context.address, kind)
    return served as Promise<ReplyOf<K>> | ReplyOf<K>
  }

  exportState(): unknown {
    return this.node.exportState()
  }

  abstract resume(state: unknown, clients: NodeClients | null): void

  async wake(timer: string): Promise<void> {
    await this.node.wake(timer)
  }

  stop(): void {
    this.node.stop()
  }

  describe(): Record<string, unknown> {
    return {
      collections: this.node.engine.collections().map(({ ns, count }) => ({ ns, count })),
      cursors: this.node.cursors.size,
      sessions: this.node.sessions.size,
    }
  }
}

/**
 * A member of a set on which a role runs.
 * @param set null: this member alone, in a set with its name
 */
export function createSetMember(
  context: ActorContext,
  options: StorageNodeOptions,
  { set, isConfigServer }: { readonly set: SetOptions | null; readonly isConfigServer: boolean },
  createRole: (context: ActorContext, ofSet: NodeOfSet) => RoleActor,
): Actor {
  return new SetMember(context, options, set ?? { name: context.address, isConfigServer }, createRole)
}
