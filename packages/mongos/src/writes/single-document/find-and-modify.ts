/** Server: cluster_find_and_modify_cmd.cpp, write_without_shard_key_util.cpp. */
import { CommandError, documentValue, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { countInReply, writeEvaluation, type FindAndModifyRequest, type ModifyStatement } from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours, Targeting } from '@shardlab/sharding'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { replyWriterFor } from '../../remote/command-reply.js'
import { routedCommand, soleMember, type Route, type ShardedRoute } from '../../routing/route.js'
import { ask } from '../../routing/scatter.js'
import { withRoute } from '../../routing/stale-loop.js'
import { noteRouted, routedBy, routedToPrimary } from '../../statistics/routed.js'
import { findFirst, matchesNothing, narrowedFilter } from './search-first.js'
import { targetStatement, type TargetedFilter } from '../targeting/target-modify.js'
import { moveDocument } from './move-document.js'
import { modifyConverted } from './run-converted.js'
import { isOwnershipChange, ownershipChange } from './ownership-change.js'
import { placeOfUpsert } from '../targeting/upsert-shard.js'
import type { WriteNamespace } from '../write-command.js'
import { concernErrorAt } from '../replies/write-concern-errors.js'
import { again, retryStale } from '../../routing/retry-stale.js'

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
async function send(
  invocation: MongosInvocation,
  route: Route,
  member: string,
  body: Uint8Array,
  ignoreVersion = false,
): Promise<Uint8Array> {
  const { operation, sequences, txnNumber } = invocation
  const command = routedCommand(invocation, route, member, body, sequences)
  const answer = await ask(
    invocation,
    member,
    ignoreVersion && operation.transaction === null ? { ...command, shardVersion: 'IGNORED' } : command,
    txnNumber !== null,
  )
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

/** A shard returns these errors if the command differs from the one in its history. */
const incompatibleWithHistory: ReadonlySet<number> = new Set([40606, 40608, 40609, 40611, 40612])

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
    const { host, body } = this.#invocation
    const { statement } = this.#request
    const earlier = await this.#executedEarlier()
    if (earlier !== null) return earlier
    const namespace = { ns: this.#ns, invocation: this.#invocation }
    let missed: DocumentWriter | null = null
    const modified = await retryStale<DocumentWriter | null>(
      host,
      async () => {
        const found = await findFirst(namespace, this.#route, shards, statement, this.#evaluation)
        if (found instanceof CommandError) throw found
        if (found === null) return null
        const reply = await this.#send(found.shard, this.#rewritten(narrowedFilter(statement.filter, found.id)))
        if (countInReply(reply) > 0) return answerOf(found.shard, reply)
        // A concurrent write changed the document so that it no longer matches: search again.
        missed = answerOf(found.shard, reply)
        return again
      },
      () => null,
    )
    if (modified !== null) return modified
    if (statement.kind === 'update' && statement.upsert) {
      const { shard, filter } = placeOfUpsert(this.#evaluation, this.#route.placement, statement)
      return answerOf(shard, await this.#send(shard, filter === null ? body : this.#rewritten(filter, true)))
    }
    return missed ?? nothingFound(statement.kind === 'update')
  }

  /**
   * A retryable command that a shard has already executed must not search again: it would find
   * another document. Null: no shard has executed it.
   */
  async #executedEarlier(): Promise<DocumentWriter | null> {
    const { host, operation, txnNumber, body } = this.#invocation
    if (txnNumber === null) return null
    const probe = this.#rewritten(matchesNothing)
    const shards = await host.shards.ids(operation)
    const executed = await host.context.all(shards.map((shard) => this.#hasExecuted(shard, probe)))
    const shard = shards[executed.indexOf(true)]
    return shard === undefined ? null : answerOf(shard, await send(this.#invocation, this.#route, shard, body, true))
  }

  async #hasExecuted(shard: string, probe: Uint8Array): Promise<boolean> {
    try {
      return findField(await send(this.#invocation, this.#route, shard, probe, true), 'retriedStmtId') !== undefined
    } catch (error) {
      // The probe inserts nothing, so the history of an upsert rejects it as another command.
      if (error instanceof CommandError && incompatibleWithHistory.has(error.code)) return true
      throw error
    }
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
