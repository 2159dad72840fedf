/** The WebSocket of the page: the live stream, and commands with their replies. */
import type { FromPage, ToPage } from '../server/messages.js'
import type { PageFields, PageLogin, PageVerb } from '../server/target.js'
import type { Delta } from '../stream/deltas.js'
import { LiveState } from '../stream/live-state.js'
import { ChunkHistory } from './chunk-history.js'

const retryMs = 1000

export interface ConnectionListener {
  /** The state or the connection has changed. */
  changed(): void
  /** The user of the page cannot log in again. @param why a sentence */
  refused(why: string): void
}

export class Connection {
  readonly state = new LiveState()
  readonly history = new ChunkHistory()
  isOpen = false
  /** Why the server ended the stream; null: it did not. */
  lost: string | null = null
  faultForms: readonly string[] = []
  /** The page must log in first. */
  needsLogin = false
  /** To log in again after a loss of the connection. */
  #login: PageLogin | null = null
  readonly #listener: ConnectionListener
  readonly #waiting = new Map<number, { resolve(reply: object): void; reject(error: Error): void }>()
  #socket: WebSocket | null = null
  #lastId = 0

  constructor(listener: ConnectionListener) {
    this.#listener = listener
  }

  open(): void {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/live`)
    this.#socket = socket
    socket.addEventListener('open', () => {
      this.isOpen = true
      this.lost = null
      this.#listener.changed()
    })
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(data as string) as ToPage))
    socket.addEventListener('close', () => {
      this.isOpen = false
      this.needsLogin = false
      for (const waiting of this.#waiting.values()) waiting.reject(new Error('the connection is lost'))
      this.#waiting.clear()
      this.#listener.changed()
      setTimeout(() => this.open(), retryMs)
    })
  }

  /** @throws Error with a sentence */
  control(verb: PageVerb, fields: PageFields = {}): Promise<object> {
    return this.#request((id) => ({ id, verb, fields }))
  }

  /** @throws Error with a sentence */
  async logIn(login: PageLogin): Promise<void> {
    await this.#request((id) => ({ id, login }))
    this.#login = login
    this.needsLogin = false
    this.#listener.changed()
  }

  #request(message: (id: number) => FromPage): Promise<object> {
    if (!this.isOpen) return Promise.reject(new Error('the page is not connected'))
    const id = ++this.#lastId
    this.#socket!.send(JSON.stringify(message(id)))
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #greet({ faultForms, needsLogin }: Extract<ToPage, { faultForms: unknown }>): void {
    this.faultForms = faultForms
    this.needsLogin = needsLogin && this.#login === null
    if (!needsLogin || this.#login === null) return
    this.logIn(this.#login).catch((error: Error) => {
      // Otherwise the next greeting logs in again.
      if (!this.isOpen) return
      // The user may have been dropped since, or no router runs yet.
      this.needsLogin = true
      this.#listener.refused(error.message)
    })
  }

  #apply(deltas: readonly Delta[]): void {
    const atMs = Date.now()
    for (const delta of deltas) {
      this.history.note(delta, this.state, atMs)
      this.state.apply(delta)
    }
  }

  #take(message: ToPage): void {
    if ('faultForms' in message) this.#greet(message)
    else if ('deltas' in message) this.#apply(message.deltas)
    else if ('lost' in message) this.lost = message.lost
    else {
      const waiting = this.#waiting.get(message.id)
      this.#waiting.delete(message.id)
      if ('error' in message) waiting?.reject(new Error(message.error))
      else waiting?.resolve(message.reply)
    }
    this.#listener.changed()
  }
}
