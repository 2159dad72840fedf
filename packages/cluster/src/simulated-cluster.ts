import {
  allMutationNames,
  clientAddress,
  noAnswer,
  RequestFailedError,
  type Actor,
  type ActorContext,
  type ActorFactory,
  type Address,
  type ClientCommand,
  type ClusterEvent,
  type MessageKind,
  type MutationName,
  type ReplyOf,
  type RequestOf,
  type RekeyedRanges,
  type SizedRange,
} from '@shardlab/actor'
import type { BalancePolicy, BalancerOptions } from '@shardlab/balancer'
import {
  createSimulatedRuntime,
  type LatencyOption,
  type MemberInfo,
  type SimulatedRuntime,
  type StepControls,
} from '@shardlab/runtime'
import type { ConfigServerOptions } from '@shardlab/config-server'
import type { MeasuredDisks, ShardOptions } from '@shardlab/shard'
import { BalancerControls } from './balancer-controls.js'
import { addShardMembers, knownMember, startMembers } from './composition.js'
import { Faults } from './faults/faults.js'
import { loadFaultSchema } from './faults/parse.js'
import { OptionError } from './option-error.js'
import { outsideActor } from './outside-actor.js'
import type { ClusterOptions, LiveOnly } from './options.js'
import { refuseParameters } from './parameter-options.js'
import { resolveSimulatedOptions } from './resolve-options.js'
import type { ResolvedOptions } from './resolved-options.js'
import { loadRoles } from './roles.js'
import { rollbackFilesOf, type RollbackFile } from './rollback-files.js'
import { describeTopology, type Topology } from './topology.js'
import { addMember, removeMember, type AddedMember } from './sets/membership.js'
import { memberOrPrimary, membersToRestart, namedMembers } from './sets/named-members.js'

/** Timings are the server's unless `serverTimings` is false. */
export interface SimulatedClusterOptions extends Omit<ClusterOptions, LiveOnly> {
  /** Latency of packets between members. Default: 200 to 1000 microseconds. */
  readonly latency?: LatencyOption
  /** Defects in every member, for checkers to find. Default: none. */
  readonly mutations?: readonly MutationName[]
  /**
   * Members attach placements to messages as immutable tables instead of sending documents, as
   * clusters with many shards and chunks need. Members act the same. Default false.
   */
  readonly attaches?: boolean
  /**
   * Size of a node's log on disk after which it writes a checkpoint. A small one saves memory when
   * there are many members. Default: 64 MB.
   */
  readonly checkpointAfterBytes?: number
  /**
   * Whether shards sample queries, in versions that do. If false, they do not ask every ten seconds
   * what to sample, and configureQueryAnalyzer is refused. Default true.
   */
  readonly samplesQueries?: boolean
  /** Whether shards emit `collection-size` after each change. Default false. */
  readonly reportsSizes?: boolean
  /**
   * Collections, named before they exist, of which shards hold only the number of documents in each
   * range. They grow by `shard.measure`, and migrations clone them at this rate. Default: none.
   */
  readonly measured?: MeasuredCollections
  /** Must be a function of its arguments alone. Default: the server's policy. */
  readonly policy?: BalancePolicy
  /** After so many {@link SimulatedCluster.turns} waiting calls reject. Default: no limit. */
  readonly turnsMax?: number
}

export interface MeasuredCollections {
  readonly namespaces: readonly string[]
  readonly cloneBytesPerSecond: number
  /** Absent: they cannot be resharded. */
  readonly rekey?: (request: RekeyedRanges) => SizedRange[]
}

/**
 * Ids reserved for each client of {@link SimulatedCluster.addClient}; lower ones are free for
 * commands.
 */
const connectionsOfClientMax = 100_000

export interface SimulatedCommandOptions {
  /** The receiving member; of a set, its primary. Default: the first mongos. */
  readonly to?: Address
  /** OP_MSG document sequences: `[identifier, documents]`. */
  readonly sequences?: ClientCommand['sequences']
  /** The connection on which the command arrives. Default 1. */
  readonly connectionId?: number
}

/**
 * A cluster in which time passes only while a caller waits: in `command`, `restart`, `advance` or
 * `stop`. Several callers may wait at once. Equal options and equal calls give equal results, and
 * an equal `traceHash`. Once a member's handler has thrown an unexpected exception, each of these
 * rejects with a `SimulationFailedError` that names the seed.
 */
