/** Server: cluster_find_and_modify_cmd.cpp, write_without_shard_key_util.cpp. */
import { CommandError, documentValue, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { writeEvaluation, type FindAndModifyRequest, type ModifyStatement } from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours, Targeting } from '@shardlab/sharding'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { replyWriterFor } from '../../remote/command-reply.js'
import { routedCommand, soleMember, type Route, type ShardedRoute } from '../../routing/route.js'
import { ask } from '../../routing/scatter.js'
import { withRoute } from '../../routing/stale-loop.js'
import { noteRouted, routedBy, routedToPrimary } from '../../statistics/routed.js'
import { runInternally } from '../../transactions/internal-transaction.js'
import { findFirst, narrowedFilter } from './search-first.js'
import { targetStatement, type TargetedFilter } from '../targeting/target-modify.js'
import { moveDocument } from './move-document.js'
import { modifyConverted } from './run-converted.js'
import { isOwnershipChange, ownershipChange } from './ownership-change.js'
import { placeOfUpsert } from '../targeting/upsert-shard.js'
import type { WriteNamespace } from '../write-command.js'
import { concernErrorAt } from '../replies/write-concern-errors.js'

/**
 * @returns the fields of the reply
 * @throws CommandError 61 ShardKeyNotFound in versions that require the shard key; those of shards
 *   and the requests to them
 */
export async function runFindAndModify(
  invocation: MongosInvocation,
  ns: string,
  request: FindAndModifyRequest,
): Promise<DocumentWriter> {
  try {
    return await modify(invocation, ns, request)
  } catch (error) {
    const mustMove = error instanceof CommandError && isOwnershipChange(error.code)
    if (!mustMove || invocation.operation.transaction !== null) throw error
    return modifyConverted(invocation, ns, (inside) => modify(inside, ns, request))
  }
}

function modify(invocation: MongosInvocation, ns: string, request: FindAndModifyRequest): Promise<DocumentWriter> {
  const evaluation = writeEvaluation(invocation.host, invocation.args)
  return withRoute(invocation, ns, true, async (route) => {
    if (route.kind === 'missing') throw new Error('a write was routed without a database')
    if (route.kind === 'sharded') return new ShardedFindAndModify(invocation, ns, request, evaluation, route).run()
    const member = soleMember(route)
    noteRouted(invocation, [], routedToPrimary(ns, route, member))
    return answerOf(member, await send(invocation, route, member, invocation.body))
  })
}

/**
 * As on the server, the projection is not applied then.
 * @throws CommandError of the move
 */
async function moveAndAnswer(
  namespace: WriteNamespace,
  route: ShardedRoute,
  member: string,
  error: CommandError,
  wantsNew: boolean,
): Promise<Uint8Array> {
  const change = ownershipChange(error.extra!)
  const failure = await moveDocument(namespace, route, member, change, 'findAndModify')
  if (failure !== null) throw failure
  const { before, after } = change
  const writer = new DocumentWriter(after.length + 256)
    .startDocument('lastErrorObject')
    .int32('n', 1)
    .bool('updatedExisting', before !== null)
  if (before === null) writer.value('upserted', findField(after, '_id')!)
  writer.end()
  const value = wantsNew ? after : before
  if (value === null) writer.null('value')
  else writer.document('value', value)
  return writer.double('ok', 1).finish()
}

/** @throws CommandError of the member or of the request to it */
async function send(invocation: MongosInvocation, route: Route, member: string, body: Uint8Array): Promise<Uint8Array> {
  const { sequences, txnNumber } = invocation
  const command = routedCommand(invocation, route, member, body, sequences)
  const answer = await ask(invocation, member, command, txnNumber !== null)
  if (answer.error !== null) throw answer.error
  return answer.body
}

function answerOf(member: string, body: Uint8Array): DocumentWriter {
  const writer = replyWriterFor(body)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'writeConcernError')
      writer.document(name, concernErrorAt({ shard: member, error: it.value().slice() }))
    else if (name !== 'ok') writer.value(name, it.value())
  }
  return writer
}

/** @throws CommandError 61 ShardKeyNotFound in versions that require the shard key */
export function checkFindAndModifyTarget(
  { updateOneWithoutShardKey, singleWritesTargetByQuery }: Behaviours,
  { exactKey, shards }: Pick<Targeting, 'exactKey' | 'shards'>,
): void {
  if (exactKey !== null || updateOneWithoutShardKey === 'any') return
  if (!singleWritesTargetByQuery)
    throw new CommandError('ShardKeyNotFound', 'Query for sharded findAndModify must contain the shard key')
  if (shards.length === 1) return
  throw new CommandError(
    'ShardKeyNotFound',
    `Query with sharded findAndModify expected to only target one shard, but the query targeted ${shards.length} shard(s)`,
  )
}

