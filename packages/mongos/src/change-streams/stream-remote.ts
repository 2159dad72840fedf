/** The cursor of a change stream on one shard. Server: async_results_merger.cpp. */
import { unversioned, type TimestampPair } from '@shardlab/actor'
import { DocumentWriter, documentsOf, findField } from '@shardlab/bson'
import { killCursor, tokenText } from '@shardlab/member'
import { readCursorReply } from '../cursors/cursor-reply.js'
import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import { replyError } from '../remote/command-reply.js'

export interface OpenedStream {
  readonly shard: string
  /** The member of the shard's set that has the cursor. */
  readonly receiver: string
  readonly body: Uint8Array
}

export interface RemoteEvent {
  /** Of the resume token, which is the order of events. */
  readonly hex: string
  readonly document: Uint8Array
}

export class StreamRemote {
  readonly shard: string
  readonly #receiver: string
  readonly #ns: string
  readonly #id: bigint
  #isOpen = true
  #events: RemoteEvent[] = []
  #taken = 0
  /** No further event comes before this token. */
  promise: string
  promiseToken: Uint8Array
  /** Whether a getMore is running. It may outlast the command of the client. */
  #isAsking = false
  #isAdvancing = false
  #failure: Error | null = null

  /** The reply of an aggregate whose first batch is empty. */
  constructor({ shard, receiver, body }: OpenedStream) {
    const { id, ns, cursor } = readCursorReply(body, 'firstBatch')
    this.shard = shard
    this.#receiver = receiver
    this.#ns = ns
    this.#id = id
    this.promiseToken = new Uint8Array(findField(cursor.bytes, 'postBatchResumeToken', cursor.start)!.slice())
    this.promise = tokenText(this.promiseToken)
  }

  get head(): RemoteEvent | null {
    return this.#events[this.#taken] ?? null
  }

  take(): void {
    this.#taken++
  }

  /** @throws CommandError of the last getMore */
  check(): void {
    if (this.#failure !== null) throw this.#failure
  }

  /**
   * Asks for events unless it has some, or asks already.
   * @param changed called when the reply or its failure has arrived
   */
  ask(invocation: MongosInvocation, awaitMs: number, changed: () => void): void {
    if (this.#isAsking || this.head !== null || !this.#isOpen) return
    this.#isAsking = true
    this.#getMore(invocation, awaitMs).then(
      (body) => {
        this.#isAsking = false
        this.#isAdvancing = false
        this.#load(body)
        changed()
      },
      (error: unknown) => {
        this.#isOpen = false
        this.#failure = error as Error
        changed()
      },
    )
  }

  async #getMore({ host, operation, session }: MongosInvocation, awaitMs: number): Promise<Uint8Array> {
    const [db] = this.#ns.split('.', 1)
    const writer = new DocumentWriter(192)
      .int64('getMore', this.#id)
      .string('collection', this.#ns.slice(db!.length + 1))
      .int32('maxTimeMS', Math.max(1, Math.ceil(awaitMs)))
    if (session !== null) writer.document('lsid', session.document)
    const command = unversioned(db!, writer.string('$db', db!).finish())
    const { body } = await host.remote.command(this.#receiver, command, operation, false, true)
    const error = replyError(body)
    if (error !== null) throw error
    return body
  }

  #load(body: Uint8Array): void {
    const { id, batch, cursor } = readCursorReply(body, 'nextBatch')
    // Copied: the bytes belong to the packet of the message.
    this.#events = documentsOf(batch).map((document) => {
      const copy = new Uint8Array(document)
      const token = findField(copy, '_id')!
      return { hex: tokenText(token.bytes, token.start), document: copy }
    })
    this.#taken = 0
    if (id === 0n) this.#isOpen = false
    this.promiseToken = new Uint8Array(findField(cursor.bytes, 'postBatchResumeToken', cursor.start)!.slice())
    this.promise = tokenText(this.promiseToken)
  }

  /** Lets an idle shard promise more than this time. */
  advance(host: RoutingHost, clusterTime: TimestampPair): void {
    if (!this.#isAsking || this.#isAdvancing) return
    this.#isAdvancing = true
    host.context.send(this.#receiver, 'node.advance-stream', { cursorId: String(this.#id), clusterTime })
    if (this.#receiver !== this.shard)
      host.context.send(this.shard, 'node.advance-stream', { cursorId: null, clusterTime })
  }

  kill(host: RoutingHost): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const [db] = this.#ns.split('.', 1)
    host.context.send(this.#receiver, 'node.command', killCursor(db!, this.#ns, this.#id, host.clock.time))
  }
}
