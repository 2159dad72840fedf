/**
 * Reads the catalog, and what members know of it, whenever it may have changed. Reads bypass the
 * network, so they change nothing.
 */
import { configAddress, type ReplyOf } from '@shardlab/actor'
import { TurnLimitError, type ClusterEvent } from '@shardlab/cluster'
import type { PlacementVersion } from '@shardlab/sharding'
import { ownershipViolations } from '../checkers/ownership.js'
import { RoutingHistory } from '../checkers/routing.js'
import { KnownVersions, VersionHistory } from '../checkers/versions.js'
import type { SwarmWorld } from '../world.js'
import { catalogTable } from './catalog-table.js'

/** After these steps of the config server the catalog has changed. */
export const committingSteps: ReadonlySet<string> = new Set([
  'config.migration.committed',
  'config.resharding.committed',
])

export class CatalogWatch {
  readonly #world: SwarmWorld
  readonly #namespaces: readonly string[]
  readonly #versions = new VersionHistory()
  readonly #known = new KnownVersions()
  readonly #routing: RoutingHistory
  #looking: Promise<void> = Promise.resolve()

  constructor(world: SwarmWorld, namespaces: readonly string[]) {
    this.#world = world
    this.#namespaces = namespaces
    // Durations are meaningless if clocks jump.
    this.#routing = new RoutingHistory(world.plan.faults.includes('skewClock') ? null : world.verdicts)
    world.cluster.onEvent((event) => this.#onEvent(event))
  }

  /** Resolves when possible changes have been read. */
  look(): Promise<void> {
    const atMs = this.#world.cluster.now()
    this.#looking = this.#looking
      .then(() => this.#look(atMs))
      .then(() => this.#lookAtMembers())
      .catch((error: unknown) => {
        // The run reports it.
        if (error instanceof TurnLimitError) return
        this.#world.verdicts.failed('invariants', `the catalog cannot be read: ${(error as Error).message}`)
      })
    return this.#looking
  }

  #onEvent(event: ClusterEvent): void {
    switch (event.type) {
      case 'routed':
        this.#routing.routed(event, this.#world.cluster.now())
        return
      case 'member':
        this.#onMember(event)
        return
      case 'member-state':
        // A member that becomes primary or secondary starts with an empty cache.
        this.#known.delete(event.member)
        if (event.set === configAddress) void this.look()
        return
      case 'migration':
      case 'split':
      case 'merge':
      case 'catalog':
        void this.look()
        return
      default:
    }
  }

  #onMember({ member, state }: Extract<ClusterEvent, { type: 'member' }>): void {
    const isConfig = this.#world.sets.setOf(member) === configAddress
    if (!isConfig || this.#world.sets.areSeveral) this.#known.delete(member)
    if (!isConfig) return
    if (state === 'started') void this.look()
    else if (!this.#world.sets.areSeveral) {
      this.#versions.clear()
      this.#known.clear()
    }
  }

  async #look(atMs: number): Promise<void> {
    const { verdicts } = this.#world
    for (const ns of this.#namespaces) {
      const answer = await this.#ask(ns)
      if (answer === null) return
      const { collection, chunks } = answer
      if (collection === null) {
        this.#routing.changed(ns, null, atMs)
        continue
      }
      const table = catalogTable(ns, collection, chunks)
      verdicts.violated('ownership', ...ownershipViolations(ns, table.pattern, table.ranges))
      // What a majority does not have yet can be rolled back.
      if (!this.#world.sets.areSeveral) verdicts.violated('versions', ...this.#versions.seen(table))
      this.#routing.changed(ns, table, atMs)
    }
  }

  async #lookAtMembers(): Promise<void> {
    const { cluster, verdicts } = this.#world
    const members = [...cluster.shards.flatMap((shard) => this.#world.sets.membersOf(shard)), ...cluster.mongos]
    for (const member of members) {
      if (cluster.members().find(({ address }) => address === member)?.state !== 'running') continue
      const described = await this.#describe(member)
      // It has gone down since.
      if (described === null) continue
      const { collectionVersions } = described
      verdicts.violated('versions', ...this.#known.seen(member, collectionVersions as Record<string, PlacementVersion>))
    }
  }

  async #describe(member: string): Promise<Record<string, unknown> | null> {
    const { cluster } = this.#world
    try {
      return await cluster.describe(member)
    } catch (error) {
      if (cluster.isRunning(member)) throw error
      return null
    }
  }

  /** null: the config server is down or has no primary; it is read again after that. */
  async #ask(ns: string): Promise<ReplyOf<'config.get-chunks'> | null> {
    const { cluster, sets } = this.#world
    const ask = (primary: string): Promise<ReplyOf<'config.get-chunks'>> =>
      cluster.peek(primary, 'config.get-chunks', { ns, since: null, limit: null })
    return (await sets.ask(configAddress, ask)) ?? null
  }
}
