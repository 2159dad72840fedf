/**
 * The sessions in which this router runs transactions for its clients. Server:
 * internal_session_pool.cpp, logical_session_id_helpers.cpp.
 */
import { uuidV4, type ActorContext } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { SessionCatalog, type SessionId } from '@shardlab/member'

export interface InternalSession {
  readonly session: SessionId
  /** Of the next transaction. */
  txnNumber: bigint
}

const idleMax = 1000

export class InternalSessions {
  readonly #context: ActorContext
  readonly #random: ActorContext['random']
  /** Without a client's session, for later use. */
  readonly #idle: InternalSession[] = []

  constructor(context: ActorContext) {
    this.#context = context
    this.#random = context.random.fork('internal-sessions')
  }

  /**
   * @param client null: the command has no session
   * @param txnNumber of the client's retryable write; null: it is not retryable
   */
  acquire(client: SessionId | null, txnNumber: bigint | null): InternalSession {
    if (client === null) return this.#idle.pop() ?? this.#create(new DocumentWriter(64).uuid('id', this.#newUuid()))
    const writer = new DocumentWriter(client.document.length + 64).fields(client.document)
    if (txnNumber !== null) writer.int64('txnNumber', txnNumber)
    return this.#create(writer.uuid('txnUUID', this.#newUuid()))
  }

  release(internal: InternalSession): void {
    if (internal.session.parent === undefined && this.#idle.length < idleMax) this.#idle.push(internal)
  }

  #create(lsid: DocumentWriter): InternalSession {
    return { session: SessionCatalog.parseAny(lsid.finish()), txnNumber: 0n }
  }

  /**
   * Begins with the time, because this router, restored from a snapshot of the cluster, draws the
   * same random numbers again.
   */
  #newUuid(): Uint8Array {
    const uuid = uuidV4(this.#random)
    Buffer.from(uuid.buffer, uuid.byteOffset).writeUIntBE(Math.floor(this.#context.now()), 0, 6)
    return uuid
  }
}
