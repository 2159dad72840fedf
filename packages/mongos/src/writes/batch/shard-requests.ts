/** Server: batch_write_exec.cpp. */
import { CommandError, ErrorCodes } from '@shardlab/bson'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { commandErrorFrom, isStaleCode } from '../../remote/command-reply.js'
import type { RemoteCommand } from '../../remote/remote.js'
import { routedCommand, type Route, type ShardedRoute } from '../../routing/route.js'
import { ask, type MemberAnswer } from '../../routing/scatter.js'
import { noteStale } from '../../routing/stale-loop.js'
import type { ShardBatch } from './plan-round.js'
import { askAndMove, mayRequireMove } from '../single-document/move-document.js'
import { codeIn, readShardWriteReply, withIndex, type ShardWriteReply } from '../replies/shard-write-reply.js'
import { headerOf, type WriteCommand, type WriteNamespace } from '../write-command.js'

export type StatementAnswer =
  | { readonly kind: 'done'; readonly shard: string; readonly reply: ShardWriteReply }
  | { readonly kind: 'failed'; readonly entry: Uint8Array }
  | { readonly kind: 'stale' }

export class ShardRequests {
  readonly #invocation: MongosInvocation
  readonly #command: WriteCommand
  #header: Uint8Array | null = null

  constructor(invocation: MongosInvocation, command: WriteCommand) {
    this.#invocation = invocation
    this.#command = command
  }

  sendBatch({ namespace, route, shard, indexes }: ShardBatch): Promise<MemberAnswer> {
    const { body, sequences } = this.#invocation
    const { statements, untouched } = this.#command
    const whole = indexes.length === statements.length
    if (whole && untouched)
      return this.#ask(namespace, route, shard, routedCommand(this.#invocation, route, shard, body, sequences))
    const some = whole ? statements : indexes.map((index) => statements[index]!)
    return this.#ask(namespace, route, shard, this.#statementsCommand(route, shard, some, whole ? null : indexes))
  }

  /**
   * @param ignoreVersion outside of transactions: a part of the statement cannot be repeated
   * @throws CommandError 50 when maxTimeMS is over
   */
  async sendStatement(
    route: ShardedRoute,
    index: number,
    shard: string,
    statement: Uint8Array,
    ignoreVersion = false,
  ): Promise<StatementAnswer> {
    const command = this.#command
    const namespace = command.namespaces[command.namespaceOf(index)]!
    const versioned = this.#statementsCommand(route, shard, [statement], [index])
    const answer = await this.#ask(
      namespace,
      route,
      shard,
      ignoreVersion && this.#invocation.operation.transaction === null
        ? { ...versioned, shardVersion: 'IGNORED' }
        : versioned,
    )
    const error = batchError(namespace, route, answer)
    if (error === 'stale') return { kind: 'stale' }
    if (error !== null) return { kind: 'failed', entry: command.errorEntry(index, error) }
    const reply = readShardWriteReply(answer.body!)
    const entry = reply.writeErrors[0]
    if (entry === undefined) return { kind: 'done', shard, reply }
    if (!isStaleCode(codeIn(entry))) return { kind: 'failed', entry: withIndex(entry, index) }
    noteStale(namespace.invocation, namespace.ns, route, commandErrorFrom(entry))
    return { kind: 'stale' }
  }

  #statementsCommand(
    route: Route,
    shard: string,
    statements: readonly Uint8Array[],
    indexes: readonly number[] | null,
  ): RemoteCommand {
    const header = (this.#header ??= headerOf(this.#invocation))
    const stmtIds = this.#invocation.txnNumber === null ? null : indexes
    return { ...routedCommand(this.#invocation, route, shard, header, this.#command.sequencesFor(statements)), stmtIds }
  }

  #ask(namespace: WriteNamespace, route: Route, shard: string, command: RemoteCommand): Promise<MemberAnswer> {
    const invocation = this.#invocation
    const send = () => ask(invocation, shard, command, invocation.txnNumber !== null)
    return mayRequireMove(this.#command, namespace, route)
      ? askAndMove(this.#command, namespace, route, shard, send)
      : send()
  }
}

/**
 * 'stale': route the batch again; null: it did not fail as a whole.
 * @throws CommandError 50 when maxTimeMS is over
 */
export function batchError(
  { invocation, ns }: WriteNamespace,
  route: Route,
  answer: MemberAnswer,
): CommandError | 'stale' | null {
  const { error } = answer
  if (error === null) return null
  // The shard has aborted the transaction.
  if (invocation.operation.transaction !== null && !(answer.answered && isStaleCode(error.code))) throw error
  if (error.code === ErrorCodes.MaxTimeMSExpired) throw error
  if (answer.answered) {
    if (!isStaleCode(error.code)) return error
    noteStale(invocation, ns, route, error)
    return 'stale'
  }
  const where =
    error.code === ErrorCodes.FailedToSatisfyReadPreference
      ? `failing to target a host in the shard ${answer.member}`
      : invocation.host.hostOf(answer.member)
  return new CommandError(error.code, `Write results unavailable from ${where} :: caused by :: ${error.message}`)
}
