/** The same cluster under a virtual clock: nothing listens, commands go in as messages, a seed replays everything. */
import {
  clientAddress,
  mutationNames,
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
} from '@shardlab/actor'
import type { BalancePolicy, BalancerOptions } from '@shardlab/balancer'
import {
  createSimulatedRuntime,
  type LatencyOption,
  type MemberInfo,
  type SimulatedRuntime,
  type StepControls,
} from '@shardlab/runtime'
import type { ShardOptions } from '@shardlab/shard'
import type { Sharing } from '@shardlab/sharding'
import { BalancerControls } from './balancer-controls.js'
import { addShardMember, knownMember, startMembers } from './composition.js'
import { Faults } from './faults/faults.js'
import { faultsActor } from './faults/faults-actor.js'
import { loadFaultSchema } from './faults/parse.js'
import { OptionError } from './option-error.js'
import type { ClusterOptions, LiveOnly } from './options.js'
import { resolveSimulatedOptions } from './resolve-options.js'
import type { ResolvedOptions } from './resolved-options.js'
import { loadRoles } from './roles.js'
import { describeTopology, type Topology } from './topology.js'

/** What {@link createSimulatedCluster} takes; everything has a default. Timings are the server's unless `serverTimings` is false. */
export interface SimulatedClusterOptions extends Omit<ClusterOptions, LiveOnly> {
  /** How long packets take between members. Default: 200 to 1000 microseconds everywhere. */
  readonly latency?: LatencyOption
  /** Defects that are built into every member, for checkers to find. Default: none. */
  readonly mutations?: readonly MutationName[]
  /** Do members keep tables of chunks once for all, as clusters of many shards with many chunks need? Changes what they send. Default false. */
  readonly sharesPlacements?: boolean
  /**
   * Collections, before they exist, of which shards know how many documents lie where and have none of them: they grow by `shard.measure`, and move
   * as fast as this. Default: none.
   */
  readonly measured?: { readonly namespaces: readonly string[]; readonly cloneBytesPerSecond: number }
  /** What the balancer moves, in place of the server's policy. It must not depend on anything but what it is asked. Default: the server's. */
  readonly policy?: BalancePolicy
}

/** So many numbers there are for the connections of each client; lower ones are for {@link SimulatedCommandOptions.connectionId}. */
const connectionsOfClientMax = 100_000

/** How a command gets into a simulated cluster. */
export interface SimulatedCommandOptions {
  /** The member that gets it. Default: the first mongos. */
  readonly to?: Address
  /** OP_MSG document sequences: `[identifier, documents]`. */
  readonly sequences?: ClientCommand['sequences']
  /** Which connection of that member it comes from. Default 1. */
  readonly connectionId?: number
}

/**
 * A cluster in which time passes only while somebody waits: in `command`, `restart`, `advance` or `stop`. Several may wait at once.
 * Equal options and equal calls give equal results, and an equal `traceHash`. Once an exception has left a member's handler, each
 * of these rejects with a `SimulationFailedError` that names the seed.
 */
export class SimulatedCluster {
  /** Root of every random decision of this cluster. */
  readonly seed: number
  readonly mongos: readonly Address[]
  /** Faults at the named steps that members pass. */
  readonly steps: StepControls
  /** Rounds on demand, waiting until nothing has to move, and why. */
  readonly balancer: BalancerControls
  /** What is broken on purpose. */
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

  /** Starts one more shard and adds it to the cluster. @returns its address */
  async addShard(): Promise<Address> {
    const { address } = await addShardMember(this.#runtime, this.#options)
    this.#shards.push(address)
    return address
  }

  /** Milliseconds since the epoch; a simulation begins on 2026-01-01. */
  now(): number {
    return this.#runtime.now()
  }

  /** Lets that many milliseconds pass, with everything that happens in them. */
  advance(durationMs: number): Promise<void> {
    return this.#runtime.advance(durationMs)
  }

  /** Stands for all that happened so far: times, members, bytes. */
  traceHash(): string {
    return this.#runtime.traceHash()
  }

  /**
   * A client's command: `{ find: …, $db: … }` as BSON, answered with the reply document, which may be an error of the command.
   * @throws RequestFailedError when the member is down or goes down before it answers, or closes the connection instead
   */
  command(document: Uint8Array, options: SimulatedCommandOptions = {}): Promise<Uint8Array> {
    return this.#runtime.during(this.commandInBackground(document, options))
  }

  /** {@link command} for one of many clients: it makes no time pass, somebody else has to. */
  async commandInBackground(document: Uint8Array, options: SimulatedCommandOptions = {}): Promise<Uint8Array> {
    const { to = this.mongos[0]!, sequences = [], connectionId = 1 } = options
    const command: ClientCommand = {
      connectionId,
      body: document,
      sequences,
      legacy: false,
      remote: `simulated-client:${connectionId}`,
    }
    const { body } = await this.#runtime.background.request(knownMember(this.#runtime, to), 'client.command', command)
    if (body.length === noAnswer.length) throw new RequestFailedError('unreachable', to, 'the connection was closed')
    return body
  }

  /**
   * Puts a client on the network: an actor that is no member.
   * @param make gets what numbers connections as no other client does
   */
  addClient<A extends Actor>(make: (context: ActorContext, nextConnectionId: () => number) => A): A {
    const number = ++this.#clients
    let connections = number * connectionsOfClientMax
    return this.#runtime.addOutsider(clientAddress(number - 1), (context) => make(context, () => ++connections))
  }

  /** Lets time pass until the work is done. Rejects when nothing is left to happen before that. */
  during<T>(work: Promise<T>): Promise<T> {
    return this.#runtime.during(work)
  }

  /**
   * A request of whoever runs the cluster to a member.
   * @throws RequestFailedError when the member is down, or does not answer in that time
   */
  request<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>, timeoutMs: number): Promise<ReplyOf<K>> {
    return this.#runtime.during(this.requestInBackground(to, kind, request, timeoutMs))
  }

