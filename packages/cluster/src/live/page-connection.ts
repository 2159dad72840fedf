import { configAddress, RequestFailedError, type Address } from '@shardlab/actor'
import { decode, encode, findField, type Document } from '@shardlab/bson'
import type { PageLogin } from '@shardlab/dashboard/server'
import type { Runtime } from '@shardlab/runtime'
import { clientServer, noServerText } from '../client-server.js'
import { logIn } from '../login/log-in.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { primaryOf } from '../sets/primary-of.js'
import { clientRoles } from '../storage-roles.js'

/** Lower numbers are those of clients, and of other pages. */
const firstConnectionId = 2 ** 31 - 3
/** A client of this machine, with no port. */
const remote = '127.0.0.1:0'
const unauthorized = 13
/** A paused member does not answer. */
const answerTimeoutMs = 3000
const commandTimeoutMs = 60_000
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
  #loggingIn: Promise<void> | null = null

  constructor(runtime: Runtime, options: ResolvedOptions) {
    this.#runtime = runtime
    this.#options = options
  }

  /**
   * Also without a router: the config server has the users of the cluster.
   * @throws LoginError, NoServerError
   */
  async logIn(login: PageLogin): Promise<void> {
    const server = await this.#findServerWithUsers()
    const send = async (db: string, command: Document): Promise<Document> =>
      decode(await this.#sendTo(server, encode({ ...command, $db: db }), answerTimeoutMs), { promoteLongs: true })
    await logIn(send, login)
    this.#login = login
    this.#server = server
  }

  /**
   * A command that every member with users takes. Resolves with error replies, too.
   * @throws LoginError, NoServerError
   */
  async command(db: string, command: Document): Promise<Document> {
    const body = encode({ ...command, $db: db })
    const reply = await this.#sendAsUser(await this.#findServerWithUsers(), body, answerTimeoutMs)
    return decode(reply, { promoteLongs: true })
  }

  /**
   * A command of a client, with `$db`. Resolves with error replies, too.
   * @throws LoginError, NoServerError
   */
  async send(body: Uint8Array): Promise<Uint8Array> {
    return this.#sendAsUser(await this.#findServer(), body, commandTimeoutMs)
  }

  async #sendAsUser(server: Address, body: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    // A router that was restarted does not know the user.
    if (this.#login !== null && server !== this.#server) await this.#logInAgain()
    const reply = await this.#sendTo(server, body, timeoutMs)
    if (this.#login === null || !isLoggedOut(reply)) return reply
    await this.#logInAgain()
    return this.#sendTo(server, body, timeoutMs)
  }

  /** Commands that run at the same time share it: a connection has one login at a time. */
  async #logInAgain(): Promise<void> {
    this.#loggingIn ??= this.logIn(this.#login!).finally(() => {
      this.#loggingIn = null
    })
    return this.#loggingIn
  }

  end(): void {
    const request = { connectionId: this.#connectionId }
    for (const { address, role, state } of this.#runtime.members())
      if (state === 'running' && clientRoles.has(role))
        this.#runtime.request(address, 'client.disconnected', request).catch(() => {})
  }

  async #sendTo(server: Address, body: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const request = { connectionId: this.#connectionId, body, sequences: [], legacy: false, remote }
    try {
      return (await this.#runtime.request(server, 'client.command', request, { timeoutMs })).body
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      throw new NoServerError(error.message)
    }
  }

  async #findServerWithUsers(): Promise<Address> {
    const isSharded = this.#options.topology === 'sharded'
    const server = await clientServer(this.#runtime, this.#options)
    return server ?? (isSharded ? await primaryOf(this.#runtime, configAddress) : null) ?? this.#findServer()
  }

  async #findServer(): Promise<Address> {
    const server = await clientServer(this.#runtime, this.#options)
    if (server === null) throw new NoServerError(noServerText(this.#options))
    return server
  }
}

function isLoggedOut(reply: Uint8Array): boolean {
  if (findField(reply, 'code')?.asNumber() !== unauthorized) return false
  return findField(reply, 'errmsg')?.asString().endsWith('requires authentication') === true
}
