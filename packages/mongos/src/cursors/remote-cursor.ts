import { unversioned } from '@shardlab/actor'
import { CommandError, DocumentWriter, type RawValue } from '@shardlab/bson'
import { DocumentBatch, killCursor, mergedBatchBytesMax, withContext } from '@shardlab/member'
import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import { replyError } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'
import { isUnreachableError } from '../routing/scatter.js'
import { readCursorReply } from './cursor-reply.js'

export interface RemoteCursorOptions {
  readonly shard: string
  /** The member of the shard's set that has the cursor. */
  readonly receiver: string
  readonly db: string
  /** As in the shard's reply: getMore must repeat its collection. */
  readonly ns: string
  readonly id: bigint
}

export class RemoteCursor {
  readonly shard: string
  readonly receiver: string
  readonly db: string
  readonly ns: string
  /** 0n: exhausted. */
  id: bigint
  /** Whether the last request was not delivered or not answered. */
  unreachable = false

  constructor({ shard, receiver, db, ns, id }: RemoteCursorOptions) {
    this.shard = shard
    this.receiver = receiver
    this.db = db
    this.ns = ns
    this.id = id
  }

  /**
   * @param batchSize 0: as many as fit into a reply
   * @param awaitMs how long the shard waits for documents; undefined: not at all
   * @param batchBytesMax default 0: 16 MB
   * @returns the reply's body and its batch
   * @throws CommandError of the shard, with its host before the message as in
   *   async_results_merger.cpp, or of the request; the cursor is lost then
   */
  async getMore(
    invocation: MongosInvocation,
    batchSize: number,
    awaitMs?: number,
    batchBytesMax = 0,
  ): Promise<{ body: Uint8Array; batch: RawValue }> {
    const writer = new DocumentWriter(192)
      .int64('getMore', this.id)
      .string('collection', this.ns.slice(this.db.length + 1))
    if (batchSize > 0) writer.int64('batchSize', batchSize)
    if (awaitMs !== undefined) writer.int32('maxTimeMS', awaitMs)
    if (invocation.session !== null) writer.document('lsid', invocation.session.document)
    const command = unversioned(this.db, writer.string('$db', this.db).finish())
    const id = this.id
    this.id = 0n
    // Sent once: a getMore whose reply is lost has advanced the shard's cursor.
    const { body } = await this.#ask(invocation, command, batchBytesMax)
    const error = replyError(body)
    if (error !== null) throw this.#onShard(error, invocation)
    const reply = readCursorReply(body, 'nextBatch')
    this.id = reply.id === 0n ? 0n : id
    return { body, batch: reply.batch }
  }

  #onShard(error: CommandError, { host }: MongosInvocation): unknown {
    if (!host.behaviours.cursorErrorsNameShard) return error
    const name = this.receiver === this.shard ? host.shards.hostOf(this.shard) : host.hostOf(this.receiver)
    return withContext(error, `Error on remote shard ${name}`)
  }

  async #ask(
    { host, operation }: MongosInvocation,
    command: RemoteCommand,
    batchBytesMax: number,
  ): Promise<{ readonly body: Uint8Array }> {
    try {
      return await host.remote.command(this.receiver, command, operation, false, true, batchBytesMax)
    } catch (error) {
      this.unreachable = error instanceof CommandError && isUnreachableError(error)
      throw error
    }
  }

  /** Does not wait for the reply. */
  kill(host: RoutingHost): void {
    if (this.id === 0n) return
    const command = killCursor(this.db, this.ns, this.id, host.clock.time)
    this.id = 0n
    host.context.send(this.receiver, 'node.command', command)
  }
}

/** Has the documents of the last batch that were not taken yet. */
export class BufferedCursor extends DocumentBatch {
  readonly cursor: RemoteCursor

  constructor(cursor: RemoteCursor, batch: RawValue) {
    super()
    this.cursor = cursor
    this.load(batch)
  }

  get exhausted(): boolean {
    return this.head === null && this.cursor.id === 0n
  }

  async fill(invocation: MongosInvocation, batchSize: number): Promise<void> {
    this.load((await this.cursor.getMore(invocation, batchSize, undefined, mergedBatchBytesMax)).batch)
  }
}
