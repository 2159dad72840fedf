/** What goes wrong in a sharding story: members crash at random instants and at named steps, steps fail, connections break. */
import { createDeferred, type Random } from '@shardlab/actor'
import type { SimulatedCluster } from '@shardlab/cluster'

/** Steps at which a shard or the config server crashes, or what reaches them fails. */
const steps = [
  ...['started', 'begun', 'recipient-asked', 'recipient-started', 'recipient-prepared', 'recipient-batch-stored', 'recipient-cloned'],
  ...['recipient-steady', 'caught-up', 'writes-blocked', 'recipient-draining', 'recipient-done', 'recipient-committed', 'committing'],
  ...['committed', 'decided', 'settled', 'recipient-released', 'recipient-told', 'forgotten'],
].map((step) => `shard.migration.${step}`)
const others = [
  'config.migration.requested',
  'config.migration.before-commit',
  'config.migration.committed',
  'shard.range-deleter.started',
  'shard.range-deleter.emptied',
  'shard.document-move.begun',
  'shard.document-move.preparing',
  'shard.document-move.insert-prepared',
  'shard.document-move.prepared',
  'shard.document-move.decided',
  'shard.document-move.deciding',
  'shard.document-move.insert-decided',
  'shard.document-move.finished',
]
/** At these members crash, and nothing fails. */
const crashesOnly = [
  'shard.move-primary.started',
  'shard.move-primary.batch-sent',
  'shard.move-primary.cloned',
  'shard.move-primary.critical-section',
  'shard.move-primary.committed',
  'shard.move-primary.cleaned',
  'shard.create-collection.validated',
  'shard.create-collection.participants-ready',
  'shard.drop-collection.started',
  'shard.drop-collection.committed',
  'shard.drop-database.collections-committed',
  'shard.drop-database.committed',
  'shard.rename-collection.committed',
  'shard.refine-shard-key.validated',
  'shard.refine-shard-key.committed',
  'shard.split-chunk.before-commit',
  'shard.merge-chunks.before-commit',
]

export class ShardingTrouble {
  crashes = 0
  strikes = 0
  severed = 0
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #faults: number[] = []
  readonly #restarting = new Map<string, Promise<void>>()
  #atWork: number
  #nextSend = createDeferred<void>()

  /** It ends when that many clients are done. */
  constructor(cluster: SimulatedCluster, random: Random, clients: number) {
    this.#cluster = cluster
    this.#random = random
    this.#atWork = clients
  }

  get clientsAtWork(): boolean {
    return this.#atWork > 0
  }

  /** A command of a client left. */
  sent(): void {
    const { resolve } = this.#nextSend
    if (this.clientsAtWork) this.#nextSend = createDeferred()
    resolve()
  }

  clientDone(): void {
    this.#atWork--
    if (!this.clientsAtWork) this.sent()
  }

  /** As long as clients are at work; everybody is up at the end, and nothing goes wrong any more. */
  async make(): Promise<void> {
    const { shards, mongos } = this.#cluster
    await Promise.all([
      this.#whileAtWork('shards', 150, (random) => this.#crash(random, shards)),
      this.#whileAtWork('metadata', 800, (random) => this.#crash(random, ['config'])),
      this.#whileAtWork('routers', 800, (random) => this.#crash(random, mongos)),
      this.#whileAtWork('steps', 60, (random) => this.#armStep(random)),
      this.#whileAtWork('network', 40, (random) => this.#sever(random)),
    ])
    for (const fault of this.#faults) await this.#cluster.steps.heal(fault)
    for (let members = this.#crashed(); members.length > 0; members = this.#crashed()) {
      await Promise.all(members.map((member) => this.#restart(member)))
      await this.#cluster.advance(10)
    }
  }

  /** Most of a day is waiting, so it strikes while a command is on its way. */
  async #whileAtWork(name: string, calmMs: number, strike: (random: Random) => Promise<void>): Promise<void> {
    const random = this.#random.fork(`trouble with ${name}`)
    while (this.clientsAtWork) {
      await this.#cluster.advance(random.fraction() * 2 * calmMs)
      await this.#nextSend.promise
      await this.#cluster.advance(random.fraction() * 4)
      await strike(random)
    }
  }

  async #crash(random: Random, members: readonly string[]): Promise<void> {
    const member = members[random.below(members.length)]!
    await this.#cluster.crash(member)
    this.crashes++
    // Now and then longer than a router looks for it.
    await this.#cluster.advance(random.fraction() * (random.chance(1, 10) ? 2500 : 50))
    await this.#restart(member)
  }

  async #armStep(random: Random): Promise<void> {
    const all = [...steps, ...others, ...crashesOnly]
    const step = all[random.below(all.length)]!
    const action = crashesOnly.includes(step) || random.chance(1, 2) ? 'crash' : 'fail'
    const fault = await this.#cluster.steps.arm(step, action, { times: 1 })
    this.#faults.push(fault)
    const pauseMs = random.fraction() * 100
    void this.#cluster.steps.struck(fault).then(async (member) => {
      this.strikes++
      if (action === 'fail') return
      await this.#cluster.advance(pauseMs)
      await this.#restart(member)
    })
  }

  async #sever(random: Random): Promise<void> {
    const members = random.shuffled(['config', ...this.#cluster.shards, ...this.#cluster.mongos])
    this.#cluster.sever(members[0]!, members[1]!)
    this.severed++
  }

  #crashed(): string[] {
    return this.#cluster
      .members()
      .filter(({ state }) => state === 'crashed')
      .map(({ address }) => address)
  }

  /** Once, however many want it; an armed step may strike it again while it starts. */
  async #restart(member: string): Promise<void> {
    while (this.#restarting.has(member) || this.#crashed().includes(member)) {
      const running = this.#restarting.get(member) ?? this.#cluster.restart(member).catch(mustBeStruck)
      this.#restarting.set(member, running)
      await running
      if (this.#restarting.get(member) === running) this.#restarting.delete(member)
    }
  }
}

function mustBeStruck(error: unknown): void {
  if (!(error instanceof Error) || !error.message.includes('crashed while it was starting')) throw error
}
