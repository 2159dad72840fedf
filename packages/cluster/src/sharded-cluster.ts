/** The API: a sharded cluster that starts, listens, breaks on demand and stops. */
import type { Actor, ClusterEvent } from '@shardlab/actor'
import {
  createInlineRuntime,
  createThreadsRuntime,
  defaultWatched,
  type InlineRuntime,
  type MemberInfo,
  type Runtime,
} from '@shardlab/runtime'
import { EventEmitter } from 'eventemitter3'
import { setTimeout as sleep } from 'node:timers/promises'
import { BalancerControls } from './balancer-controls.js'
import { relayEvent, type ClusterEvents } from './cluster-events.js'
import { addShardMember, knownMember, startMembers } from './composition.js'
import { checkFits } from './copies/copy-options.js'
import { Relocation } from './copies/relocation.js'
import { ClusterSnapshot, contentOf } from './copies/snapshot.js'
import { Faults } from './faults/faults.js'
import { faultsActor } from './faults/faults-actor.js'
import { OptionError } from './option-error.js'
import type { ClusterOptions } from './options.js'
import { longestMs, parseDuration } from './quantity-options.js'
import { resolveOptions } from './resolve-options.js'
import type { ResolvedOptions } from './resolved-options.js'
import { loadRoles } from './roles.js'
import { describeTopology, listenOfCopy } from './topology.js'

export interface ShardInfo {
  readonly id: string
  /** Leads to this shard alone, as a one-member replica set: it shows what the shard holds, orphans included. */
  readonly uri: string
}

type ClusterParts = Readonly<{ runtime: Runtime; relocation: Relocation; faults: Faults }>

/**
 * A running cluster. `await using cluster = await ShardedCluster.start()` stops it at the end of the block.
 *
 * Events: `routed` (which shards an operation went to, and why), `member` (started, stopped, crashed), `catalog`, `split` and `merge` (chunks), `migration` (its stages), `range-deleted`, `balancer-round`
 * (what a round has decided on, and why), `jumbo`, `fault-applied`, `fault-healed`, `limit`, `log`.
 */
export class ShardedCluster extends EventEmitter<ClusterEvents> {
  /** `mongodb://host:port,…/`, every mongos in it. */
  readonly uri: string
  /** `host:port` of every mongos. */
  readonly mongos: readonly string[]
  /** Root of every random decision of this cluster. */
  readonly seed: number
  /** Rounds on demand, waiting until nothing has to move, and why. */
  readonly balancer: BalancerControls
  /** What is broken on purpose. */
  readonly faults: Faults
  readonly #runtime: Runtime
  readonly #options: ResolvedOptions
  readonly #relocation: Relocation
  #shards: ShardInfo[]
  #stopping: Promise<void> | null = null

