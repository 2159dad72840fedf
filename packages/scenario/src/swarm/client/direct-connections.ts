/** A connection to each member, which logs in where the member needs a user. */
import type { Address, Random } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { logIn, nonceBytes, simulatedMeans, type Login, type SimulatedCluster } from '@shardlab/cluster'

interface Surroundings {
  readonly cluster: SimulatedCluster
  readonly login: Login | null
  readonly random: Random
}

const unauthorized = 13

export class DirectConnections {
  readonly #world: Surroundings
  readonly #random: Random
  /** In progress: a connection has one login at a time. */
  readonly #logins = new Map<Address, Promise<void>>()

  constructor(world: Surroundings) {
    this.#world = world
    this.#random = world.random.fork('direct connections')
  }

  /**
   * @returns also error replies
   * @throws RequestFailedError, LoginError
   */
  async run(command: Document, to: Address): Promise<Document> {
    const { login } = this.#world
    const reply = await this.#send(command, to)
    if (login === null || reply['code'] !== unauthorized) return reply
    // A restarted member does not know the connection.
    await this.#logInOnce(login, to)
    return this.#send(command, to)
  }

  /** For checkers, which read without the network. No effect without access control. */
  async logInUnseen(connectionId: number, to: Address): Promise<void> {
    const { cluster, login } = this.#world
    if (login === null) return
    await this.#logIn(login, async (step) => {
      const command = { connectionId, body: encode(step), sequences: [], legacy: false, remote: 'checker' }
      return decode((await cluster.peek(to, 'client.command', command)).body)
    })
  }

  #logInOnce(login: Login, to: Address): Promise<void> {
    const running = this.#logins.get(to)
    if (running !== undefined) return running
    const begun = this.#logIn(login, (step) => this.#send(step, to)).finally(() => this.#logins.delete(to))
    this.#logins.set(to, begun)
    return begun
  }

  #logIn(login: Login, send: (command: Document) => Promise<Document>): Promise<void> {
    const means = simulatedMeans(() => this.#random.bytes(nonceBytes))
    return logIn((db, step) => send({ ...step, $db: db }), login, means)
  }

  async #send(command: Document, to: Address): Promise<Document> {
    return decode(await this.#world.cluster.command(encode(command), { to }), { promoteLongs: true })
  }
}
