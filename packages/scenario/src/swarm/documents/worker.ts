/**
 * One client's documents in collections whose ranges move: every kind of read and write, with and
 * without the shard key.
 */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { scanViolations } from '../checkers/cursors.js'
import type { Code } from '../client/errors.js'
import {
  readTimeMs,
  transactionHistoryIncomplete,
  type AnsweredCommand,
  type SwarmClient,
} from '../client/swarm-client.js'
import { pick } from '../draw.js'
import { finding } from '../finding.js'
import type { Verdicts } from '../verdicts.js'
import { keysMax, type SwarmCollection } from './collections.js'
import { DocumentGroup } from './document-group.js'
import { Model, type Known } from './model.js'
import type { RetryHistoryLosses } from './retry-history.js'

export class DocumentsWorker {
  readonly number: number
  readonly #client: SwarmClient
  readonly #random: Random
  readonly #verdicts: Verdicts
  readonly #collections: readonly SwarmCollection[]
  readonly #keysChange: boolean
  /** The number of written documents then says little. */
  readonly #writesIncludeOrphans: boolean
  readonly #losses: Pick<RetryHistoryLosses, 'count'>
  readonly #ofSets: Random | null
  readonly #models = new Map<string, Model>()
  readonly #groups = new Map<string, DocumentGroup>()
  /**
   * May still be moving: readers can miss these documents while their old shard is down. Writes see
   * them.
   */
  readonly #unseen = new Set<number>()
  #nextId: number
  acknowledged = 0
  unknown = 0

  /** @param ofSets for what is only done with several members; null: sets have one */
  constructor(
    number: number,
    client: SwarmClient,
    random: Random,
    verdicts: Verdicts,
    collections: readonly SwarmCollection[],
    behaviours: Behaviours,
    losses: Pick<RetryHistoryLosses, 'count'>,
    ofSets: Random | null,
  ) {
    this.#losses = losses
    this.#ofSets = ofSets
    this.#keysChange = !behaviours.shardKeyValuesAreImmutable
    this.#writesIncludeOrphans = behaviours.writesIncludeOrphans
    this.number = number
    this.#client = client
    this.#random = random
    this.#verdicts = verdicts
    this.#collections = collections
    this.#nextId = number * 100_000
    for (const { name } of collections) {
      this.#models.set(name, new Model(name))
      this.#groups.set(name, new DocumentGroup(number, name))
    }
  }

  /** Called before any fault. */
  async prepare(): Promise<void> {
    for (const { name } of this.#collections) {
      const documents = this.#groups.get(name)!.documents(() => this.#fresh())
      await this.#client.retryably({ insert: name, documents, $db: 'app' }, [], ({ n }) => n as number)
      for (let i = 0; i < 3; i++) await this.#insert(name, this.#models.get(name)!)
    }
  }

