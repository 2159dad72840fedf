/** The ports of `@shardlab/unique` over a simulated client. Every operation is sent once. */
import { createDeferred, type Deferred } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { PortError, type Fields, type ReadablePort } from '@shardlab/unique/core'
import { errorsOf, isPassing, nameOf, WrongAnswerError } from '../client/errors.js'

/** A client stops forever after this many commands, before or after the last one takes effect. */
export class Stop {
  readonly stopped: Deferred<void> = createDeferred()
  readonly #after: boolean
  #commandsLeft: number

  constructor(commandsLeft: number, after: boolean) {
    this.#commandsLeft = commandsLeft
    this.#after = after
  }

  next(): 'sent' | 'reply-lost' | 'not-sent' {
    if (this.#commandsLeft-- > 0) return 'sent'
    return this.#after && this.#commandsLeft === -1 ? 'reply-lost' : 'not-sent'
  }
}

/** null: the outcome is unknown. */
export interface CommandSender {
  once(command: Document): Promise<Document | null>
}

const duplicateKey = 11_000

/** Answers nothing after the stop. */
export function stoppable(client: CommandSender, stop: Stop | null): CommandSender {
  if (stop === null) return client
  return {
    async once(command) {
      const next = stop.next()
      const reply = next === 'not-sent' ? null : await client.once(command)
      if (next === 'sent') return reply
      stop.stopped.resolve()
      return new Promise(() => {})
    },
  }
}

export function uniquePort(client: CommandSender, db: string, collection: string): ReadablePort {
  const send = async (command: Document): Promise<Document> => {
    const reply = await client.once({ ...command, $db: db })
    if (reply === null) throw new PortError('unknown', 'no answer')
    const [error] = errorsOf(reply)
    if (error === undefined) return reply
    if (error['code'] === duplicateKey) throw new PortError('duplicate', String(error['errmsg']))
    if (!isPassing(error))
      throw new WrongAnswerError(command, `${nameOf(command)} failed with ${error['code']} ${error['errmsg']}`)
    throw new PortError('unknown', String(error['errmsg']))
  }
  const first = async (filter: Fields): Promise<Fields | null> =>
    ((await send({ find: collection, filter, limit: 1, singleBatch: true }))['cursor'].firstBatch as Fields[])[0] ??
    null
  return {
    insertOne: async (document) => void (await send({ insert: collection, documents: [document] })),
    findOne: first,
    updateOne: async (filter, update) =>
      (await send({ update: collection, updates: [{ q: filter, u: update }] }))['n'] as number,
    deleteOne: async (filter) =>
      (await send({ delete: collection, deletes: [{ q: filter, limit: 1 }] }))['n'] as number,
    findOneAndUpdate: async (filter, update) =>
      (await send({ findAndModify: collection, query: filter, update, new: true }))['value'] as Fields | null,
    async *find(filter) {
      yield* (await send({ find: collection, filter, batchSize: 10_000 }))['cursor'].firstBatch as Fields[]
    },
  }
}
