/**
 * Runs a batch of writes over its collections and shards, in rounds, until each statement is done
 * or has failed. Server: batch_write_exec.cpp, batch_write_op.cpp, bulk_write_exec.cpp.
 *
 * A statement stays ready while it has to be routed again: its shard reported stale routing, or it
 * was not tried. A shard that rejects a statement as stale runs no later statement of the batch.
 */
import { CommandError, ErrorCodes, type DocumentWriter } from '@shardlab/bson'
import { withContext, writeEvaluation } from '@shardlab/member'
import type { EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { commandErrorFrom, isStaleCode } from '../../remote/command-reply.js'
import type { RouterTransaction } from '../../transactions/router-transaction.js'
import { resolveRoute, soleMember, type Route } from '../../routing/route.js'
import type { MemberAnswer } from '../../routing/scatter.js'
import { noteStale } from '../../routing/stale-loop.js'
import { countRouted, isRoutingWatched, emitRouted } from '../../statistics/routed.js'
import { BulkWriteOutcome } from '../replies/bulk-write-outcome.js'
import { CollectionWrites } from './collection-writes.js'
import { writeFirstMatch } from '../single-document/first-match.js'
import { isOwnershipChange } from '../single-document/ownership-change.js'
import { batchForMember, planRound, type LoneStatement, type Round, type ShardBatch } from './plan-round.js'
import { batchError, ShardRequests, type StatementAnswer } from './shard-requests.js'
import { codeIn, indexIn, readShardWriteReply, withIndex } from '../replies/shard-write-reply.js'
import { StatementStates } from './statement-states.js'
import type { WriteCommand } from '../write-command.js'
import type { WriteBatch } from './write-batch.js'
import { BatchOutcome, type WriteOutcome } from '../replies/write-outcome.js'

export class BatchWriteExecutor implements WriteBatch {
  readonly invocation: MongosInvocation
  readonly command: WriteCommand
  readonly evaluation: EvaluationContext
  readonly shards: ShardRequests
  readonly #states: StatementStates
  readonly #outcome: WriteOutcome
  readonly #collections: readonly CollectionWrites[]
  #stalled = false
  /** The newest error of a statement. Null: no statement has failed. */
  #failure: Uint8Array | null = null

  /** @throws CommandError for an invalid `let` */
  constructor(invocation: MongosInvocation, command: WriteCommand) {
    this.invocation = invocation
    this.command = command
    this.evaluation = writeEvaluation(invocation.host, invocation.args)
    const { name, ordered, statements, namespaces } = command
    this.shards = new ShardRequests(invocation, command)
    this.#states = new StatementStates(statements.length)
    const { behaviours } = invocation.host
    this.#outcome =
      name === 'bulkWrite'
        ? new BulkWriteOutcome(invocation, command)
        : new BatchOutcome(name, ordered, statements.length, behaviours)
    this.#collections = namespaces.map(
      (_, position) =>
        new CollectionWrites(this, this.#states, position, (index, error) =>
          this.#fail(index, command.errorEntry(index, error)),
        ),
    )
  }

  /**
   * @returns the fields of the reply, with the errors of statements
   * @throws CommandError 50 when maxTimeMS is over; those of routing a batch on a single collection
   *   the first time
   */
  async run(): Promise<DocumentWriter> {
    const { invocation } = this
    for (let rounds = 1, fruitless = 0; !this.#finished; rounds++) {
      const before = this.#states.settled
      const changed = await this.#findCollections(rounds === 1)
      if (this.#finished) break
      fruitless = rounds > 1 && this.#stalled && !changed ? fruitless + 1 : 0
      const { fruitlessRoundsMax } = invocation.host.limits
      if (fruitless > fruitlessRoundsMax) {
        invocation.host.limitReached('fruitlessRoundsMax', fruitlessRoundsMax)
        const message = `no progress was made executing batch write op in ${this.#readyNs} after ${fruitlessRoundsMax} rounds (${this.#states.settled} ops completed in ${rounds - 1} rounds total)`
        this.#failReady(() => true, new CommandError('NoProgressMade', message))
        break
      }
      await this.#roundInTransaction(invocation.operation.transaction)
      this.#stalled = this.#states.settled === before
    }
    if (!this.mustRunInTransaction) this.#note()
    return this.#outcome.write()
  }

  #note(): void {
    const { invocation } = this
    const isWatched = isRoutingWatched(invocation)
    for (const { ns, route, summary } of this.#collections) {
      if (route === null) continue
      countRouted(invocation, summary.counted, route)
      if (isWatched) emitRouted(invocation, summary.finish(ns, route))
    }
  }

  /** A statement has failed. */
  get failed(): boolean {
    return this.#outcome.failed
  }

  /**
   * Whether its only statement changed nothing, because it gives a document a shard key value of
   * another shard.
   */
  get mustRunInTransaction(): boolean {
    return this.#failure !== null && isOwnershipChange(codeIn(this.#failure))
  }

  /** @throws CommandError the newest failure of a statement */
  throwFailure(): void {
    if (this.#failure !== null) throw commandErrorFrom(this.#failure)
  }

  /** @returns the reply when the only statement has failed with this error */
  replyWith(error: CommandError): DocumentWriter {
    this.#fail(0, this.command.errorEntry(0, error))
    return this.#outcome.write()
  }

  get #finished(): boolean {
    return this.#states.settled === this.#states.count || (this.command.ordered && this.#outcome.failed)
  }

  get #readyNs(): string {
    return this.command.namespaces[this.command.namespaceOf(this.#states.firstReady)]!.ns
  }

  /** In an ordered batch, only the collection of the first ready statement. */
  #concerned(): CollectionWrites[] {
    const { command } = this
    const first = this.#states.firstReady
    if (first === this.#states.count) return []
    if (command.ordered || command.namespaces.length === 1) return [this.#collections[command.namespaceOf(first)]!]
    const positions = new Set<number>()
    for (let index = first; index < this.#states.count; index++)
      if (this.#states.isReady(index)) positions.add(command.namespaceOf(index))
    return [...positions].map((position) => this.#collections[position]!)
  }

  /** @returns whether a route differs from the last round's */
  async #findCollections(isFirstRound: boolean): Promise<boolean> {
    let changed = false
    for (const collection of this.#concerned()) {
      try {
        const route = await resolveRoute(collection.invocation, collection.ns, true)
        if (!sameRoute(collection.route, route)) changed = true
        collection.route = route
      } catch (error) {
        if (!(error instanceof CommandError) || error.code === ErrorCodes.MaxTimeMSExpired) throw error
        if (isFirstRound && this.command.namespaces.length === 1) throw this.#withoutRoute(collection.ns, error)
        // Its client runs all of a transaction again.
        if (this.invocation.operation.transaction !== null) throw error
        // Some statements may be done, so the others fail, not the command.
        this.#failReady((index) => this.command.namespaceOf(index) === collection.position, error)
      }
    }
    return changed
  }

  #withoutRoute(ns: string, error: CommandError): unknown {
    return this.invocation.host.behaviours.writeErrorsNameTargeter
      ? withContext(error, `unable to initialize targeter for write op for collection ${ns}`)
      : error
  }

  /**
   * A stale route aborts all that a transaction has done, also statements of this batch.
   * @throws CommandError the stale error, if statements are done
   */
  async #roundInTransaction(transaction: RouterTransaction | null): Promise<void> {
    const earlier = transaction?.restartCause ?? null
    await this.#round()
    const cause = transaction?.restartCause ?? null
    if (cause !== null && cause !== earlier && this.#states.settled > 0) throw cause
  }

  async #round(): Promise<void> {
    const { host, operation } = this.invocation
    const round: Round = { batches: [], lone: [] }
    for (const collection of this.#concerned()) {
      const route = collection.route!
      if (route.kind === 'missing') throw new Error('a write was routed without a database')
      if (route.kind !== 'sharded') {
        const batch = batchForMember(collection.plan, route, soleMember(route))
        if (batch !== null) round.batches.push(batch)
        continue
      }
      collection.targeter.use(route.placement, this.command.name === 'insert' ? [] : await host.shards.ids(operation))
      if (planRound(collection.plan, route, round)) continue
      host.catalog.markCollectionStale(collection.ns, route.placement)
      collection.refreshedForTargeting = true
      return
    }
    const { batches, lone } = round
    if (batches.some(({ route }) => route.kind === 'sharded') || lone.length > 0) {
      const { ns } = (batches[0]?.namespace ?? this.command.namespaces[this.command.namespaceOf(lone[0]!.index)])!
      await host.reach('mongos.write.targeted', { ns, shards: batches.map((batch) => batch.shard) })
    }
    if (!(await this.#sendBatches(batches))) return
    for (const statement of lone) {
      if (!(await this.#runLone(statement)) || this.#finished) return
    }
  }

  /** @returns whether no shard reported stale routing */
  async #sendBatches(batches: readonly ShardBatch[]): Promise<boolean> {
    if (batches.length === 1) return this.#takeAnswer(batches[0]!, await this.shards.sendBatch(batches[0]!))
    const answers = await this.invocation.host.context.all(batches.map((batch) => this.shards.sendBatch(batch)))
    let fresh = true
    answers.forEach((answer, i) => {
      if (!this.#takeAnswer(batches[i]!, answer)) fresh = false
    })
    return fresh
  }

  /** @returns false: the shard reported stale routing */
  #takeAnswer({ namespace, route, shard, indexes }: ShardBatch, answer: MemberAnswer): boolean {
    const { command } = this
    const error = batchError(namespace, route, answer)
    if (error === 'stale') return false
    if (error !== null) {
      // In an ordered batch only the first statement counts as tried.
      for (const index of command.ordered ? indexes.slice(0, 1) : indexes)
        this.#fail(index, command.errorEntry(index, error))
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
    const triedUntil = command.ordered ? Math.min(staleFrom, firstFailed) : staleFrom
    let succeeded = 0
    for (let position = 0; position < triedUntil; position++) {
      const index = indexes[position]!
      if (!this.#states.isReady(index)) continue
      this.#states.complete(index)
      succeeded++
    }
    if (command.name === 'insert' && reply.n !== undefined && reply.n !== succeeded) {
      throw new Error(`${answer.member} reports ${reply.n} inserted documents, but ${succeeded} without an error`)
    }
    this.#outcome.add(shard, reply, indexes)
    if (stale === null) return true
    noteStale(namespace.invocation, namespace.ns, route, stale)
    return false
  }

  /** @returns false: the statement has to be routed again */
  async #runLone(lone: LoneStatement): Promise<boolean> {
    const { index, target } = lone
    const { summary } = this.#collections[this.command.namespaceOf(index)]!
    const inTransaction = this.invocation.operation.transaction !== null
    const shards = inTransaction && target.kind === 'all' ? target.owners : target.shards
    summary.add(this.command.kindOf(index), shards, target)
    if (target.kind === 'first-match') {
      const result = await writeFirstMatch(this, lone.route, index, target)
      if (result === 'stale') return false
      this.#settle(index, result)
      return true
    }
    const statement = this.command.statements[index]!
    const answers = await this.invocation.host.context.all(
      shards.map((shard) => this.shards.sendStatement(lone.route, index, shard, statement, true)),
    )
    const matched = answers.some((answer) => answer.kind === 'done' && (answer.reply.n ?? 0) > 0)
    const refused = answers.some((answer) => answer.kind === 'failed')
    // A statement that matched is done, even if other shards reported stale routing. A transaction
    // aborts what it has done.
    const isFinal = !inTransaction && (matched || refused)
    if (!isFinal && answers.some((answer) => answer.kind === 'stale')) return false
    this.#settle(index, answers)
    return true
  }

  #settle(index: number, answers: readonly StatementAnswer[]): void {
    if (answers.length === 0) this.#outcome.addNothing(index)
    for (const answer of answers) {
      if (answer.kind === 'done') this.#outcome.add(answer.shard, answer.reply, [index])
      else if (answer.kind === 'failed') this.#fail(index, answer.entry)
    }
    if (this.#states.isReady(index)) this.#states.complete(index)
  }

  #fail(index: number, entry: Uint8Array): void {
    this.#states.fail(index)
    this.#failure = entry
    this.#outcome.addError(index, entry)
  }

  /** In an ordered batch, fails only the first of these statements. */
  #failReady(concerns: (index: number) => boolean, error: CommandError): void {
    for (let index = 0; index < this.#states.count; index++) {
      if (!this.#states.isReady(index) || !concerns(index)) continue
      this.#fail(index, this.command.errorEntry(index, error))
      if (this.command.ordered) return
    }
  }
}

function sameRoute(a: Route | null, b: Route): boolean {
  if (a === null) return false
  if (a.kind === 'sharded') return b.kind === 'sharded' && a.placement === b.placement
  if (a.kind === 'unsharded') return b.kind === 'unsharded' && a.database === b.database && a.home === b.home
  return a.kind === b.kind
}