  private constructor(
    { runtime, relocation, faults }: ClusterParts,
    options: ResolvedOptions,
    members: readonly MemberInfo[],
  ) {
    super()
    this.#runtime = runtime
    this.#relocation = relocation
    this.faults = faults
    this.#options = options
    this.seed = options.seed
    this.balancer = new BalancerControls(runtime, {
      now: () => runtime.now(),
      sleep: (ms) => (options.clock === 'manual' ? this.advance(ms) : sleep(ms)),
    })
    this.mongos = members.filter(({ role }) => role === 'mongos').map(({ endpoint }) => endpoint)
    this.uri = `mongodb://${this.mongos.join(',')}/`
    this.#shards = shardsAmong(members)
    runtime.onEvent((event) => this.#relay(event))
    this.#watch()
  }

  /**
   * Starts a cluster and resolves when it answers clients.
   * @throws OptionError for a wrong option or a port that is taken: one sentence
   */
  static async start(given: ClusterOptions = {}): Promise<ShardedCluster> {
    const options = typeof given.from === 'string' ? { ...given, from: await ClusterSnapshot.load(given.from) } : given
    const resolved = resolveOptions(options)
    const copied = options.from === undefined ? null : contentOf(options.from).world
    const runtime = await createRuntime(
      resolved,
      faultsActor(() => faults),
    )
    const relocation = new Relocation(runtime)
    const faults = new Faults(runtime, { ...resolved, restart: (member) => relocation.restart(member) })
    try {
      if (copied === null) {
        const members = await startMembers(runtime, resolved, describeTopology(resolved), runtime.now())
        return new ShardedCluster({ runtime, relocation, faults }, resolved, members)
      }
      const members = await (runtime as InlineRuntime).restore(copied, (spec) => listenOfCopy(spec, resolved))
      const cluster = new ShardedCluster({ runtime, relocation, faults }, resolved, members)
      await relocation.noteCopy(copied, members)
      return cluster
    } catch (error) {
      await runtime.stop()
      throw readable(error, resolved)
    }
  }

  /** All shards that were started, those that were removed from the cluster among them. */
  get shards(): readonly ShardInfo[] {
    return this.#shards
  }

  /**
   * Starts one more shard on the same runtime and adds it to the cluster, as the command `addShard` does. It is empty; every mongos that
   * runs knows of it when this resolves.
   * @throws OptionError when the cluster has been stopped; Error with a sentence when the config server is down or refuses
   */
  async addShard(): Promise<ShardInfo> {
    if (this.#stopping !== null) throw new OptionError('the cluster has been stopped: no shard can be added to it.')
    const shard = shardInfo(await addShardMember(this.#runtime, this.#options))
    this.#shards.push(shard)
    return shard
  }

  /**
   * What the cluster is now, to go on from: by {@link restore}, or in another cluster by `ShardedCluster.start({ from })`. Commands that have
   * begun are ended first, others wait meanwhile. What is broken on purpose is no part of it; members that are down are down in it.
   * @throws OptionError when the cluster does not run in the caller's thread, or has been stopped; BusyWorldError, which names it, while a
   *   range or a database moves, a collection is resharded, or something else does not end
   */
  async snapshot(): Promise<ClusterSnapshot> {
    const { options, runtime } = this.#copyable()
    return new ClusterSnapshot({ world: await runtime.copy(), options, isFromFile: false }, runtime.now())
  }

  /**
   * Another cluster that is what this one is now, on ports of its own; both go on independently. Costs milliseconds, however many documents
   * there are. `port` and `host` as of {@link start}; default: any free ports of this host.
   * @throws as {@link snapshot}
   */
  async fork(options: Pick<ClusterOptions, 'port' | 'host'> = {}): Promise<ShardedCluster> {
    return ShardedCluster.start({ ...options, from: await this.snapshot() })
  }

  /**
   * Becomes what a cluster was: this one, or one with the same options. Everything that is broken on purpose is healed first. Clients stay
   * connected; cursors and sessions of meanwhile are gone, as if every member had been restarted. With a manual clock time goes back, too.
   * @throws OptionError for a snapshot of another kind of cluster; as {@link snapshot}, and at most that is healed then; Error when a member
   *   cannot start on its port, taken meanwhile: it is down then, the others are what they were
   */
  async restore(snapshot: ClusterSnapshot): Promise<void> {
    const { options, runtime } = this.#copyable()
    const content = contentOf(snapshot)
    if (content.isFromFile)
      throw new OptionError(
        'a cluster cannot go back to what a file holds: start one from it, ShardedCluster.start({ from: snapshot }).',
      )
    checkFits(options, content.options)
    runtime.checkIdle()
    await this.faults.heal()
    try {
      await runtime.restore(content.world)
    } finally {
      // Also where one of them could not start: the others are what they were.
      this.#shards = shardsAmong(runtime.members())
    }
    await this.#relocation.noteCopy(content.world, runtime.members())
  }

  /** Every member with its state, endpoint and thread. */
  members(): MemberInfo[] {
    return this.#runtime.members()
  }

  /** Plain data that a member tells of itself: counts, versions, stages. */
  async describe(member: string): Promise<Record<string, unknown>> {
    return this.#runtime.describe(knownMember(this.#runtime, member))
  }

  /** Stops a member at once and without warning. What it had acknowledged is on its disk. */
  async crash(member: string): Promise<void> {
    await this.#runtime.crash(knownMember(this.#runtime, member))
  }

  /** Starts a crashed member on its disk and its port. */
  async restart(member: string): Promise<void> {
    await this.#relocation.restart(knownMember(this.#runtime, member))
    // One that has been down since it was copied gets a port only now.
    this.#shards = shardsAmong(this.#runtime.members())
  }

  /** Milliseconds since the epoch by the cluster's clock. */
  now(): number {
    return this.#runtime.now()
  }

  /**
   * Lets time pass on a manual clock, given in milliseconds or as `15m`: what is due happens in order, each thing at its time.
   * @throws OptionError when the clock is the machine's
   */
  async advance(duration: number | string): Promise<void> {
    if (this.#options.clock !== 'manual')
      throw new OptionError(
        "only a manual clock can be advanced: start the cluster with runtime: 'inline' and clock: 'manual'.",
      )
    const durationMs = parseDuration('the time to advance', duration)
    if (durationMs > longestMs)
      throw new OptionError(`the time to advance is ${JSON.stringify(duration)}; at most 36525d, 100 years.`)
    if (durationMs < 0)
      throw new OptionError(`the time to advance is ${JSON.stringify(duration)}: time does not go back.`)
    await (this.#runtime as InlineRuntime).advance(durationMs)
  }

  /** Ends all members in order. Calling it again waits for the same end. */
  stop(): Promise<void> {
    this.#stopping ??= this.#runtime.stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  override on<E extends keyof ClusterEvents>(
    event: E,
    listener: (...args: ClusterEvents[E]) => void,
    context?: unknown,
  ): this {
    super.on(event, listener, context)
    this.#watch()
    return this
  }

  override addListener<E extends keyof ClusterEvents>(
    event: E,
    listener: (...args: ClusterEvents[E]) => void,
    context?: unknown,
  ): this {
    return this.on(event, listener, context)
  }

  override once<E extends keyof ClusterEvents>(
    event: E,
    listener: (...args: ClusterEvents[E]) => void,
    context?: unknown,
  ): this {
    super.once(event, listener, context)
    this.#watch()
    return this
  }

  override removeListener<E extends keyof ClusterEvents>(
    event: E,
    listener?: (...args: ClusterEvents[E]) => void,
    context?: unknown,
    once?: boolean,
  ): this {
    super.removeListener(event, listener, context, once)
    this.#watch()
    return this
  }

  override off<E extends keyof ClusterEvents>(
    event: E,
    listener?: (...args: ClusterEvents[E]) => void,
    context?: unknown,
    once?: boolean,
  ): this {
    return this.removeListener(event, listener, context, once)
  }

  override removeAllListeners(event?: keyof ClusterEvents): this {
    super.removeAllListeners(event)
    this.#watch()
    return this
  }

  #copyable(): { readonly options: ResolvedOptions; readonly runtime: InlineRuntime } {
    if (this.#stopping !== null) throw new OptionError('the cluster has been stopped: it cannot be copied or restored.')
    if (this.#runtime.kind !== 'inline')
      throw new OptionError(
        "only a cluster in the caller's thread can be copied and restored: start it with runtime: 'inline'.",
      )
    return { options: this.#options, runtime: this.#runtime as InlineRuntime }
  }

  #relay(event: ClusterEvent): void {
    relayEvent(this, event)
    if (event.type === 'routed') this.#watch()
  }

  /** Members build an event only when somebody listens. */
  #watch(): void {
    this.#runtime.watch(this.listenerCount('routed') > 0 ? [...defaultWatched, 'routed'] : defaultWatched)
  }
}

function shardInfo({ address, endpoint }: MemberInfo): ShardInfo {
  return { id: address, uri: `mongodb://${endpoint}/?directConnection=true` }
}

function shardsAmong(members: readonly MemberInfo[]): ShardInfo[] {
  return members.filter(({ role }) => role === 'shard').map(shardInfo)
}

async function createRuntime(options: ResolvedOptions, outside: Actor): Promise<Runtime> {
  const { runtime, seed, clock, autoAdvance } = options
  if (runtime === 'inline') return createInlineRuntime({ roles: await loadRoles(), seed, outside, clock, autoAdvance })
  return createThreadsRuntime({
    workerEntry: new URL('./workers/entry.js', import.meta.url),
    seed,
    outside,
    ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
  })
}

/** The system's errors about addresses and ports as a sentence. */
function readable(error: unknown, options: ResolvedOptions): unknown {
  const { code, port } = error as { code?: string; port?: number }
  switch (code) {
    case 'EADDRINUSE':
      return new OptionError(
        `port ${port ?? options.port} on ${options.host} is taken: stop what listens there or choose another port.`,
      )
    case 'EACCES':
      return new OptionError(
        `port ${port ?? options.port} on ${options.host} may not be opened by this user: choose a port above 1023.`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new OptionError(
        `${options.host} is no address of this machine: choose one to listen on, such as 127.0.0.1.`,
      )
    default:
      return error
  }
}
