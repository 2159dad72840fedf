/**
 * The collections of clients in the database `local` of a member of a set. They are not replicated,
 * and clients write to them in every state of the member, also before the set is initiated. A
 * standalone mongod in the same process holds them. Server: replication_coordinator_impl.cpp,
 * canAcceptWritesForDatabase.
 */
import type { MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import { BsonType, DocumentWriter, FieldIterator, findField, firstFieldName } from '@shardlab/bson'
import {
  openTcpGateway,
  type GatewayOpener,
  type GatewayTarget,
  type InlineRuntime,
  type MemberSpec,
} from '@shardlab/runtime'

const commands: ReadonlySet<string> = new Set([
  ...['aggregate', 'collStats', 'count', 'create', 'createIndexes', 'delete', 'distinct', 'drop', 'dropIndexes'],
  ...['find', 'findAndModify', 'findandmodify', 'getMore', 'insert', 'killCursors', 'listIndexes', 'update'],
])
/** The member has these itself. */
const ofMember = /^(oplog\.|system\.|replset\.)/
/** Without meaning for data that is not replicated, and refused by a standalone mongod. */
const dropped: ReadonlySet<string> = new Set(['lsid', 'txnNumber', 'stmtId', 'stmtIds', '$clusterTime'])

export class LocalDatabase {
  readonly #spec: MemberSpec
  readonly #runtime: () => InlineRuntime
  #started: Promise<unknown> | null = null

  /** @param spec of the standalone mongod, which starts with the first command, if not before */
  constructor(spec: MemberSpec, runtime: () => InlineRuntime) {
    this.#spec = spec
    this.#runtime = runtime
  }

  /** The listener of the member: it sends commands on such collections to the standalone mongod. */
  readonly openGateway: GatewayOpener = (request) =>
    openTcpGateway({ ...request, target: { request: (kind, message) => this.#route(request.target, kind, message) } })

  async start(): Promise<void> {
    await (this.#started ??= this.#runtime().start([this.#spec]))
  }

  #route<K extends MessageKind>(
    member: GatewayTarget,
    kind: K,
    message: RequestOf<K>,
  ): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (kind === 'client.command' && isLocal((message as RequestOf<'client.command'>).body))
      return this.#serve(kind, message)
    if (kind === 'client.disconnected' && this.#started !== null) void this.#serve(kind, message).catch(() => {})
    return member.request(kind, message)
  }

  async #serve<K extends MessageKind>(kind: K, message: RequestOf<K>): Promise<ReplyOf<K>> {
    await this.start()
    const { body } = message as Partial<RequestOf<'client.command'>>
    const given = body === undefined ? message : Object.assign({}, message, { body: withoutSession(body) })
    return this.#runtime().request(this.#spec.address, kind, given)
  }
}

function isLocal(body: Uint8Array): boolean {
  const name = firstFieldName(body)
  if (name === undefined || !commands.has(name)) return false
  const db = findField(body, '$db')
  if (db?.type !== BsonType.string || db.asString() !== 'local') return false
  const target = findField(body, name === 'getMore' ? 'collection' : name)
  return target?.type === BsonType.string && !ofMember.test(target.asString())
}

function withoutSession(body: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();) if (!dropped.has(it.name())) writer.value(it.name(), it.value())
  return writer.finish()
}