export class SimulatedCluster {
  readonly seed: number
  readonly mongos: readonly Address[]
  /** Arms and releases named steps. */
  readonly steps: StepControls
  readonly balancer: BalancerControls
  readonly faults: Faults
  readonly #runtime: SimulatedRuntime
  readonly #options: ResolvedOptions
  readonly #shards: Address[]
  #clients = 0

  constructor(runtime: SimulatedRuntime, faults: Faults, topology: Topology, options: ResolvedOptions) {
    this.#runtime = runtime
    this.faults = faults
    this.#options = options
    this.seed = options.seed
    this.#shards = [...topology.shards]
    this.mongos = topology.mongos
    this.steps = runtime.steps
    this.balancer = new BalancerControls(runtime, { now: () => runtime.now(), sleep: (ms) => runtime.advance(ms) })
  }

  get shards(): readonly Address[] {
    return this.#shards
  }

  /** @returns the name of the new shard */
  async addShard(): Promise<Address> {
    const [first] = await addShardMembers(this.#runtime, this.#options, this.#options.members)
    this.#shards.push(first!.set)
    return first!.set
  }

  /** As {@link ShardedCluster.addMember}. */
  addMember(set: Address): Promise<AddedMember> {
    return this.#runtime.during(addMember({ runtime: this.#runtime, options: this.#options }, set))
  }

  /** As {@link ShardedCluster.removeMember}. */
  async removeMember(member: string): Promise<void> {
    const parts = { runtime: this.#runtime, faults: this.faults, options: this.#options }
    await this.#runtime.during(removeMember(parts, member))
  }

  /** Of a shard or the config server; a set of one member has the name of its set. */
  membersOf(set: Address): readonly Address[] {
    return this.#runtime.resolve(set)
  }

  /** Milliseconds since the epoch; a simulation begins on 2026-01-01. */
  now(): number {
    return this.#runtime.now()
  }

  /** Everything that is due in these milliseconds happens. */
  advance(durationMs: number): Promise<void> {
    return this.#runtime.advance(durationMs)
  }

  /** Instants so far at which something happened or a call ended: a measure of a run's length. */
  get turns(): number {
    return this.#runtime.turns
  }

  /** A hash of everything that happened so far: times, members, bytes. */
  traceHash(): string {
    return this.#runtime.traceHash()
  }

  /**
   * Runs a client's command, `{ find: …, $db: … }` as BSON. The reply can be an error reply.
   * @throws RequestFailedError if the member is down or goes down before it answers, or closes the
   * connection instead
   */
  command(document: Uint8Array, options: SimulatedCommandOptions = {}): Promise<Uint8Array> {
    return this.#runtime.during(this.commandInBackground(document, options))
  }

  /** {@link command} for a caller that advances the clock itself. */
  async commandInBackground(document: Uint8Array, options: SimulatedCommandOptions = {}): Promise<Uint8Array> {
    const { to = this.mongos[0]!, sequences = [], connectionId = 1 } = options
    const command: ClientCommand = {
      connectionId,
      body: document,
      sequences,
      legacy: false,
      remote: `127.0.0.1:${connectionId}`,
    }
    const named = memberOrPrimary(this.#runtime, to)
    const member = typeof named === 'string' ? named : await named
    const { body } = await this.#runtime.background.request(member, 'client.command', command)
    if (body.length === noAnswer.length) throw new RequestFailedError('unreachable', to, 'the connection was closed')
    return body
  }

  /**
   * Puts a client, an actor that is not a member, on the network.
   * @param make creates it; `nextConnectionId` returns ids that no other client uses
   */
  addClient<A extends Actor>(make: (context: ActorContext, nextConnectionId: () => number) => A): A {
    const number = ++this.#clients
    let connections = number * connectionsOfClientMax
    return this.#runtime.addOutsider(clientAddress(number - 1), (context) => make(context, () => ++connections))
  }

  /** Advances the clock until the work is done. Rejects when no event is left before that. */
  during<T>(work: Promise<T>): Promise<T> {
    return this.#runtime.during(work)
  }

  /**
   * Sends a request from outside the cluster.
   * @throws RequestFailedError if the member is down, or does not answer in time
   */
  request<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>, timeoutMs: number): Promise<ReplyOf<K>> {
    return this.#runtime.during(this.requestInBackground(to, kind, request, timeoutMs))
  }

  /** {@link request} for a caller that advances the clock itself. */
  requestInBackground<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    timeoutMs: number,
  ): Promise<ReplyOf<K>> {
    return this.#runtime.background.request(knownMember(this.#runtime, to), kind, request, { timeoutMs })
  }

  /** The endpoints are names, without listeners. */
  members(): MemberInfo[] {
    return this.#runtime.members()
  }

  /** Of a member, not of a set. */
  isRunning(member: Address): boolean {
    return this.#runtime.member(member)?.state === 'running'
  }

  /** Plain data about a member, or the primary of a set, from itself: counts, versions, stages. */
  async describe(member: string): Promise<Record<string, unknown>> {
    return this.#runtime.describe(await memberOrPrimary(this.#runtime, member))
  }

  /**
   * Asks a member, or the primary of a set, without using the network, for measurements:
   * {@link SimulatedRuntime.peek}. Rejects if it is not running, or goes down before it answers.
   */
  peek<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const named = memberOrPrimary(this.#runtime, to)
    if (typeof named === 'string') return this.#runtime.peek(named, kind, request)
    return named.then((member) => this.#runtime.peek(member, kind, request))
  }

  /** As {@link ShardedCluster.rollbackFiles}. */
  rollbackFiles(): Promise<RollbackFile[]> {
    return rollbackFilesOf(this.#runtime)
  }

  alarm(delayMs: number, wake: () => void): { cancel(): void } {
    return this.#runtime.alarm(delayMs, wake)
  }

  /** Types of events for {@link onEvent}, besides `member`. Default: every type except `routed`. */
  watch(types: readonly ClusterEvent['type'][]): void {
    this.#runtime.watch(types)
  }

  /** Receives the watched events. @returns a function that removes the listener */
  onEvent(listener: (event: ClusterEvent) => void): () => void {
    return this.#runtime.onEvent(listener)
  }

  /**
   * Ends a member, or all members of a set, at once and without warning. Their disks keep all that
   * they have acknowledged.
   */
  async crash(member: string): Promise<void> {
    for (const address of namedMembers(this.#runtime, member)) await this.#runtime.crash(address)
  }

  /** Starts a crashed member, or all of a set, on its disk. */
  async restart(member: string): Promise<void> {
    await Promise.all(membersToRestart(this.#runtime, member).map((address) => this.#runtime.restart(address)))
  }

  /** Breaks the connection: messages in flight are lost, and unanswered requests fail. */
  sever(one: string, other: string): void {
    this.#runtime.sever(knownMember(this.#runtime, one), knownMember(this.#runtime, other))
  }

  stop(): Promise<void> {
    return this.#runtime.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/**
 * Resolves when the cluster answers commands.
 * @throws OptionError an option is wrong
 */
export async function createSimulatedCluster(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const { latency, mutations = [], attaches = false, turnsMax, ...more } = options
  const { measured, checkpointAfterBytes, samplesQueries, reportsSizes, policy, ...others } = more
  for (const name of mutations)
    if (!allMutationNames.includes(name))
      throw new OptionError(`${name} is not a mutation; the mutations are ${allMutationNames.join(', ')}.`)
  const resolved = resolveSimulatedOptions(others)
  await refuseParameters(resolved)
  const topology = describeTopology(resolved)
  const runtime = createSimulatedRuntime({
    roles: withOptions(await loadRoles(), {
      shard: {
        ...defined({ checkpointAfterBytes, samplesQueries, reportsSizes }),
        ...(measured === undefined ? {} : { measured: { ...measured, disks: await measuredDisks() } }),
      } satisfies Partial<ShardOptions>,
      'config-server': defined({ checkpointAfterBytes }) satisfies Partial<ConfigServerOptions>,
      balancer: defined({ policy }) satisfies Partial<BalancerOptions>,
    }),
    seed: resolved.seed,
    outside: outsideActor(() => ({ runtime, faults, copies: null, options: resolved, live: null })),
    mutations,
    attaches,
    ...defined({ latency, turnsMax }),
  })
  await loadFaultSchema()
  const faults = new Faults(runtime, resolved)
  await startMembers(runtime, resolved, topology, runtime.now())
  return new SimulatedCluster(runtime, faults, topology, resolved)
}

async function measuredDisks(): Promise<MeasuredDisks> {
  const { MeasuredDisks } = await import('@shardlab/shard')
  return new MeasuredDisks()
}

/** Adds options to those of the members' specifications, by role. */
function withOptions(
  roles: Record<string, ActorFactory>,
  options: Readonly<Record<string, object>>,
): Record<string, ActorFactory> {
  const entries = Object.entries(roles).map(([name, create]): [string, ActorFactory] => [
    name,
    (context, own) => create(context, { ...(own as object), ...options[name] }),
  ])
  return Object.fromEntries(entries)
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