  async step(): Promise<void> {
    const ns = this.#collections[this.#random.below(this.#collections.length)]!.name
    const model = this.#models.get(ns)!
    const known = model.known()
    const choice = known.length < 4 ? 0 : this.#random.below(20)
    const some = known[this.#random.below(Math.max(known.length, 1))]!
    if (choice >= 3 && this.#ofSets?.chance(1, 12) === true) return this.#incrementUnsafely(ns, model, some)
    if (choice < 3) return this.#insert(ns, model)
    if (choice < 5 || (choice > 5 && choice < 9 && !this.#keysChange)) return this.#increment(ns, model, some)
    if (choice === 5) return this.#incrementById(ns, model, some)
    if (choice < 9) return this.#changeKey(ns, model, some)
    if (choice === 9) return this.#upsert(ns, model)
    if (choice === 10) return this.#findAndModify(ns, model, some)
    if (choice === 11) return this.#delete(ns, model, some)
    if (choice === 12) return this.#deleteMany(ns, model, this.#random.shuffled(known).slice(0, 2))
    if (choice === 13) return this.#updateGroup(ns)
    if (choice < 16) return this.#readByKey(ns, model, some)
    if (choice < 19) return this.#scan(ns, model)
    return this.#count(ns, model)
  }

  knowledgeOf(ns: string): { readonly model: Model; readonly group: DocumentGroup } {
    return { model: this.#models.get(ns)!, group: this.#groups.get(ns)! }
  }

  #fresh(): Known & { owner: number } {
    return { _id: this.#nextId++, k: this.#random.below(keysMax), r: this.#random.below(5), n: 0, owner: this.number }
  }

  async #insert(ns: string, model: Model): Promise<void> {
    const documents = Array.from({ length: 1 + this.#random.below(4) }, () => this.#fresh())
    const command = { insert: ns, documents, ordered: this.#random.chance(1, 2), $db: 'app' }
    if (this.#random.chance(3, 4)) {
      const answer = await this.#retry(ns, model, command, [], documents)
      if (answer === null) return
      this.#must(
        answer.reply['n'] === documents.length,
        `insert of ${documents.length} into ${ns} said n: ${answer.reply['n']}`,
        ns,
        ...documents.map(({ _id }) => _id),
      )
      for (const document of documents) model.is(document)
      return
    }
    const answer = await this.#client.try(command, [], this.#retryMode(ns))
    for (const document of documents) {
      if (answer === null) model.mayBe(document._id, document)
      else model.is(document)
    }
    this.#note(answer)
  }

  async #increment(ns: string, model: Model, document: Known): Promise<void> {
    const updates = [{ q: keyOf(document), u: { $inc: { n: 1 } } }]
    const after = { ...document, n: document.n + 1 }
    if (this.#random.chance(1, 3)) {
      const answer = await this.#client.try({ update: ns, updates, $db: 'app' }, [], this.#retryMode(ns))
      if (answer === null) model.mayBe(document._id, after)
      else this.#updated(ns, model, answer.reply, after)
      return this.#note(answer)
    }
    const answer = await this.#retry(ns, model, { update: ns, updates, $db: 'app' }, [], [after])
    if (answer !== null) this.#updated(ns, model, answer.reply, after)
  }

  /** A write that only the primary has may be rolled back. */
  async #incrementUnsafely(ns: string, model: Model, document: Known): Promise<void> {
    const updates = [{ q: keyOf(document), u: { $inc: { n: 1 } } }]
    const command = { update: ns, updates, writeConcern: { w: 1 }, $db: 'app' }
    const answer = await this.#client.try(command, [], this.#retryMode(ns))
    model.mayBe(document._id, { ...document, n: document.n + 1 })
    this.#note(answer)
  }

  /** As on the server, a read without a limit waits for ever on a member that is too stale. */
  #preference(): Document {
    if (this.#ofSets?.chance(1, 3) !== true) return {}
    const mode = pick(this.#ofSets, ['secondary', 'secondaryPreferred', 'nearest'])
    return { $readPreference: { mode }, maxTimeMS: readTimeMs }
  }

  #updated(ns: string, model: Model, reply: Document, after: Known): void {
    this.#must(reply['n'] === 1, `an update of ${ns} ${after._id} by its key said n: ${reply['n']}`, ns, after._id)
    model.is(after)
  }

  /**
   * Without the shard key, shards without the document are asked too, and a moving document may be
   * on one after another.
   */
  async #incrementById(ns: string, model: Model, document: Known): Promise<void> {
    const updates = [{ q: { _id: document._id }, u: { $inc: { n: 1 } } }]
    const command = { update: ns, updates, $db: 'app' }
    const answer = await this.#retry(ns, model, command, [], [{ ...document, n: document.n + 1 }], false)
    if (answer === null) return
    const times = answer.reply['nModified'] as number
    // The retry history may have moved with a range, so two shards report one change
    // (SERVER-54019). Or the document moved while the command was under way, and the change is of
    // an orphan.
    if (times > 1 || (times > 0 && this.#writesIncludeOrphans))
      model.mayBe(document._id, { ...document, n: document.n + 1 }, { ...document, n: document.n + times })
    else model.is({ ...document, n: document.n + times })
  }

  async #changeKey(ns: string, model: Model, document: Known): Promise<void> {
    const k = this.#random.below(keysMax)
    if (k === document.k) return
    const after = { ...document, k, n: document.n + 1 }
    const choice = this.#random.below(3)
    const change = choice === 0 ? { ...after, owner: this.number } : { $set: { k }, $inc: { n: 1 } }
    const isNew = this.#random.chance(1, 2)
    const command =
      choice === 2
        ? { findAndModify: ns, query: keyOf(document), update: change, new: isNew, $db: 'app' }
        : { update: ns, updates: [{ q: keyOf(document), u: change }], $db: 'app' }
    const answer = await this.#retry(ns, model, command, finalCodesOfMoves, [after])
    // An orphan of a moved range occupies the target's place.
    if (answer === null || answer.code === duplicateKey) return
    if (answer.code === null) {
      const { reply } = answer
      const holds = choice === 2 ? reply['value']?.n === (isNew ? after.n : document.n) : reply['n'] === 1
      this.#must(
        holds,
        `a change of the key of ${ns} ${document._id} with n: ${document.n} gave ${JSON.stringify(reply)}`,
        ns,
        document._id,
      )
      model.is(after)
    } else model.mayBe(document._id, after)
    this.#unseen.add(document._id)
  }

  async #upsert(ns: string, model: Model): Promise<void> {
    const { owner, ...document } = this.#fresh()
    const updates = [{ q: keyOf(document), u: { $set: { owner }, $inc: { n: 1 } }, upsert: true }]
    const answer = await this.#retry(ns, model, { update: ns, updates, $db: 'app' }, [], [{ ...document, n: 1 }])
    if (answer === null) return
    this.#must(answer.reply['n'] === 1, `an upsert into ${ns} said n: ${answer.reply['n']}`, ns, document._id)
    model.is({ ...document, n: 1 })
  }

  async #findAndModify(ns: string, model: Model, document: Known): Promise<void> {
    const command = { findAndModify: ns, query: keyOf(document), update: { $inc: { n: 1 } }, new: true, $db: 'app' }
    const after = { ...document, n: document.n + 1 }
    const answer = await this.#retry(ns, model, command, [], [after])
    if (answer === null) return
    const { value } = answer.reply
    this.#must(
      value?.n === after.n,
      `findAndModify of ${ns} ${document._id} with n: ${document.n} gave ${JSON.stringify(value)}`,
      ns,
      document._id,
    )
    model.is(after)
  }