/**
 * Whether the command goes to one shard unchanged. Otherwise its document is searched for first.
 */
export function isTargeted(
  { updateOneWithoutShardKey }: Behaviours,
  { exactKey, shards }: Pick<Targeting, 'exactKey' | 'shards'>,
  statement: ModifyStatement,
): boolean {
  if (exactKey !== null) return true
  const upserts = statement.kind === 'update' && statement.upsert
  return shards.length === 1 && (!upserts || updateOneWithoutShardKey !== 'any')
}

class ShardedFindAndModify {
  readonly #invocation: MongosInvocation
  readonly #ns: string
  readonly #request: FindAndModifyRequest
  readonly #evaluation: EvaluationContext
  readonly #route: ShardedRoute

  constructor(
    invocation: MongosInvocation,
    ns: string,
    request: FindAndModifyRequest,
    evaluation: EvaluationContext,
    route: ShardedRoute,
  ) {
    this.#invocation = invocation
    this.#ns = ns
    this.#request = request
    this.#evaluation = evaluation
    this.#route = route
  }

  async run(): Promise<DocumentWriter> {
    const { placement } = this.#route
    const { host } = this.#invocation
    const { statement } = this.#request
    const target = targetStatement({ placement, evaluation: this.#evaluation }, statement)
    const { targeting } = target
    checkFindAndModifyTarget(host.behaviours, targeting)
    this.#note(target)
    if (isTargeted(host.behaviours, targeting, statement)) {
      const shard = targeting.shards[0]!
      await host.reach('mongos.write.targeted', { ns: this.#ns, shards: [shard] })
      return answerOf(shard, await this.#send(shard, this.#invocation.body))
    }
    return this.#searchAndModify(targeting.shards)
  }

  async #searchAndModify(shards: readonly string[]): Promise<DocumentWriter> {
    if (this.#invocation.operation.transaction !== null) return this.#searchInside(shards)
    const { result, concernError } = await runInternally(this.#invocation, {
      run: async (inside) => (await this.#in(inside).#searchInside(shards)).finish(),
      codeOf: () => null,
    })
    const writer = new DocumentWriter(result.length + 256).fields(result)
    return concernError === null ? writer : writer.document('writeConcernError', concernError)
  }

  #in(invocation: MongosInvocation): ShardedFindAndModify {
    return new ShardedFindAndModify(invocation, this.#ns, this.#request, this.#evaluation, this.#route)
  }

  async #searchInside(shards: readonly string[]): Promise<DocumentWriter> {
    const { body, txnNumber } = this.#invocation
    const { statement } = this.#request
    const namespace = { ns: this.#ns, invocation: this.#invocation }
    const stmtId = txnNumber === null ? null : 0
    const found = await findFirst(namespace, this.#route, shards, statement, this.#evaluation, stmtId)
    if (found instanceof CommandError) throw found
    if (found !== null) {
      const { shard, id } = found
      const command = id === null ? body : this.#rewritten(narrowedFilter(statement.filter, id))
      return answerOf(shard, await this.#send(shard, command))
    }
    if (statement.kind !== 'update' || !statement.upsert) return nothingFound(statement.kind === 'update')
    const { shard, filter } = placeOfUpsert(this.#evaluation, this.#route.placement, statement)
    return answerOf(shard, await this.#send(shard, filter === null ? body : this.#rewritten(filter, true)))
  }

  async #send(shard: string, body: Uint8Array): Promise<Uint8Array> {
    try {
      return await send(this.#invocation, this.#route, shard, body)
    } catch (error) {
      const { operation } = this.#invocation
      if (!(error instanceof CommandError) || !isOwnershipChange(error.code) || operation.transaction === null)
        throw error
      const namespace = { ns: this.#ns, invocation: this.#invocation }
      return moveAndAnswer(namespace, this.#route, shard, error, this.#request.wantsNew)
    }
  }

  /** Replaces the query. The command inserts nothing unless `upserts` is true. */
  #rewritten(filter: Uint8Array, upserts = false): Uint8Array {
    const { body } = this.#invocation
    const writer = new DocumentWriter(body.length + filter.length + 32)
    let named = false
    for (const it = new FieldIterator(body); it.next();) {
      const name = it.name()
      if (name === 'query') {
        writer.value('query', documentValue(filter))
        named = true
      } else if (name !== 'sort' && (upserts || name !== 'upsert')) writer.value(name, it.value())
    }
    if (!named) writer.document('query', filter)
    return writer.finish()
  }

  #note({ targeting }: TargetedFilter): void {
    noteRouted(this.#invocation, [], routedBy(this.#ns, this.#route, targeting))
  }
}

function nothingFound(isUpdate: boolean): DocumentWriter {
  const writer = new DocumentWriter(256).startDocument('lastErrorObject').int32('n', 0)
  if (isUpdate) writer.bool('updatedExisting', false)
  return writer.end().null('value')
}