  /** {@link request} while somebody else makes time pass. */
  requestInBackground<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    timeoutMs: number,
  ): Promise<ReplyOf<K>> {
    return this.#runtime.background.request(knownMember(this.#runtime, to), kind, request, { timeoutMs })
  }

  /** Every member with its state; the endpoints are names that nothing listens on. */
  members(): MemberInfo[] {
    return this.#runtime.members()
  }

  /** Plain data that a member tells of itself: counts, versions, stages. */
  async describe(member: string): Promise<Record<string, unknown>> {
    return this.#runtime.describe(knownMember(this.#runtime, member))
  }

  /** What its members keep once for all of them. */
  get sharing(): Sharing {
    return this.#runtime.sharing
  }

  /** Asks a member past the network, for measuring: see {@link SimulatedRuntime.peek}. Rejects when it is not running. */
  peek<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    return this.#runtime.peek(knownMember(this.#runtime, to), kind, request)
  }

  /** Calls `wake` once after that many milliseconds, when somebody lets them pass. */
  alarm(delayMs: number, wake: () => void): { cancel(): void } {
    return this.#runtime.alarm(delayMs, wake)
  }

  /** Which types of events {@link onEvent} tells of, besides `member`. Default: every one but `routed`. */
  watch(types: readonly ClusterEvent['type'][]): void {
    this.#runtime.watch(types)
  }

  /** Hears of every event that is watched. @returns a function that takes the listener away */
  onEvent(listener: (event: ClusterEvent) => void): () => void {
    return this.#runtime.onEvent(listener)
  }

  /** Stops a member at once and without warning. What it had acknowledged is on its disk. */
  async crash(member: string): Promise<void> {
    await this.#runtime.crash(knownMember(this.#runtime, member))
  }

  /** Starts a crashed member on its disk. */
  async restart(member: string): Promise<void> {
    await this.#runtime.restart(knownMember(this.#runtime, member))
  }

  /** Breaks the connection between two members: what is on its way is lost, requests without an answer fail. */
  sever(one: string, other: string): void {
    this.#runtime.sever(knownMember(this.#runtime, one), knownMember(this.#runtime, other))
  }

  /** Ends all members in order. */
  stop(): Promise<void> {
    return this.#runtime.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/**
 * Makes a simulated cluster and resolves when it answers commands.
 * @throws OptionError for a wrong option: one sentence
 */
export async function createSimulatedCluster(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const { latency, mutations = [], sharesPlacements = false, measured, policy, ...others } = options
  for (const name of mutations)
    if (!mutationNames.includes(name))
      throw new OptionError(`${name} is not a mutation; the mutations are ${mutationNames.join(', ')}.`)
  const resolved = resolveSimulatedOptions(others)
  const topology = describeTopology(resolved)
  const runtime = createSimulatedRuntime({
    roles: withPolicy(
      measured === undefined ? await loadRoles() : await withMeasured(await loadRoles(), measured),
      policy,
    ),
    seed: resolved.seed,
    outside: faultsActor(() => faults),
    mutations,
    sharesPlacements,
    ...(latency === undefined ? {} : { latency }),
  })
  await loadFaultSchema()
  const faults = new Faults(runtime, resolved)
  await startMembers(runtime, resolved, topology, runtime.now())
  return new SimulatedCluster(runtime, faults, topology, resolved)
}

async function withMeasured(
  roles: Record<string, ActorFactory>,
  measured: NonNullable<SimulatedClusterOptions['measured']>,
): Promise<Record<string, ActorFactory>> {
  const { createShard, MeasuredDisks } = await import('@shardlab/shard')
  const option = { ...measured, disks: new MeasuredDisks() }
  return {
    ...roles,
    shard: (context, options) => createShard(context, { ...(options as ShardOptions), measured: option }),
  }
}

function withPolicy(
  roles: Record<string, ActorFactory>,
  policy: BalancePolicy | undefined,
): Record<string, ActorFactory> {
  const createBalancer = roles['balancer']!
  if (policy === undefined) return roles
  return {
    ...roles,
    balancer: (context, options) => createBalancer(context, { ...(options as BalancerOptions), policy }),
  }
}