  async #delete(ns: string, model: Model, document: Known): Promise<void> {
    const deletes = [{ q: keyOf(document), limit: 1 }]
    if (this.#random.chance(1, 3)) {
      const answer = await this.#client.try({ delete: ns, deletes, $db: 'app' }, [], this.#retryMode(ns))
      if (answer === null) model.mayBe(document._id, null)
      else this.#deleted(ns, model, document, answer.reply['n'] as number)
      return this.#note(answer)
    }
    const answer = await this.#retry(ns, model, { delete: ns, deletes, $db: 'app' }, [], [document])
    if (answer !== null) this.#deleted(ns, model, document, answer.reply['n'] as number)
  }

  #deleted(ns: string, model: Model, { _id }: Known, n: number): void {
    this.#must(n === 1, `a delete of ${ns} ${_id} by its key said n: ${n}`, ns, _id)
    model.isGone(_id)
  }

  /** May miss a document that is moving. */
  async #deleteMany(ns: string, model: Model, documents: readonly Known[]): Promise<void> {
    const deletes = [{ q: { _id: { $in: documents.map(({ _id }) => _id) } }, limit: 0 }]
    const answer = await this.#client.try({ delete: ns, deletes, $db: 'app' }, [], this.#retryMode(ns))
    const n = answer?.reply['n'] as number | undefined
    this.#must(
      n === undefined || n <= documents.length || this.#writesIncludeOrphans,
      `a delete of ${documents.length} documents of ${ns} said n: ${n}`,
      ns,
      ...documents.map(({ _id }) => _id),
    )
    for (const { _id } of documents) {
      if (n === documents.length && !this.#writesIncludeOrphans) model.isGone(_id)
      else model.mayBe(_id, null)
    }
    this.#note(answer)
  }

  /**
   * May miss a moving document, or find it on both shards, which the reply counts: one of the two
   * may be an orphan.
   */
  async #updateGroup(ns: string): Promise<void> {
    const group = this.#groups.get(ns)!
    const answer = await this.#client.try(
      { update: ns, updates: [group.increment()], $db: 'app' },
      [],
      this.#retryMode(ns),
    )
    const times = answer === null ? null : (answer.reply['nModified'] as number)
    group.incremented(this.#writesIncludeOrphans ? 0 : (times ?? 0), times)
    this.#note(answer)
  }

  async #readByKey(ns: string, model: Model, { _id, k, n }: Known): Promise<void> {
    const found = await this.#client.documentsOf({ find: ns, filter: { k, _id }, ...this.#preference(), $db: 'app' })
    if (found === null || (found.length === 0 && this.#unseen.has(_id))) return
    this.#must(
      found.length === 1 && found[0]!['n'] === n,
      `${model.name} ${_id} with k: ${k} and n: ${n} was read as ${JSON.stringify(found)}`,
      ns,
      _id,
    )
  }

  async #scan(ns: string, model: Model): Promise<void> {
    const sorts = [{}, { sort: { k: 1 } }, { sort: { _id: -1 } }]
    const command = {
      find: ns,
      filter: { owner: this.number },
      batchSize: 2 + this.#random.below(5),
      ...sorts[this.#random.below(3)],
      ...this.#preference(),
      $db: 'app',
    }
    const found = await this.#client.documentsOf(command)
    if (found === null) return
    for (const { checker, ...wrong } of scanViolations(model, found, `scan of ${ns} by ${this.number}`, this.#unseen))
      this.#verdicts.violated(checker, wrong)
    for (const { _id } of found) this.#unseen.delete(_id as number)
  }

  async #count(ns: string, model: Model): Promise<void> {
    const pipeline = [{ $match: { owner: this.number } }, { $group: { _id: null, count: { $sum: 1 } } }]
    const found = await this.#client.documentsOf({
      aggregate: ns,
      pipeline,
      cursor: {},
      ...this.#preference(),
      $db: 'app',
    })
    if (found === null) return
    const count = (found[0]?.['count'] as number | undefined) ?? 0
    const most = model.known().length + model.uncertain
    const least = model.known().filter(({ _id }) => !this.#unseen.has(_id)).length
    if (count < least || count > most)
      this.#verdicts.violated(
        'orphans',
        finding(`${count} documents of ${this.number} in ${ns}, not ${least} to ${most}`, `app.${ns}`),
      )
  }

  /**
   * `repeats`: a repetition gets the same reply.
   * @returns null if the model has the outcome: if the retry history was lost between attempts, a
   * repetition by client or router may have executed the write again
   */
  async #retry(
    ns: string,
    model: Model,
    command: Document,
    settled: readonly Code[],
    becoming: readonly Known[],
    repeats = !this.#losesRetryHistory(ns),
  ): Promise<AnsweredCommand | null> {
    const losesRetryHistory = this.#losesRetryHistory(ns)
    const did = ({ n, value, lastErrorObject }: Document) =>
      (n ?? value?.n ?? lastErrorObject?.n ?? null) as number | null
    const before = this.#losses.count
    const answer = await this.#client.retryably(
      command,
      losesRetryHistory ? [...settled, duplicateKey] : settled,
      repeats ? did : null,
    )
    this.acknowledged++
    const losses = this.#losses.count - before
    if (!losesRetryHistory || losses === 0) return answer
    // A change of a key has this code, too, and was not done.
    const isDone = answer.code === null || (answer.code === duplicateKey && command['insert'] !== undefined)
    const isDelete = command['delete'] !== undefined
    for (const document of becoming) model.mayHaveRepeated(document, losses, isDone, isDelete)
    return null
  }

  /** Sends with a driver's retry, except where the retry history is lost. */
  #retryMode(ns: string): null | undefined {
    return this.#losesRetryHistory(ns) ? undefined : null
  }

  #losesRetryHistory(ns: string): boolean {
    return this.#collections.find(({ name }) => name === ns)!.losesRetryHistory
  }

  #must(holds: boolean, sentence: string, ns: string, ...ids: readonly number[]): void {
    if (!holds) this.#verdicts.violated('conservation', finding(sentence, `app.${ns}`, ...ids))
  }

  #note(answer: unknown): void {
    if (answer === null) this.unknown++
    else this.acknowledged++
  }
}

const duplicateKey = 11_000
/**
 * Of the transaction that moves a document: 24 LockTimeout, 112 WriteConflict, 246
 * SnapshotUnavailable, 251 NoSuchTransaction, 272 MigrationConflict, 290
 * TransactionExceededLifetimeLimitSeconds; 50911 when the transaction of an earlier attempt is
 * open, or was prepared; 117 from a router that has run an earlier attempt. The router does not run
 * it again.
 */
const failuresOfMoves = [24, 112, 117, 246, 251, 272, 290, 50_911]
/** After 217, a transaction has used the number: it may have moved the document, or aborted. */
const finalCodesOfMoves = [transactionHistoryIncomplete, duplicateKey, ...failuresOfMoves]

const keyOf = ({ _id, k, r }: Known) => ({ _id, k, r })
