/**
 * Clients send DDL and sharding commands through several routers while members crash at named
 * steps. Afterwards catalog, shards and routers must agree.
 */
import { createRandom, type MutationName, type Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import { PatientClient } from '../patient-client.js'
import { contradictions, documents, runner, type Run } from './checks.js'
import { databases, destroyedBy, namespaces, randomCommand } from './commands.js'
import { Inserted } from './inserted.js'
import { ddlSteps, isLeftOpen, unspeakable } from './rules.js'

const versions: readonly EmulatedVersion[] = ['2.6', '4.0', '4.4', '5.0', '6.0', '7.0', '8.0']
const withoutConsistencyCheck: readonly EmulatedVersion[] = ['2.6', '4.0', '4.4', '5.0', '6.0']
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
  const emulate = versions[random.below(versions.length)]!
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

class Scene implements DdlRun {
  readonly problems: string[] = []
  readonly journal: string[] = []
  commands = 0
  succeeded = 0
  crashes = 0
  readonly #cluster: SimulatedCluster
  readonly #emulate: EmulatedVersion
  readonly #random: Random
  readonly #inserted = new Inserted()
  readonly #restarts: Promise<void>[] = []
  readonly #faults: number[] = []
  #lastId = 0

  constructor(cluster: SimulatedCluster, emulate: EmulatedVersion, random: Random) {
    this.#cluster = cluster
    this.#emulate = emulate
    this.#random = random
    this.journal.push(emulate)
  }

  async play(): Promise<void> {
    const run = runner(this.#cluster)
    for (const db of databases) await run({ enableSharding: db, $db: 'admin' })
    if (this.#random.chance(2, 3)) await this.#armFaults()
    if (this.#random.chance(1, 3)) await this.#slowLink()
    await Promise.all(Array.from({ length: clients }, (_, i) => this.#work(this.#random.fork(`client ${i}`))))
    await this.#settle()
    await this.#check(run)
    await this.#checkAnew(run)
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
          this.#note(`${action} of ${address} at ${step}`)
          if (action === 'fail') return
          this.crashes++
          this.#restarts.push(this.#restart(address, afterMs))
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
    this.#note(text)
    await this.#cluster.faults.apply(text)
  }

  async #restart(member: string, afterMs: number): Promise<void> {
    await this.#cluster.advance(afterMs)
    await this.#cluster
      .restart(member)
      .catch((error: unknown) => this.#note(`${member} not restarted: ${String(error)}`))
    this.#note(`${member} restarts`)
  }

  async #work(random: Random): Promise<void> {
    const client = new PatientClient(this.#cluster, random)
    for (let i = 0; i < commandsOfEach; i++) {
      await (random.chance(1, 3) ? this.#insert(client, random) : this.#change(client, random))
      await client.pause(random.chance(1, 2) ? 2 : 20)
    }
  }

  async #insert(client: PatientClient, random: Random): Promise<void> {
    const ns = namespaces[random.below(namespaces.length)]!
    const [db, name] = ns.split('.') as [string, string]
    const id = ++this.#lastId
    const insertion = this.#inserted.beginInsert(id, ns, this.#cluster.now())
    const k = random.below(100)
    const reply = await client.once({ insert: name, documents: [{ _id: id, k, m: k }], $db: db })
    this.#noteReply({ insert: ns, id }, reply)
    if (reply?.['n'] === 1) insertion.endedMs = this.#cluster.now()
  }

  async #change(client: PatientClient, random: Random): Promise<void> {
    const command = randomCommand(random)
    const names = destroyedBy(command)
    const destruction =
      names.length === 0
        ? null
        : this.#inserted.beginDestruction(names, 'renameCollection' in command, this.#cluster.now())
    const reply = await client.once(command)
    this.#noteReply(command, reply)
    if (destruction === null || reply === null) return
    destruction.succeeded = reply['ok'] === 1
    if (destruction.succeeded || !isLeftOpen(reply['code'])) destruction.endedMs = this.#cluster.now()
  }

  #noteReply(command: Document, reply: Document | null): void {
    this.commands++
    const [error] = [...((reply?.['writeErrors'] ?? []) as Document[]), ...(reply?.['ok'] === 1 ? [] : [reply ?? {}])]
    if (error === undefined) this.succeeded++
    this.#note(`${JSON.stringify(command)}: ${error === undefined ? 'ok' : `${error['code']} ${error['errmsg']}`}`)
    if (unspeakable.has(error?.['code']))
      this.problems.push(`${JSON.stringify(command)}: ${error!['code']} ${error!['errmsg']}`)
  }

  #note(text: string): void {
    this.journal.push(`${Math.round(this.#cluster.now())} ${text}`)
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

  async #check(run: Run): Promise<void> {
    this.problems.push(...(await contradictions(run, !withoutConsistencyCheck.includes(this.#emulate))))
    for (const ns of namespaces) {
      for (const router of this.#cluster.mongos) {
        const [db, name] = ns.split('.') as [string, string]
        const ids = (await documents(run, { find: name, $db: db }, router)).map(({ _id }) => _id as number)
        this.problems.push(...this.#inserted.problems(ns, ids).map((each) => `${router}: ${each}`))
      }
    }
  }

  /** Every name can be used through every router, and a dropped database leaves nothing. */
  async #checkAnew(run: Run): Promise<void> {
    for (const ns of namespaces) {
      const [db, name] = ns.split('.') as [string, string]
      for (const router of this.#cluster.mongos) {
        const id = ++this.#lastId
        const reply = await run({ insert: name, documents: [{ _id: id, k: id, m: id }], $db: db }, router)
        if (reply['n'] !== 1) this.problems.push(`${router}: insert into ${ns}: ${JSON.stringify(reply)}`)
        const found = await documents(run, { find: name, filter: { _id: id }, $db: db }, router)
        if (found.length !== 1) this.problems.push(`${router}: ${ns} does not have a new document`)
      }
    }
    for (const db of databases) {
      const reply = await run({ dropDatabase: 1, $db: db })
      if (reply['ok'] !== 1) this.problems.push(`dropDatabase ${db}: ${JSON.stringify(reply)}`)
    }
    this.problems.push(...(await contradictions(run, false)).map((each) => `after dropDatabase: ${each}`))
    for (const ns of namespaces) {
      const [db, name] = ns.split('.') as [string, string]
      await run({ enableSharding: db, $db: 'admin' })
      const reply = await run({ shardCollection: ns, key: { k: 1 }, $db: 'admin' }, 'mongos02')
      if (reply['ok'] !== 1) this.problems.push(`shardCollection ${ns}: ${JSON.stringify(reply)}`)
      for (const router of this.#cluster.mongos) {
        const found = await documents(run, { find: name, $db: db }, router)
        if (found.length > 0) this.problems.push(`${router}: old documents are back in ${ns}`)
      }
    }
  }
}
