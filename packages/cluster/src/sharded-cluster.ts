import type { ClusterEvent } from '@shardlab/actor'
import type { InlineRuntime, MemberInfo, MemoryUsage, Runtime } from '@shardlab/runtime'
import { setTimeout as sleep } from 'node:timers/promises'
import { BalancerControls } from './balancer-controls.js'
import { relayEvent } from './cluster-events.js'
import { openDirectory, optionsOf, type DurableStart } from './durable/durable-start.js'
import { ClusterEmitter } from './cluster-emitter.js'
import { addShardMembers, startMembers } from './composition.js'
import type { ClusterParts } from './cluster-parts.js'
import { createRuntime, manualRuntime } from './create-runtime.js'
import { checkCompatible, copyableRuntime } from './copies/copy-options.js'
import { Relocation } from './copies/relocation.js'
import { ClusterSnapshot, contentOf } from './copies/snapshot.js'
import { WireCopies } from './copies/wire-copies.js'
import { DumpClient } from './dumps/dump-client.js'
import { exportDump, type ExportedDump } from './dumps/export-dump.js'
import { importDump, type ImportedDump } from './dumps/import-dump.js'
import { Faults } from './faults/faults.js'
import { warnIfForgotten } from './forgotten-clusters.js'
import { newId } from './new-id.js'
import { OptionError } from './option-error.js'
import { outsideActor } from './outside-actor.js'
import type { ClusterOptions } from './options.js'
import { explained } from './listen-error.js'
import { dashboardIn } from './live/dashboard-option.js'
import { factsOf, LiveStream } from './live/live-stream.js'
import { refuseParameters } from './parameter-options.js'
import { timeToAdvance } from './quantity-options.js'
import type { ResolvedOptions } from './resolved-options.js'
import { rollbackFilesOf, type RollbackFile } from './rollback-files.js'
import {
  configAmong,
  setAmong,
  shardInfo,
  shardsAmong,
  standbyAmong,
  uriOf,
  type SetInfo,
  type ShardInfo,
  type StandbyInfo,
} from './shard-info.js'
import { membersOfNewShard } from './sets/resolve-sets.js'
import { checkTls } from './tls-options.js'
import { clientsOf, describeTopology, listenOfCopy } from './topology.js'
import { costlyEvents, WatchedEvents } from './watched-events.js'
import { addMember, removeMember, type AddedMember } from './sets/membership.js'
import { memberOrPrimary, membersToRestart, namedMembers } from './sets/named-members.js'

/**
 * A running cluster. `await using cluster = await ShardedCluster.start()` stops it at the end of
 * the block.
 *
 * Events: `routed` and `operations` (where operations go, and why), `member` (started, stopped,
 * crashed), `catalog`, `split`, `merge`, `migration` (its stages), `range-deleted`,
 * `balancer-round` (its decisions, with reasons), `jumbo`, `fault-applied`, `fault-struck`,
 * `fault-healed`, `limit`, `log`, and those of replica sets. Fields: docs/reference/events.md.
 */
export class ShardedCluster extends ClusterEmitter {
  /** Eight letters and digits that no other cluster has. */
  readonly id: string
  /** `host:port` of every mongos. */
  readonly mongos: readonly string[]
  /** Determines every random decision. */
  readonly seed: number
  readonly balancer: BalancerControls
  readonly faults: Faults
  readonly #runtime: Runtime
  readonly #options: ResolvedOptions
  readonly #parts: ClusterParts
  /** Names of their sets. */
  #shards: string[]
  #stopping: Promise<void> | null = null
  readonly #forgetWarning: () => void

