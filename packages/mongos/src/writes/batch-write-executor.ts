/**
 * Runs a batch of writes over the shards it concerns, round by round until every statement is done or has failed.
 * Server: batch_write_exec.cpp, batch_write_op.cpp.
 *
 * A statement stays ready while it has to be routed again: when its shard found the routing stale, or when it did not
 * get its turn. A shard that refuses a statement as stale runs none of those after it in the same batch.
 */
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import { statementArguments } from '@shardlab/node'
import type { EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../command/invocation.js'
import { commandErrorFrom, isStaleCode } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'
import { resolveRoute, routedCommand, soleMember, type Route } from '../routing/route.js'
import { ask, type MemberAnswer } from '../routing/scatter.js'
import { noteStale } from '../routing/stale-loop.js'
import { noteRouted } from '../statistics/routed.js'
import { writeFirstMatch } from './first-match.js'
import { RoutedSummary } from './routed-summary.js'
import { batchForMember, planRound, type LoneTarget, type RoundPlan, type ShardBatch } from './plan-round.js'
import { StatementStates } from './statement-states.js'
import { StatementTargeter } from './statement-targeter.js'
import { headerOf, type WriteCommand } from './write-command.js'
import { codeIn, indexIn, readShardWriteReply, withIndex, WriteOutcome, writeErrorEntry, type ShardWriteReply } from './write-outcome.js'

/** What became of one statement on one shard. */
export type StatementAnswer =
  | { readonly kind: 'done'; readonly reply: ShardWriteReply }
  | { readonly kind: 'failed'; readonly entry: Uint8Array }
  | { readonly kind: 'stale' }

type ShardedRoute = Extract<Route, { kind: 'sharded' }>
export class BatchWriteExecutor {
  readonly invocation: MongosInvocation
  readonly command: WriteCommand
  readonly evaluation: EvaluationContext
  readonly #states: StatementStates
  readonly #outcome: WriteOutcome
  readonly #targeter: StatementTargeter
  readonly #summary: RoutedSummary
  readonly #plan: RoundPlan
  #header: Uint8Array | null = null
  /** Targeting errors count only with routing that is newer than the command. */
  #refreshedForTargeting = false

  constructor(invocation: MongosInvocation, command: WriteCommand) {
    this.invocation = invocation
    this.command = command
    this.evaluation = invocation.host.evaluation()
    this.#states = new StatementStates(command.statements.length)
    this.#outcome = new WriteOutcome(command.kind)
    this.#summary = new RoutedSummary(invocation)
    this.#targeter = new StatementTargeter(this)
    this.#plan = {
      command,
      states: this.#states,
      summary: this.#summary,
      batchBytesMax: invocation.host.limits.shardBatchBytesMax,
      targetOf: (index) => this.#targeter.target(index),
      onFailed: (index, error) => this.#noteUntargeted(index, error),
    }
  }

  /**
   * @returns the reply's fields; failures of statements are in it
   * @throws CommandError 50 when maxTimeMS is over, and what finding the collection the first time fails with
   */
  async run(): Promise<DocumentWriter> {
    const { invocation, command } = this
    const { host } = invocation
    let route = await resolveRoute(invocation, command.ns, true)
    for (let rounds = 1, fruitless = 0; !this.#finished; rounds++) {
      const before = this.#states.settled
      await this.#round(route)
      if (this.#finished) break
      const next = await this.#nextRoute()
      if (next === null) break
      const changed = !sameRoute(route, next)
      route = next
      fruitless = this.#states.settled === before && !changed ? fruitless + 1 : 0
      const { fruitlessRoundsMax } = host.limits
      if (fruitless > fruitlessRoundsMax) {
        host.limitReached('fruitlessRoundsMax', fruitlessRoundsMax)
        this.#failReady(
          new CommandError(
            'NoProgressMade',
            `no progress was made executing batch write op in ${command.ns} after ${fruitlessRoundsMax} rounds (${this.#states.settled} ops completed in ${rounds} rounds total)`,
          ),
        )
        break
      }
    }
    noteRouted(invocation, command.kind, this.#summary.finish(command.ns, route))
    return this.#outcome.write()
  }

  get #finished(): boolean {
    return this.#states.settled === this.#states.count || (this.command.ordered && this.#outcome.failed)
  }

  async #nextRoute(): Promise<Route | null> {
    try {
      return await resolveRoute(this.invocation, this.command.ns, true)
    } catch (error) {
      if (!(error instanceof CommandError) || error.code === 50) throw error
      // Some statements are done already: what is left fails, not the command.
      this.#failReady(error)
      return null
    }
  }

  async #round(route: Route): Promise<void> {
    const { command, invocation } = this
    const { host } = invocation
    if (route.kind !== 'sharded') {
      if (route.kind === 'missing') throw new Error('a write was routed without a database')
      await this.#sendBatches(route, [batchForMember(this.#plan, soleMember(route))])
      return
    }
    this.#targeter.use(route.placement, command.kind === 'insert' ? [] : await host.shards.ids(invocation.operation))
    const round = planRound(this.#plan)
    if (round === null) {
      host.catalog.markCollectionStale(command.ns, route.placement)
      this.#refreshedForTargeting = true
      return
    }
    await host.reach('mongos.write.targeted', { ns: command.ns, shards: round.batches.map((batch) => batch.shard) })
    if (!(await this.#sendBatches(route, round.batches))) return
    for (const { index, target } of round.lone) {
      if (!(await this.#runLone(route, index, target)) || this.#finished) return
    }
  }

  #noteUntargeted(index: number, error: CommandError): boolean {
    if (!this.#refreshedForTargeting) return false
    this.#fail(index, writeErrorEntry(index, error))
    return true
  }

  /** @returns whether no shard found the routing stale */
  async #sendBatches(route: Route, batches: readonly ShardBatch[]): Promise<boolean> {
    if (batches.length === 1) return this.#takeAnswer(route, batches[0]!, await this.#send(route, batches[0]!))
    const answers = await this.invocation.host.context.all(batches.map((batch) => this.#send(route, batch)))
    let fresh = true
    answers.forEach((answer, i) => {
      if (!this.#takeAnswer(route, batches[i]!, answer)) fresh = false
    })
    return fresh
  }

  #send(route: Route, { shard, indexes }: ShardBatch): Promise<MemberAnswer> {
    const { invocation, command } = this
    const whole = indexes.length === command.statements.length
    if (whole && command.untouched) return this.#ask(shard, routedCommand(invocation, route, shard, invocation.body, invocation.sequences))
    const statements = whole ? command.statements : indexes.map((index) => command.statements[index]!)
    return this.#ask(shard, this.#statementsCommand(route, shard, statements, whole ? null : indexes))
  }

  #statementsCommand(route: Route, shard: string, statements: readonly Uint8Array[], indexes: readonly number[] | null): RemoteCommand {
    const { invocation, command } = this
    const header = (this.#header ??= headerOf(invocation, command.kind))
    const stmtIds = invocation.txnNumber === null ? null : indexes
    return { ...routedCommand(invocation, route, shard, header, [[statementArguments[command.kind], statements]]), stmtIds }
  }

  #ask(shard: string, command: RemoteCommand): Promise<MemberAnswer> {
    return ask(this.invocation, shard, command, this.invocation.txnNumber !== null)
  }

  /** @returns false when the shard found the routing stale */
  #takeAnswer(route: Route, { indexes }: ShardBatch, answer: MemberAnswer): boolean {
    const error = this.#batchError(route, answer)
    if (error === 'stale') return false
    if (error !== null) {
      // Of an ordered batch only the first statement counts as tried.
      for (const index of this.command.ordered ? indexes.slice(0, 1) : indexes) this.#fail(index, writeErrorEntry(index, error))
      return true
    }
    const reply = readShardWriteReply(answer.body!)
    let staleFrom = indexes.length
    let stale: CommandError | null = null
    let firstFailed = indexes.length
    for (const entry of reply.writeErrors) {
      const position = indexIn(entry)
      if (isStaleCode(codeIn(entry))) {
        staleFrom = Math.min(staleFrom, position)
        stale ??= commandErrorFrom(entry)
      } else {
        firstFailed = Math.min(firstFailed, position)
        const index = indexes[position]!
        this.#fail(index, index === position ? entry : withIndex(entry, index))
      }
    }
    const triedUntil = this.command.ordered ? Math.min(staleFrom, firstFailed) : staleFrom
    let succeeded = 0
    for (let position = 0; position < triedUntil; position++) {
      const index = indexes[position]!
      if (!this.#states.isReady(index)) continue
      this.#states.complete(index)
      succeeded++
    }
    if (this.command.kind === 'insert' && reply.n !== undefined && reply.n !== succeeded) {
      throw new Error(`${answer.member} says that it inserted ${reply.n} documents where its errors leave ${succeeded}`)
    }
    this.#outcome.add(reply, indexes)
    if (stale === null) return true
    noteStale(this.invocation, this.command.ns, route, stale)
    return false
  }

  /** The error of a whole batch, if it failed as a whole. */
  #batchError(route: Route, answer: MemberAnswer): CommandError | 'stale' | null {
    const { error } = answer
    if (error === null) return null
    if (answer.answered) {
      if (!isStaleCode(error.code)) return error
      noteStale(this.invocation, this.command.ns, route, error)
      return 'stale'
    }
    if (error.code === 50) throw error
    const where = error.code === 133 ? `failing to target a host in the shard ${answer.member}` : this.invocation.host.hostOf(answer.member)
    return new CommandError(error.code, `Write results unavailable from ${where} :: caused by :: ${error.message}`)
  }

  /** @returns false when the statement has to be routed again */
  async #runLone(route: ShardedRoute, index: number, target: LoneTarget): Promise<boolean> {
    this.#summary.add(target.shards, target.chunks, target.bounds)
    if (target.kind === 'first-match') {
      const result = await writeFirstMatch(this, route, index, target)
      if (result === 'stale') return false
      this.#settle(index, result)
      return true
    }
    const statement = this.command.statements[index]!
    const answers = await this.invocation.host.context.all(
      target.shards.map((shard) => this.sendStatement(route, index, shard, statement, target.version === 'ignored')),
    )
    const matched = answers.some((answer) => answer.kind === 'done' && (answer.reply.n ?? 0) > 0)
    const refused = answers.some((answer) => answer.kind === 'failed')
    // Where the document was found the statement is done, whatever other shards think of the routing.
    if (!matched && !refused && answers.some((answer) => answer.kind === 'stale')) return false
    this.#settle(index, answers)
    return true
  }

  /** Sends one statement of the batch, or what stands for it, to one shard. */
  async sendStatement(
    route: ShardedRoute,
    index: number,
    shard: string,
    statement: Uint8Array,
    ignoreVersion = false,
  ): Promise<StatementAnswer> {
    const versioned = this.#statementsCommand(route, shard, [statement], [index])
    const answer = await this.#ask(shard, ignoreVersion ? { ...versioned, shardVersion: 'IGNORED' } : versioned)
    const error = this.#batchError(route, answer)
    if (error === 'stale') return { kind: 'stale' }
    if (error !== null) return { kind: 'failed', entry: writeErrorEntry(index, error) }
    const reply = readShardWriteReply(answer.body!)
    const entry = reply.writeErrors[0]
    if (entry === undefined) return { kind: 'done', reply }
    if (!isStaleCode(codeIn(entry))) return { kind: 'failed', entry: withIndex(entry, index) }
    noteStale(this.invocation, this.command.ns, route, commandErrorFrom(entry))
    return { kind: 'stale' }
  }

  /** Takes over what several shards made of one statement. */
  #settle(index: number, answers: readonly StatementAnswer[]): void {
    for (const answer of answers) {
      if (answer.kind === 'done') this.#outcome.add(answer.reply, [index])
      else if (answer.kind === 'failed') this.#fail(index, answer.entry)
    }
    if (this.#states.isReady(index)) this.#states.complete(index)
  }

  #fail(index: number, entry: Uint8Array): void {
    this.#states.fail(index)
    this.#outcome.addError(index, entry)
  }

  /** Gives up: the first ready statement of an ordered batch fails, all of an unordered one. */
  #failReady(error: CommandError): void {
    for (let index = 0; index < this.#states.count; index++) {
      if (!this.#states.isReady(index)) continue
      this.#fail(index, writeErrorEntry(index, error))
      if (this.command.ordered) return
    }
  }
}

function sameRoute(a: Route, b: Route): boolean {
  if (a.kind === 'sharded') return b.kind === 'sharded' && a.placement === b.placement
  if (a.kind === 'unsharded') return b.kind === 'unsharded' && a.database === b.database
  return a.kind === b.kind
}
