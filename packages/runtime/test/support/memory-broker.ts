import { BrokerError, type Broker, type BrokerMessage, type BrokerSubscription } from '../../src/nats/broker.js'

interface Subscription {
  readonly client: MemoryClient
  readonly subject: string
  readonly receive: (message: BrokerMessage) => void
}

/** A broker in this process. It delivers in order, and loses what a test wants lost. */
export class MemoryBroker {
  readonly #subscriptions = new Set<Subscription>()
  readonly #queue: (() => void)[] = []
  contentBytesMax = 1024 * 1024
  /** Of receivers. */
  readonly errors: unknown[] = []
  /** Messages that were delivered. */
  delivered: { readonly subject: string; readonly content: Uint8Array }[] = []
  /** @returns whether the message is lost */
  loses: (subject: string, content: Uint8Array) => boolean = () => false

  connect(): MemoryClient {
    return new MemoryClient(this)
  }

  subscribe(subscription: Subscription): BrokerSubscription {
    this.#subscriptions.add(subscription)
    return { close: () => void this.#subscriptions.delete(subscription) }
  }

  /** @returns whether a subscription has the subject */
  publish(from: MemoryClient, subject: string, content: Uint8Array, respond: BrokerMessage['respond']): boolean {
    if (content.length > this.contentBytesMax) throw new BrokerError('the message is too large')
    if (from.isCut || this.loses(subject, content)) return false
    const receivers = [...this.#subscriptions].filter((each) => matches(each.subject, subject) && !each.client.isCut)
    for (const { receive } of receivers)
      this.#later(() => {
        this.delivered.push({ subject, content })
        try {
          receive({ subject, content, respond })
        } catch (error) {
          this.errors.push(error)
        }
      })
    return receivers.length > 0
  }

  drop(client: MemoryClient): void {
    for (const each of this.#subscriptions) if (each.client === client) this.#subscriptions.delete(each)
  }

  #later(deliver: () => void): void {
    if (this.#queue.push(deliver) > 1) return
    setImmediate(() => {
      for (const each of this.#queue.splice(0)) each()
    })
  }
}

export class MemoryClient implements Broker {
  readonly #server: MemoryBroker
  /** Nothing from or for this client arrives while it is cut off. */
  isCut = false
  /** It counts as connected nevertheless. */
  isCutUnnoticed = false

  constructor(server: MemoryBroker) {
    this.#server = server
  }

  get isConnected(): boolean {
    return !this.isCut || this.isCutUnnoticed
  }

  get contentBytesMax(): number {
    return this.#server.contentBytesMax
  }

  publish(subject: string, content: Uint8Array): void {
    this.#server.publish(this, subject, content, null)
  }

  subscribe(subject: string, receive: (message: BrokerMessage) => void): BrokerSubscription {
    return this.#server.subscribe({ client: this, subject, receive })
  }

  request(subject: string, content: Uint8Array, timeoutMs: number): Promise<Uint8Array | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs, null)
      const answered = (answer: Uint8Array | null) => {
        clearTimeout(timer)
        resolve(answer)
      }
      if (!this.#server.publish(this, subject, content, (answer) => setImmediate(() => answered(answer))))
        answered(null)
    })
  }

  async close(): Promise<void> {
    this.#server.drop(this)
  }
}

function matches(pattern: string, subject: string): boolean {
  return pattern.endsWith('*') ? subject.startsWith(pattern.slice(0, -1)) : pattern === subject
}