  private constructor(parts: ClusterParts, options: ResolvedOptions, members: readonly MemberInfo[]) {
    super()
    const { runtime, faults, copies, directory, live, watched } = parts
    this.id = parts.id
    this.#parts = parts
    this.#runtime = runtime
    this.faults = faults
    copies.serve({
      cluster: this,
      check: () => void this.#copyable(),
      start: (given) => ShardedCluster.start({ ...this.#ownListening, ...given }),
    })
    this.#options = options
    this.seed = options.seed
    this.balancer = new BalancerControls(runtime, {
      now: () => runtime.now(),
      sleep: (ms) => (options.clock === 'manual' ? this.advance(ms) : sleep(ms)),
    })
    live.serve({ runtime, faults, balancer: this.balancer, options, watched, facts: () => factsOf(this, options) })
    this.mongos = members.filter(({ role }) => role === 'mongos').map(({ endpoint }) => endpoint)
    this.#shards = shardsAmong(members, options)
    this.#forgetWarning = warnIfForgotten({
      id: this.id,
      listeners: () => (runtime.kind === 'inline' ? runtime.members().length : 0),
    })
    runtime.onEvent((event) => this.#relay(event))
    directory?.onReport((event) => this.#relay(event))
  }

  /**
   * Resolves when the cluster answers clients.
   * @throws OptionError an option is wrong, or a port is in use
   */
  static async start(all: ClusterOptions = {}): Promise<ShardedCluster> {
    const [dashboard, given] = dashboardIn(all)
    const options = typeof given?.from === 'string' ? { ...given, from: await ClusterSnapshot.load(given.from) } : given
    const directory = await openDirectory(options)
    try {
      const resolved = await optionsOf(directory, options)
      const cluster = await ShardedCluster.#start(options, resolved, directory)
      await cluster.#parts.live.openDashboard(dashboard, cluster)
      return cluster
    } catch (error) {
      directory?.close()
      throw error
    }
  }

  static async #start(
    options: ClusterOptions,
    resolved: ResolvedOptions,
    directory: DurableStart | null,
  ): Promise<ShardedCluster> {
    if (resolved.tls !== null && resolved.nats === null) await checkTls(resolved.tls)
    await refuseParameters(resolved)
    const copied = options.from === undefined ? null : contentOf(options.from).world
    const [copies, live] = [new WireCopies(), new LiveStream()]
    const id = newId()
    const runtime = await createRuntime(id, resolved, {
      outside: outsideActor(() => ({ runtime, faults, copies, options: resolved, live })),
      completeReply: (command, reply) => copies.complete(command, reply),
      ...directory?.hooks,
    })
    const relocation = new Relocation(runtime)
    const faults = new Faults(runtime, { ...resolved, restart: (member) => relocation.restart(member) })
    const watched = new WatchedEvents(runtime)
    const parts: ClusterParts = { id, runtime, relocation, faults, copies, directory, live, watched }
    try {
      if (copied === null) {
        const members = await (directory?.start(runtime, resolved, relocation) ??
          startMembers(runtime, resolved, describeTopology(resolved), runtime.now()))
        return new ShardedCluster(parts, resolved, members)
      }
      const members = await (runtime as InlineRuntime).restore(copied, (spec) => listenOfCopy(spec, resolved))
      const cluster = new ShardedCluster(parts, resolved, members)
      await relocation.afterRestore(copied, members)
      return cluster
    } catch (error) {
      await runtime.stop()
      throw explained(error, resolved)
    }
  }

  /** The address of the dashboard; null: it is not served. */
  get dashboard(): string | null {
    return this.#parts.live.dashboard
  }

  /**
   * `mongodb://host:port,…/` with every mongos, with every member of a replica set and its name, or
   * with the standalone mongod.
   */
  get uri(): string {
    return uriOf(this.#runtime.members(), this.#options)
  }

  /** With `topology: 'replica-set'`; null: another topology. */
  get set(): SetInfo | null {
    return setAmong(this.#runtime.members(), this.#options)
  }

  /** The config server; null: a topology without one. */
  get config(): ShardInfo | null {
    return configAmong(this.#runtime.members(), this.#options)
  }

  /** Includes shards that were removed from the cluster, and no {@link standby}. */
  get shards(): readonly ShardInfo[] {
    return this.#shards.map((set) => shardInfo(set, this.#runtime.members(), this.#options))
  }

  /** The members started with the option `standby`, whether or not they have been added since. */
  get standby(): readonly StandbyInfo[] {
    return standbyAmong(this.#runtime.members(), this.#options)
  }

  /**
   * Starts one more shard on the same runtime and adds it, empty, to the cluster, as the command
   * `addShard` does. When this resolves, every mongos that runs has it in its routing table.
   * @param options `members`: as in {@link start}. Default: those of the cluster's other shards
   * @throws OptionError an option is wrong, the cluster is not sharded, or has been stopped
   * @throws Error the config server is down, or refuses the shard
   */
  async addShard(options: Pick<ClusterOptions, 'members'> = {}): Promise<ShardInfo> {
    this.#checkRuns('add a shard')
    const members = membersOfNewShard(options, this.#options)
    const [first] = await addShardMembers(this.#runtime, this.#options, members)
    this.#shards.push(first!.set)
    return shardInfo(first!.set, this.#runtime.members(), this.#options)
  }

  /**
   * Starts one more member of a replica set, with an empty disk and without a configuration. It
   * takes part once a client of the primary has added it: `rs.add(host)`.
   * @param set `shard01`, `config`, a name in `standby`, or that of the replica set
   * @throws OptionError there is no such set, it has one member without a protocol, or the cluster
   * has been stopped
   */
  async addMember(set: string): Promise<AddedMember> {
    this.#checkRuns('add a member')
    return addMember({ runtime: this.#runtime, options: this.#options }, set)
  }

  /**
   * Shuts down a member that a client has taken out of its set, by `rs.remove(host)`, and forgets
   * it with its disk. A later member may have its name. Faults of the member are over.
   * @throws OptionError there is no such member, its set still has it or cannot say so, or the
   * cluster has been stopped; nothing has changed then
   */
  async removeMember(member: string): Promise<void> {
    this.#checkRuns('remove a member')
    await removeMember({ runtime: this.#runtime, faults: this.faults, options: this.#options }, member)
  }

  /**
   * The state of the cluster now, for {@link restore} and `ShardedCluster.start({ from })`.
   * Commands in progress are completed first, and further ones wait. Faults are not included;
   * members that are down are down in the snapshot.
   * @throws OptionError if the cluster does not run in the caller's thread, or has been stopped
   * @throws BusyWorldError while a range or a database moves, a collection is resharded, or other
   * work does not complete; it names the work
   */
  async snapshot(): Promise<ClusterSnapshot> {
    const { options, runtime } = this.#copyable()
    const world = await this.#parts.live.withoutWaits(() => runtime.copy())
    return new ClusterSnapshot(
      { id: newId(), world, options: { ...options, tls: null }, isFromFile: false },
      runtime.now(),
    )
  }

  /**
   * Starts an independent cluster in the state of this one. It takes milliseconds, whatever the
   * number of documents. The options as in {@link start}; default: any free ports of this host,
   * with the same TLS.
   * @throws as {@link snapshot}
   */
  async fork(options: Pick<ClusterOptions, 'port' | 'host' | 'tls'> = {}): Promise<ShardedCluster> {
    return ShardedCluster.start({ ...this.#ownListening, ...options, from: await this.snapshot() })
  }

  /**
   * Returns to the state of a snapshot of this cluster, or of one with the same options. Heals all
   * faults first. Clients stay connected; cursors and sessions opened since are gone, as if every
   * member had been restarted. A manual clock is set back.
   * @throws OptionError for a snapshot of a cluster with other options, and as {@link snapshot}; at
   * most the faults have been healed then
   * @throws Error if a member cannot listen on its port again; it is down then, and the others have
   * been restored
   */
  async restore(snapshot: ClusterSnapshot): Promise<void> {
    const { options, runtime } = this.#copyable()
    const content = contentOf(snapshot)
    checkCompatible(options, content)
    runtime.checkIdle()
    await this.faults.heal()
    const own = clientsOf(options)
    try {
      // Of members that were removed since.
      const restore = () =>
        runtime.restore(content.world, ({ listen }) => (listen === null ? null : { ...listen, ...own }))
      await this.#parts.live.restoring(restore)
    } finally {
      // If a member could not start, the others have been restored.
      this.#shards = shardsAmong(runtime.members(), options)
    }
    await this.#parts.relocation.afterRestore(content.world, runtime.members())
  }

  /**
   * Writes what clients see of all databases into a folder, in the format of mongodump. A folder
   * that it has written before is replaced when the new one is complete.
   * @throws OptionError the folder has other files, or the cluster has been stopped
   * @throws Error a member does not answer; the old folder is unchanged then
   */
  async exportDump(folder: string): Promise<ExportedDump> {
    this.#checkRuns('export a dump')
    return exportDump(new DumpClient(this.#runtime, this.#options), folder)
  }

  /**
   * Reads a folder that {@link exportDump} or mongodump has written: collections with their
   * options, indexes and documents, and views. In a sharded cluster, collections of a dump of a
   * sharded cluster are sharded again, with their chunks on shards of the same names. Users and
   * other data of the server itself are left out.
   * @throws OptionError there is no dump, a file is damaged, or a collection exists: nothing has
   *   changed then; or the cluster refuses a part: what was imported before stays
   */
  async importDump(folder: string): Promise<ImportedDump> {
    this.#checkRuns('import a dump')
    return importDump(new DumpClient(this.#runtime, this.#options), folder)
  }

  members(): MemberInfo[] {
    return this.#runtime.members()
  }

  /** Plain data about a member, or the primary of a set, from itself: counts, versions, stages. */
  async describe(member: string): Promise<Record<string, unknown>> {
    return this.#runtime.describe(await memberOrPrimary(this.#runtime, member))
  }

  /**
   * The files in which the members of replica sets keep documents that rollbacks have removed or
   * overwritten, oldest first. Members that do not run are left out; the files survive restarts.
   */
  rollbackFiles(): Promise<RollbackFile[]> {
    return rollbackFilesOf(this.#runtime)
  }

  /** Where the memory of the process is: its threads, and disks that they share. */
  memory(): Promise<MemoryUsage> {
    return this.#runtime.memory()
  }

  /**
   * Ends a member, or all members of a set, at once and without warning. Their disks keep all that
   * they have acknowledged.
   */
  async crash(member: string): Promise<void> {
    for (const address of namedMembers(this.#runtime, member)) await this.#runtime.crash(address)
  }

  /** Starts a crashed member, or all of a set, on its disk and its port. */
  async restart(member: string): Promise<void> {
    await Promise.all(membersToRestart(this.#runtime, member).map((address) => this.#parts.relocation.restart(address)))
  }

  /** Milliseconds since the epoch by the cluster's clock. */
  now(): number {
    return this.#runtime.now()
  }

  /**
   * Advances a manual clock. Everything that is due happens at its time.
   * @param duration a text with its unit, such as `15m`; a number is milliseconds, as in options
   *   whose names end with Ms
   * @throws OptionError if the clock is not manual
   */
  async advance(duration: number | string): Promise<void> {
    await manualRuntime(this.#runtime, this.#options).advance(timeToAdvance(duration))
  }

  /**
   * Stops members in order. Further calls return the same promise. A process with a running cluster
   * does not end; when nothing else keeps it alive, a warning names the cluster.
   */
  stop(): Promise<void> {
    this.#forgetWarning()
    const { live, copies, directory } = this.#parts
    this.#stopping ??= Promise.all([live.close(), this.#runtime.stop(), copies.stopForks()]).then(() =>
      directory?.close(),
    )
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  get #ownListening(): Pick<ClusterOptions, 'insecure' | 'tls'> {
    const { insecure, tls } = this.#options
    return { insecure, ...(tls === null ? {} : { tls }) }
  }

  /** @throws OptionError */
  #checkRuns(action: string): void {
    if (this.#stopping !== null) throw new OptionError(`cannot ${action}: the cluster has been stopped.`)
  }

  #copyable(): { readonly options: ResolvedOptions; readonly runtime: InlineRuntime } {
    if (this.#stopping !== null) throw new OptionError('cannot copy or restore the cluster: it has been stopped.')
    return { options: this.#options, runtime: copyableRuntime(this.#runtime, this.#options) }
  }

  #relay(event: ClusterEvent): void {
    relayEvent(this, event)
    if (event.type === 'routed' || event.type === 'operations') this.listenersChanged()
  }

  protected override listenersChanged(): void {
    const listened = costlyEvents.filter((type) => this.listenerCount(type) > 0)
    this.#parts.watched.set(this, listened)
  }
}
