/** All batches come from the mongos that opened the cursor. */
import type { Address } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { cursorId, isNoCursor } from './reply.js'
import type { Answered, ClientCursor, Failed, Outcome } from './types.js'

export class Cursor implements ClientCursor {
  readonly ns: string
  readonly #from: Address
  readonly #db: string
  readonly #collection: string
  readonly #batchSize: number | null
  readonly #comment: unknown
  readonly #run: (command: Document, to: Address) => Promise<Outcome>
  readonly #onEnd: () => void
  #id: unknown
  #first: readonly Document[] | null
  #ended = false
  failure: Failed | null = null

  /**
   * @param run sends a command in the cursor's session
   * @param onEnd called once when the session is no longer used
   */
  constructor(
    command: Document,
    { reply, from }: Answered,
    run: (command: Document, to: Address) => Promise<Outcome>,
    onEnd: () => void,
  ) {
    const { id, ns, firstBatch } = reply['cursor'] as { id: unknown; ns: string; firstBatch: Document[] }
    const dot = ns.indexOf('.')
    this.ns = ns
    this.#db = ns.slice(0, dot)
    this.#collection = ns.slice(dot + 1)
    this.#from = from
    this.#batchSize = (command['batchSize'] ?? command['cursor']?.batchSize ?? null) as number | null
    this.#comment = command['comment']
    this.#run = run
    this.#onEnd = onEnd
    this.#id = id
    this.#first = firstBatch
    if (isNoCursor(id)) this.#end()
  }

  get exhausted(): boolean {
    return this.#first === null && this.#ended
  }

  async next(): Promise<readonly Document[] | null> {
    const first = this.#first
    this.#first = null
    if (first !== null) return first
    if (this.#ended) return null
    const outcome = await this.#run(this.#getMore(), this.#from)
    if (!outcome.ok) {
      this.failure = outcome
      await this.close()
      return null
    }
    const { id, nextBatch } = outcome.reply['cursor'] as { id: unknown; nextBatch: Document[] }
    this.#id = id
    if (isNoCursor(id)) this.#end()
    return nextBatch
  }

  async all(): Promise<{ readonly documents: readonly Document[]; readonly failure: Failed | null }> {
    const documents: Document[] = []
    for (let batch = await this.next(); batch !== null; batch = await this.next()) documents.push(...batch)
    return { documents, failure: this.failure }
  }

  async close(): Promise<void> {
    this.#first = null
    if (this.#ended) return
    await this.#run({ killCursors: this.#collection, cursors: [cursorId(this.#id)], $db: this.#db }, this.#from)
    this.#end()
  }

  #getMore(): Document {
    return {
      getMore: cursorId(this.#id),
      collection: this.#collection,
      ...(this.#batchSize === null || this.#batchSize === 0 ? {} : { batchSize: this.#batchSize }),
      ...(this.#comment === undefined ? {} : { comment: this.#comment }),
      $db: this.#db,
    }
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd()
  }
}
