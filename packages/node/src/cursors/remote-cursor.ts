/** Server: async_results_merger.cpp. */
import { RequestFailedError, unversioned, type ActorContext, type NodeCommand, type NodeReply } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import {
  hasGenericComments,
  replyError,
  withContext,
  maxTimeExpired,
  type TimeLimit,
  DocumentBatch,
  mergedBatchBytesMax,
  killCursor,
  withComment,
  readCursorReply,
} from '@shardlab/member'
import type { FillingCommand } from './cursor-manager.js'
import type { NodeHost } from '../host/node-host.js'

export interface RemoteCursorOptions {
  /** Address; may be this member. */
  readonly member: string
  /** `host:port` of that member, for error texts. */
  readonly host: string
  readonly db: string
  /** Namespace as the other member reported it: getMore must repeat its collection. */
  readonly ns: string
  readonly id: bigint
}

export class RemoteCursor extends DocumentBatch {
  readonly #node: NodeHost
  readonly #options: RemoteCursorOptions
  /** 0n: the cursor is exhausted, failed or closed, or a getMore is in progress. */
  #id: bigint
  #closed = false

  constructor(node: NodeHost, options: RemoteCursorOptions) {
    super()
    this.#node = node
    this.#options = options
    this.#id = options.id
  }

  get exhausted(): boolean {
    return this.head === null && this.#id === 0n
  }

  /**
   * Requests the next batch, without retry: a getMore whose reply was lost has already advanced the
   * cursor.
   * @throws CommandError of the other member, 6 HostUnreachable, 50 MaxTimeMSExpired
   */
  async fill(filling: FillingCommand, context: ActorContext, timeLimit: TimeLimit | null): Promise<void> {
    const { operation, session, transaction } = filling
    const { db, ns } = this.#options
    const id = this.#id
    const writer = new DocumentWriter(192).int64('getMore', id).string('collection', ns.slice(db.length + 1))
    if (session !== null) writer.document('lsid', session.document)
    if (transaction !== undefined) writer.int64('txnNumber', transaction.txnNumber).bool('autocommit', false)
    const comment = hasGenericComments(this.#node.behaviours.language) ? operation.comment : null
    const command = withComment(writer.string('$db', db).finish(), comment)
    this.#id = 0n
    const { body } = await this.#ask(command, filling, context, timeLimit)
    const error = replyError(body)
    if (error !== null) throw this.#named(error)
    // Copied: the message's buffer is reused.
    const reply = readCursorReply(new Uint8Array(body), 'nextBatch')
    if (reply.id !== 0n) this.#id = id
    if (this.#closed) this.#kill()
    else this.load(reply.batch)
  }

  /** Does not await the reply. */
  close(): void {
    this.#closed = true
    this.#kill()
  }

  #kill(): void {
    if (this.#id === 0n) return
    const { db, ns, member, id } = this.#options
    this.#id = 0n
    if (this.#isHere) this.#node.cursors.close(id)
    else this.#node.reads.context.send(member, 'node.command', killCursor(db, ns, id, this.#node.clock.time))
  }

  /** A member of a set goes by the name of the set, too. */
  get #isHere(): boolean {
    const { address, endpoint } = this.#node.context
    const { member, host } = this.#options
    return member === address || host === endpoint
  }

  async #ask(
    body: Uint8Array,
    { operation, transaction }: FillingCommand,
    context: ActorContext,
    timeLimit: TimeLimit | null,
  ): Promise<NodeReply> {
    const { clock, transactions } = this.#node
    const command: NodeCommand = {
      ...unversioned(this.#options.db, body),
      clusterTime: clock.time,
      operationKey: operation.requesterKey,
      batchBytesMax: mergedBatchBytesMax,
    }
    if (this.#isHere)
      return transaction === undefined
        ? this.#node.reads.node.nodeCommand(command)
        : transactions.checkout.whileYielded(context, transaction, async () => this.#node.nodeCommand(command))
    const timeoutMs = timeLimit?.leftMs
    if (timeoutMs !== undefined && timeoutMs <= 0) throw maxTimeExpired()
    try {
      const reply = await context.request(
        this.#options.member,
        'node.command',
        command,
        timeoutMs === undefined ? { pinned: true } : { timeoutMs, pinned: true },
      )
      clock.advance(reply.clusterTime)
      return reply
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      if (error.reason === 'timed-out') throw maxTimeExpired()
      throw this.#named(
        new CommandError(
          'HostUnreachable',
          `network error while attempting to run command 'getMore' on host '${this.#options.host}'`,
        ),
      )
    }
  }

  #named(error: CommandError): unknown {
    return this.#node.behaviours.cursorErrorsNameShard
      ? withContext(error, `Error on remote shard ${this.#options.host}`)
      : error
  }
}
