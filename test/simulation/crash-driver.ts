/** Crashes and restarts members while clients work. */
import { createDeferred, type Random } from '@shardlab/actor'
import type { SimulatedCluster } from '@shardlab/cluster'

export class CrashDriver {
  crashes = 0
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  #clientsAtWork: number
  /** Resolves with the next command of a client, or when all clients are done. */
  #nextSend = createDeferred<void>()

  /** @param clients it ends when this many clients are done */
  constructor(cluster: SimulatedCluster, random: Random, clients: number) {
    this.#cluster = cluster
    this.#random = random
    this.#clientsAtWork = clients
  }

  get clientsAtWork(): boolean {
    return this.#clientsAtWork > 0
  }

  /**
   * Crashes shards, config server and routers while clients work. All members are up at the end.
   */
  async run(): Promise<void> {
    await Promise.all([
      this.#among('shards', this.#cluster.shards, 50),
      this.#among('metadata', ['config'], 300),
      this.#among('routers', this.#cluster.mongos, 300),
    ])
  }

  /** Records a command of a client. */
  sent(): void {
    const { resolve } = this.#nextSend
    if (this.clientsAtWork) this.#nextSend = createDeferred()
    resolve()
  }

  clientDone(): void {
    this.#clientsAtWork--
    if (!this.clientsAtWork) this.sent()
  }

  /**
   * Crashes one of these members after another, each while a command is on its way, because most of
   * the time is waiting.
   */
  async #among(name: string, members: readonly string[], calmMs: number): Promise<void> {
    const random = this.#random.fork(`trouble with ${name}`)
    const pause = (mostMs: number) => this.#cluster.advance(random.fraction() * mostMs)
    while (this.clientsAtWork) {
      await pause(calmMs)
      await this.#nextSend.promise
      await pause(4)
      const member = members[random.below(members.length)]!
      await this.#cluster.crash(member)
      this.crashes++
      // Sometimes longer than a router looks for a primary.
      await pause(random.chance(1, 10) ? 2500 : 50)
      await this.#cluster.restart(member)
    }
  }
}
