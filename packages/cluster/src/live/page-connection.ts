import { RequestFailedError, type Address } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import type { PageLogin } from '@shardlab/dashboard/server'
import type { Runtime } from '@shardlab/runtime'
import { clientServer, noServerText } from '../client-server.js'
import { logIn } from '../login/log-in.js'
import type { ResolvedOptions } from '../resolved-options.js'

/** Lower numbers are those of clients, and of other pages. */
const firstConnectionId = 2 ** 31 - 3
/** A client of this machine, with no port. */
const remote = '127.0.0.1:0'
const unauthorized = 13
let opened = 0

export class NoServerError extends Error {
  override readonly name = 'NoServerError'
}

/** The connection of a page to the cluster in this process, as one of its clients. */
export class PageConnection {
  readonly #runtime: Runtime
  readonly #options: ResolvedOptions
  readonly #connectionId = firstConnectionId - opened++
  #login: PageLogin | null = null
  /** Where the user is logged in. */
  #server: Address | null = null

  constructor(runtime: Runtime, options: ResolvedOptions) {
    this.#runtime = runtime
    this.#options = options
  }

  /** @throws LoginError, NoServerError */
  async logIn(login: PageLogin): Promise<void> {
    this.#server = await this.#findServer()
    await logIn((db, command) => this.#send(this.#server!, db, command), login)
    this.#login = login
  }

  /** Resolves with error replies, too. @throws LoginError, NoServerError */
  async command(db: string, command: Document): Promise<Document> {
    const server = await this.#findServer()
    // A router that was restarted does not know the user.
    if (this.#login !== null && server !== this.#server) await this.logIn(this.#login)
    const reply = await this.#send(server, db, command)
    if (this.#login === null || reply['code'] !== unauthorized || !isLoggedOut(reply)) return reply
    await this.logIn(this.#login)
    return this.#send(server, db, command)
  }

  end(): void {
    const request = { connectionId: this.#connectionId }
    for (const { address, role, state } of this.#runtime.members())
      if (state === 'running' && role !== 'balancer')
        this.#runtime.request(address, 'client.disconnected', request).catch(() => {})
  }

  async #send(server: Address, db: string, command: Document): Promise<Document> {
    const request = {
      ...{ connectionId: this.#connectionId, body: encode({ ...command, $db: db }), legacy: false, remote },
      sequences: [],
    }
    try {
      const { body } = await this.#runtime.request(server, 'client.command', request)
      return decode(body, { promoteLongs: true })
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      throw new NoServerError(error.message)
    }
  }

  async #findServer(): Promise<Address> {
    const server = await clientServer(this.#runtime, this.#options)
    if (server === null) throw new NoServerError(noServerText(this.#options))
    return server
  }
}

const isLoggedOut = (reply: Document): boolean => /requires authentication$/.test(String(reply['errmsg']))
