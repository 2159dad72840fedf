import { formatSize } from '@shardlab/quantities'
import { createRandom, type MutationName, type Random } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, OptionError, type Login, type SimulatedCluster } from '@shardlab/cluster'
import { behavioursOf, type Behaviours } from '@shardlab/sharding'
import type { Departure } from './checkers/stream-gaps.js'
import { DirectConnections } from './client/direct-connections.js'
import { connect } from './client/port.js'
import { SwarmClient } from './client/swarm-client.js'
import { Pace } from './faults/pace.js'
import type { Finding } from './finding.js'
import { ReplicaSets } from '../sets/replica-sets.js'
import { Timeline } from './timeline/timeline.js'
import type { SwarmPlan } from './types.js'
import { Verdicts } from './verdicts.js'

export interface SwarmWorldOptions {
  readonly mutation: MutationName | null
  /** The finding for which a timeline is recorded; null: none. */
  readonly recorded: Pick<Finding, 'ns' | 'ids'> | null
  /** Turns of the simulation after which the run fails. Default {@link defaultTurnsMax}. */
  readonly turnsMax?: number
}

/** Runs that end take at most some hundred thousand. */
const defaultTurnsMax = 2_000_000

export class SwarmWorld {
  readonly plan: SwarmPlan
  readonly cluster: SimulatedCluster
  readonly sets: ReplicaSets
  readonly behaviours: Behaviours
  readonly random: Random
  readonly verdicts: Verdicts
  /** null: not recorded. */
  readonly timeline: Timeline | null
  readonly pace = new Pace()
  readonly departures: Departure[] = []
  /** Unanswered commands. */
  readonly waiting = new Set<string>()
  /** Of an administrator; null: without access control. */
  readonly login: Login | null
  readonly direct: DirectConnections

  private constructor(plan: SwarmPlan, cluster: SimulatedCluster, recorded: SwarmWorldOptions['recorded']) {
    this.plan = plan
    this.cluster = cluster
    this.sets = new ReplicaSets(cluster)
    this.login = needsUsers(plan) ? administrator : null
    this.behaviours = behavioursOf(plan.emulate)
    this.random = createRandom(plan.seed).fork('swarm run')
    this.direct = new DirectConnections(this)
    this.timeline = recorded === null ? null : new Timeline(() => cluster.now(), recorded)
    this.verdicts = new Verdicts(({ checker, sentence }) => this.timeline?.close(`${checker}: ${sentence}`))
  }

  static async create(
    plan: SwarmPlan,
    { mutation, recorded, turnsMax = defaultTurnsMax }: SwarmWorldOptions,
  ): Promise<SwarmWorld> {
    const {
      seed,
      emulate,
      shards,
      mongos,
      members,
      chunkSizeBytes,
      balancerRoundIntervalMs,
      networkTimeoutMs,
      findReplicaSetHostTimeoutMs,
    } = plan
    const cluster = await createSimulatedCluster({
      seed,
      emulate,
      shards,
      mongos,
      // Elections after two seconds instead of ten.
      ...(members === 1 ? {} : { members, serverTimings: false }),
      ...(needsUsers(plan) ? { auth: true } : {}),
      balancerRoundIntervalMs,
      networkTimeoutMs,
      findReplicaSetHostTimeoutMs,
      turnsMax,
      ...(chunkSizeBytes === null ? {} : { chunkSize: formatSize(chunkSizeBytes) }),
      ...(mutation === null ? {} : { mutations: [mutation] }),
    })
    const world = new SwarmWorld(plan, cluster, recorded)
    if (world.login !== null) await world.#createAdministrator(world.login)
    await world.#setParameters()
    if (members > 1) await world.#configureShards()
    return world
  }

  /**
   * With a session of its own.
   * @param counts whether faults are timed to its work
   */
  client(name: string, counts = false, login = this.login): SwarmClient {
    const port = connect(this, name, login)
    return new SwarmClient(port, this.random.fork(`client ${name}`), counts ? () => this.pace.sent() : undefined)
  }

  /** @returns whether it was applied: a target may be down, or die while starting */
  async applyFault(fault: string): Promise<boolean> {
    try {
      await this.cluster.faults.apply(fault)
      return true
    } catch (error) {
      if (!(error instanceof OptionError) && !isFromDownMember(error)) throw error
      return false
    }
  }

  /**
   * By the localhost exception. Each shard has users of its own; no other role reads all of
   * `config`.
   */
  async #createAdministrator({ user, password, source }: Login): Promise<void> {
    const { mongos, shards } = this.cluster
    const command = {
      createUser: user,
      pwd: password,
      roles: ['__system'],
      writeConcern: { w: 'majority' },
      $db: source,
    }
    for (const to of [mongos[0]!, ...shards.map((shard) => this.sets.membersOf(shard)[0]!)]) {
      const reply = decode(await this.cluster.command(encode(command), { to }))
      if (reply['ok'] !== 1) throw new Error(`${to} refuses the administrator: ${reply['errmsg']}`)
    }
  }

  /** Small batches, so that there are several. A restarted member loses these parameters. */
  async #setParameters(): Promise<void> {
    for (const to of this.cluster.shards.flatMap((shard) => this.sets.membersOf(shard))) {
      const set = (parameters: object) => this.direct.run({ setParameter: 1, ...parameters, $db: 'admin' }, to)
      await set({ migrateCloneInsertionBatchSize: 5 })
      if (this.plan.orphansAtOnce) await set({ orphanCleanupDelaySecs: 0 })
    }
  }

  async #configureShards(): Promise<void> {
    for (const shard of this.cluster.shards) {
      const [to] = this.sets.membersOf(shard) as [string]
      const ask = async (command: Document): Promise<Document> => {
        const reply = await this.direct.run({ ...command, $db: 'admin' }, to)
        if (reply['ok'] !== 1) throw new Error(`${to} refuses its configuration: ${reply['errmsg']}`)
        return reply
      }
      const { config } = await ask({ replSetGetConfig: 1 })
      const settings = { ...config.settings, catchUpTimeoutMillis: this.plan.catchUpTimeoutMs }
      await ask({ replSetReconfig: { ...config, version: config.version + 1, settings } })
    }
  }
}

const administrator: Login = { user: 'administrator', password: 'secret', source: 'admin' }
const needsUsers = ({ activities }: SwarmPlan): boolean => activities.includes('users')

function isFromDownMember(error: unknown): boolean {
  const { name, message } = error as Error
  return (
    name === 'RequestFailedError' || name === 'StepFailedError' || /crash|stopped|is running|is starting/.test(message)
  )
}
