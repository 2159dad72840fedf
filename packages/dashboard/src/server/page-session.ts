/** One open page: a reader of the live stream, and commands of the page. */
import type { WebSocket } from 'ws'
import type { FromPage, ToPage } from './messages.js'
import { pageVerbs, type DashboardAccess, type DashboardTarget, type PageLogin } from './target.js'

/** A longer wait would keep a reader of a page that has gone. */
const waitMs = 5000

/** Resolves when the page has gone. */
export function servePage(socket: WebSocket, target: DashboardTarget): Promise<void> {
  return new PageSession(socket, target).run()
}

class PageSession {
  readonly #socket: WebSocket
  readonly #target: DashboardTarget
  #access: DashboardAccess | null = null
  /** Attempts to log in run one after the other. */
  #entering: Promise<void> = Promise.resolve()
  #streaming: Promise<void> = Promise.resolve()

  constructor(socket: WebSocket, target: DashboardTarget) {
    this.#socket = socket
    this.#target = target
  }

  async run(): Promise<void> {
    const socket = this.#socket
    const gone = new Promise((resolve) => socket.once('close', resolve))
    socket.on('message', (data: Buffer) => void this.#answer(data.toString()))
    // Without a listener, an error would end the process; the connection closes after it.
    socket.on('error', () => {})
    const { faultForms, needsLogin } = this.#target
    await this.#send({ faultForms, needsLogin })
    if (!needsLogin) await this.#enter(null).catch((error: unknown) => this.#lose(error))
    await gone
    await this.#entering
    await this.#streaming
    this.#access?.end()
  }

  #send(message: ToPage): Promise<void> {
    return new Promise((resolve) => this.#socket.send(JSON.stringify(message), () => resolve()))
  }

  async #lose(error: unknown): Promise<void> {
    if (this.#socket.readyState === this.#socket.OPEN) await this.#send({ lost: (error as Error).message })
    this.#socket.close()
  }

  async #enter(login: PageLogin | null): Promise<void> {
    if (this.#access !== null) return
    this.#access = await this.#target.enter(login)
    this.#streaming = this.#stream(this.#access).catch((error: unknown) => this.#lose(error))
  }

  async #stream(access: DashboardAccess): Promise<void> {
    const first = await access.open()
    const { reader } = first
    const close = (): Promise<void> => access.close(reader).catch(() => {})
    // Ends the wait for the next deltas.
    this.#socket.once('close', () => void close())
    try {
      let after = 0
      for (let batch = first; this.#socket.readyState === this.#socket.OPEN;) {
        // The next ones are asked for when these are on their way: a slow page slows its own queue.
        if (batch.deltas.length > 0) await this.#send({ deltas: batch.deltas })
        after = batch.deltas.at(-1)?.number ?? after
        batch = await access.next(reader, after, waitMs)
      }
    } finally {
      // The page may have gone before there was a reader.
      await close()
    }
  }

  async #answer(text: string): Promise<void> {
    const request = requestIn(text)
    if (request === null) return
    const { id } = request
    try {
      await this.#send({ id, reply: await this.#serve(request) })
    } catch (error) {
      await this.#send({ id, error: (error as Error).message })
    }
  }

  async #serve(request: FromPage): Promise<object> {
    if ('login' in request) {
      const entering = this.#entering.then(() => this.#enter(request.login))
      this.#entering = entering.catch(() => {})
      await entering
      return {}
    }
    if (this.#access === null) throw new Error('log in first.')
    return this.#access.control(request.verb, request.fields)
  }
}

/** null: the message is not from a page of this version. */
function requestIn(text: string): FromPage | null {
  try {
    const { id, verb, fields, login } = JSON.parse(text) as Partial<Record<'id' | 'verb' | 'fields' | 'login', unknown>>
    if (typeof id !== 'number') return null
    if (isLogin(login)) return { id, login }
    const known = pageVerbs.find((each) => each === verb)
    const isRequest = known !== undefined && typeof fields === 'object' && fields !== null
    return isRequest ? { id, verb: known, fields: fields as Readonly<Record<string, unknown>> } : null
  } catch {
    return null
  }
}

function isLogin(login: unknown): login is PageLogin {
  if (typeof login !== 'object' || login === null) return false
  const { user, password, source } = login as Partial<Record<keyof PageLogin, unknown>>
  return [user, password, source].every((each) => typeof each === 'string')
}
