/** What goes wrong during a simulated day: members crash while commands are on their way, and come back. */
import { createDeferred, type Random } from '@shardlab/actor'
import type { SimulatedCluster } from '@shardlab/cluster'

export class Trouble {
  crashes = 0
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  #clientsAtWork: number
  /** Resolved when the next command of a client leaves, and when all clients are done. */
  #nextSend = createDeferred<void>()

  /** It ends when that many clients are done. */
  constructor(cluster: SimulatedCluster, random: Random, clients: number) {
    this.#cluster = cluster
    this.#random = random
    this.#clientsAtWork = clients
  }

  get clientsAtWork(): boolean {
    return this.#clientsAtWork > 0
  }

  /** Shards, config server and routers crash as long as clients are at work; all are up at the end. */
  async make(): Promise<void> {
    await Promise.all([
      this.#among('shards', this.#cluster.shards, 50),
      this.#among('metadata', ['config'], 300),
      this.#among('routers', this.#cluster.mongos, 300),
    ])
  }

  /** A command of a client left. */
  sent(): void {
    const { resolve } = this.#nextSend
    if (this.clientsAtWork) this.#nextSend = createDeferred()
    resolve()
  }

  clientDone(): void {
    this.#clientsAtWork--
    if (!this.clientsAtWork) this.sent()
  }

  /** Crashes one of these members after another. Most of a day is waiting, so it strikes while a command is on its way. */
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
      // Now and then longer than a router looks for it.
      await pause(random.chance(1, 10) ? 2500 : 50)
      await this.#cluster.restart(member)
    }
  }
}
