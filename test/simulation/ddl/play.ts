/**
 * Clients send DDL and sharding commands through several routers while members crash at named
 * steps. Afterwards catalog, shards and routers must agree.
 */
import { createRandom, type MutationName, type Random } from '@shardlab/actor'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import { PatientClient } from '../patient-client.js'
import { runner } from './checks.js'
import { databases } from './commands.js'
import { FuzzRecord, fuzzedVersions, type SendOnce } from './fuzz-record.js'
import { ddlSteps } from './rules.js'

const clients = 4
const commandsOfEach = 10
const minuteMs = 60_000

export interface DdlRun {
  readonly problems: readonly string[]
  readonly commands: number
  readonly succeeded: number
  readonly crashes: number
  readonly journal: readonly string[]
}

export async function playDdl(seed: number, mutations: readonly MutationName[] = []): Promise<DdlRun> {
  const random = createRandom(seed).fork('ddl')
  const emulate = fuzzedVersions[random.below(fuzzedVersions.length)]!
  const cluster = await createSimulatedCluster({
    seed,
    emulate,
    shards: 3,
    mongos: 2,
    mutations,
    findReplicaSetHostTimeoutMs: 1000,
    balancerRoundIntervalMs: 10_000 * minuteMs,
  })
  const scene = new Scene(cluster, emulate, random)
  try {
    await scene.play()
  } catch (error) {
    scene.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    await cluster.stop().catch(() => {})
  }
  return scene
}

class Scene extends FuzzRecord implements DdlRun {
  crashes = 0
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #restarts: Promise<void>[] = []
  readonly #faults: number[] = []

  constructor(cluster: SimulatedCluster, emulate: EmulatedVersion, random: Random) {
    super(emulate, () => cluster.now())
    this.#cluster = cluster
    this.#random = random
  }

  async play(): Promise<void> {
    const run = runner(this.#cluster)
    for (const db of databases) await run({ enableSharding: db, $db: 'admin' })
    if (this.#random.chance(2, 3)) await this.#armFaults()
    if (this.#random.chance(1, 3)) await this.#slowLink()
    await Promise.all(Array.from({ length: clients }, (_, i) => this.#work(this.#random.fork(`client ${i}`))))
    await this.#settle()
    await this.check(run, this.#cluster.mongos)
    await this.checkAnew(run, this.#cluster.mongos)
  }

  /** Members crash at named steps, or the steps fail. */
  async #armFaults(): Promise<void> {
    const random = this.#random.fork('faults')
    for (let i = random.below(4); i >= 0; i--) {
      const step = ddlSteps[random.below(ddlSteps.length)]!
      const afterMs = 1 + random.below(random.chance(1, 4) ? 5000 : 200)
      const action = random.chance(1, 3) ? 'fail' : 'crash'
      const fault = await this.#cluster.steps.arm(step, action, {
        times: 1,
        onStruck: ({ address }) => {
          this.note(`${action} of ${address} at ${step}`)
          if (action === 'fail') return
          this.crashes++
          this.#restarts.push(this.#restart(address, afterMs, random.chance(1, 2)))
        },
      })
      this.#faults.push(fault)
    }
  }

  /** Messages of the two members arrive late, but in order. */
  async #slowLink(): Promise<void> {
    const random = this.#random.fork('slow link')
    const members = ['config', ...this.#cluster.shards]
    const one = members.splice(random.below(members.length), 1)[0]!
    const other = members[random.below(members.length)]!
    const text = `delay between ${one} and ${other} by ${1 + random.below(60)}ms`
    this.note(text)
    await this.#cluster.faults.apply(text)
  }

  /**
   * @param slowly with a slow disk, so that clients send commands before the member knows what its
   *   majority has
   */
  async #restart(member: string, afterMs: number, slowly: boolean): Promise<void> {
    await this.#cluster.advance(afterMs)
    if (slowly) await this.#cluster.faults.apply(`slow disk of ${member} by 30ms for 500ms`)
    await this.#cluster
      .restart(member)
      .catch((error: unknown) => this.note(`${member} not restarted: ${String(error)}`))
    this.note(`${member} restarts`)
  }

  async #work(random: Random): Promise<void> {
    const client = new PatientClient(this.#cluster, random)
    const send: SendOnce = (command) => client.once(command)
    for (let i = 0; i < commandsOfEach; i++) {
      await (random.chance(1, 3) ? this.insert(random, send) : this.change(random, send))
      await client.pause(random.chance(1, 2) ? 2 : 20)
    }
  }

  /** Coordinators and migrations end, also those that a restart has interrupted. */
  async #settle(): Promise<void> {
    await this.#cluster.advance(minuteMs)
    for (const fault of this.#faults) await this.#cluster.steps.heal(fault)
    while (this.#restarts.length > 0) await this.#cluster.during(this.#restarts.shift()!)
    await this.#cluster.advance(20 * minuteMs)
    for (const { address, state } of this.#cluster.members())
      if (state !== 'running') this.problems.push(`${address} is ${state}`)
  }
}
