/** A client of the library in a world in which every command is answered by `exchange`. */
import { PortError, type Fields, type Proxy, type ReadablePort, type Transactions, type World } from '@shardlab/unique'
import { Client, type Layout } from '../story.js'
import { spec, type Command, type Method, type Reply } from './collections.js'

export const reservationMs = 1000
/** Longer than a reservation lives. */
export const epochMs = 2000

/** All reservations expire between two epochs. */
export type Epoch = number

export interface Answer {
  readonly reply: Reply
  readonly epoch: Epoch
}

export type Rewrite = (command: Command) => Command | Reply

/** What is the same for all clients of a search. */
export interface Setting {
  readonly layout: Layout
  readonly markers: boolean
  /** Whether each client runs its writes in transactions. */
  readonly transactions: readonly [boolean, boolean]
  /** Breaks a rule of the library: changes a command, or answers it. */
  readonly rewrite?: Rewrite
  /** Breaks a rule of the library: this client does not see that time passes. */
  readonly stoppedClock?: number
}

export type Act =
  | { readonly name: 'init' }
  | { readonly name: 'backfill' }
  | { readonly name: 'repair' }
  | { readonly name: 'insert'; readonly email: string }
  | { readonly name: 'delete'; readonly _id: number }

export const titleOf = (act: Act): string =>
  act.name === 'insert' ? `insert ${act.email}` : act.name === 'delete' ? `delete ${act._id}` : act.name

/** The main document that a client inserts. */
export const idOf = (client: number): number => 10 * (client + 1)

export class ProgramClient {
  readonly #client: Client
  readonly #index: number
  /** Of the last answer; a client that computes does not see time pass. */
  #nowMs: number
  readonly #timeOf: (epoch: Epoch) => number
  #tokens = 0
  #act = ''

  /** @param exchange never resolves if the client has to wait, or stopped */
  constructor(
    index: number,
    epoch: Epoch,
    { layout, markers, transactions, rewrite, stoppedClock }: Setting,
    exchange: (command: Command) => Promise<Answer>,
  ) {
    this.#index = index
    this.#timeOf = (epoch) => 1_000_000 + (stoppedClock === index ? 0 : epoch * epochMs)
    this.#nowMs = this.#timeOf(epoch)
    const call = async (command: Command): Promise<unknown> => {
      const rewritten = rewrite === undefined ? null : rewrite(command)
      if (rewritten !== null && !('method' in rewritten)) return valueOf(rewritten)
      const { reply, epoch } = await exchange(rewritten ?? command)
      this.#see(epoch)
      return valueOf(reply)
    }
    const port = (collection: 'main' | 'proxy', ofTransaction: () => Partial<Command> = () => ({})): ReadablePort => {
      const send = (method: Method, ...args: unknown[]): Promise<unknown> =>
        call({ collection, method, args, ...ofTransaction() })
      return {
        insertOne: (document) => send('insertOne', document) as Promise<void>,
        findOne: (filter) => send('findOne', filter) as Promise<Fields | null>,
        updateOne: (filter, update) => send('updateOne', filter, update) as Promise<number>,
        deleteOne: (filter) => send('deleteOne', filter) as Promise<number>,
        findOneAndUpdate: (filter, update) => send('findOneAndUpdate', filter, update) as Promise<Fields | null>,
        async *find(filter) {
          yield* (await send('find', filter)) as Fields[]
        },
      }
    }
    const proxiesOf = (port: ReadablePort): Proxy[] => [
      { name: 'proxy', port, specs: [spec], sharded: layout === 'sharded' },
    ]
    /** As the driver: repeats the transaction after a conflict. */
    const run: Transactions['run'] = async (body) => {
      for (let isRetry = false; ; isRetry = true) {
        const ofTransaction = (): Partial<Command> => ({ txn: index, ...(isRetry ? { isRetry } : {}) })
        const end = (method: 'commit' | 'abort'): Promise<unknown> =>
          call({ collection: 'main', method, args: [], ...ofTransaction() })
        try {
          const main = port('main', ofTransaction)
          const result = await body({ main, proxies: proxiesOf(port('proxy', ofTransaction)), session: null })
          await end('commit')
          return { refused: null, result }
        } catch (error) {
          if (error instanceof Conflict) continue
          if (!(error instanceof PortError)) await end('abort')
          throw error
        }
      }
    }
    const world: World = {
      main: port('main'),
      proxies: proxiesOf(port('proxy')),
      specs: [spec],
      clock: {
        now: () => this.#nowMs,
        sleep: async (durationMs) => {
          const { epoch } = await exchange({ collection: 'main', method: 'sleep', args: [durationMs] })
          this.#see(epoch)
          this.#nowMs += durationMs
        },
      },
      newToken: () => `${this.#act}.${++this.#tokens}`,
      reservationMs,
      // A write waits once for another one, and then gives up.
      busyMs: 10,
      tell: () => {},
      transactions: transactions[index] === true ? { run, within: () => Promise.reject(new Error('no caller')) } : null,
      markers,
      concurrency: 1,
    }
    this.#client = new Client(world)
  }

  /**
   * Only the time that is slept during an act counts, so the clocks of clients differ a little.
   *
   * @param number of acts that this client began before, also before it stopped
   */
  async perform(act: Act, number: number, epoch: Epoch): Promise<void> {
    this.#act = `${this.#index}.${number}`
    this.#tokens = 0
    this.#nowMs = this.#timeOf(epoch)
    const { maintenance } = this.#client
    if (act.name === 'init') await maintenance.begin()
    else if (act.name === 'backfill') await maintenance.backfill()
    else if (act.name === 'repair') await maintenance.repair()
    else if (act.name === 'insert') await this.#client.insert({ _id: idOf(this.#index), email: act.email })
    else await this.#client.remove(act._id)
  }

  /** Whether a write reads the markers first: all that a client keeps from one act to the next. */
  readMarkers(): Promise<unknown> {
    return this.#client.protocol.enforcement.building()
  }

  #see(epoch: Epoch): void {
    this.#nowMs = Math.max(this.#nowMs, this.#timeOf(epoch))
  }
}

/** The server has aborted the transaction. */
class Conflict extends Error {}

function valueOf(reply: Reply): unknown {
  if (!('error' in reply)) return reply.value
  if (reply.error === 'conflict') throw new Conflict('conflict')
  throw new PortError(reply.error, reply.error)
}
