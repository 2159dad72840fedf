/** The shard role: a storage node that knows which part of each collection is its own. */
import {
  answering,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { StorageNode } from '@shardlab/node'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { adoptRename } from './coordinators/rename-collection.js'
import { protectedIndexes } from './coordinators/shard-key-index.js'
import { CriticalSections } from './metadata/critical-sections.js'
import { PlacementState } from './metadata/placement-state.js'
import { checkShardKeyUnchanged } from './metadata/shard-key-updates.js'
import { VersionCheck } from './metadata/version-check.js'
import { shardHandlers } from './shard-handlers.js'
import type { ShardParts } from './shard-parts.js'
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
  readonly #parts: ShardParts

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
    const served = this.#node.serve(kind, request)
    if (served !== undefined) return served as Promise<ReplyOf<K>> | ReplyOf<K>
    const handler = (shardHandlers as Partial<Record<MessageKind, (shard: ShardParts, request: unknown) => unknown>>)[kind]
    if (handler === undefined) throw new UnservedMessageError(this.#context.address, kind)
    return answering(kind, () => handler(this.#parts, request) as ReplyOf<K>)
  }

  describe(): Record<string, unknown> {
    return {
      collections: this.#node.engine.collections().map(({ ns, count }) => ({ ns, count })),
      cursors: this.#node.cursors.size,
      sessions: this.#node.sessions.size,
    }
  }
}
