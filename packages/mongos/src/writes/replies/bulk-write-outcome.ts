/** Server: bulk_write_exec.cpp. */
import { DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import {
  bulkWriteBatchSize,
  bulkWriteNs,
  countOfFirstBatch,
  emptySummary,
  errorItem,
  resultItem,
  writeSummary,
  type BulkWriteResult,
} from '@shardlab/member'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { BulkWriteCursor } from './bulk-write-cursor.js'
import { indexIn, type ShardWriteReply } from './shard-write-reply.js'
import { SharedOutcome, StatementErrors, type WriteOutcome } from './write-outcome.js'
import type { WriteCommand } from '../write-command.js'

export class BulkWriteOutcome implements WriteOutcome {
  readonly #invocation: MongosInvocation
  readonly #command: WriteCommand
  readonly #errorsOnly: boolean
  readonly #summary = emptySummary()
  readonly #results = new Map<number, BulkWriteResult>()
  readonly #errors: StatementErrors
  readonly #shared: SharedOutcome

  constructor(invocation: MongosInvocation, command: WriteCommand) {
    this.#invocation = invocation
    this.#command = command
    this.#errorsOnly = invocation.args.bool('errorsOnly') === true
    this.#errors = new StatementErrors(invocation.host.behaviours, (index, error) =>
      errorItem(index, error, command.kindOf(index) === 'update', 0),
    )
    this.#shared = new SharedOutcome(invocation.host.behaviours)
  }

  get failed(): boolean {
    return this.#errors.size > 0
  }

  add(shard: string, reply: ShardWriteReply, indexes: readonly number[]): void {
    const { items, summary } = reply.bulk!
    for (const name of ['nInserted', 'nMatched', 'nModified', 'nUpserted', 'nDeleted'] as const)
      this.#summary[name] += summary[name]
    for (const item of items) {
      if (findField(item, 'ok')!.asNumber() === 1) this.#addResult(indexes[indexIn(item)]!, item)
    }
    this.#shared.add(shard, reply)
  }

  /** One result for each op, even if several shards replied. */
  #addResult(index: number, item: Uint8Array): void {
    const earlier = this.#results.get(index)
    const upserted = findField(item, 'upserted')
    const upsertedId = upserted === undefined ? undefined : findField(upserted.bytes, '_id', upserted.start)
    const result: BulkWriteResult = {
      n: numberIn(item, 'n') ?? 0,
      ...present('nModified', numberIn(item, 'nModified')),
      ...id(upsertedId),
    }
    this.#results.set(index, earlier === undefined ? result : sum(earlier, result))
  }

  addError(index: number, entry: Uint8Array): void {
    this.#errors.add(index, entry)
  }

  addNothing(index: number): void {
    this.#results.set(index, { n: 0, ...(this.#command.kindOf(index) === 'update' ? { nModified: 0 } : {}) })
  }

  write(): DocumentWriter {
    const { ordered, statements } = this.#command
    this.#summary.nErrors = this.#errors.size
    const writer = writeSummary(this.#writeItems(this.#items()), this.#summary)
    return this.#shared.write(writer, this.#errors.size === 0 || (!ordered && this.#errors.size < statements.length))
  }

  #items(): Uint8Array[] {
    const items: Uint8Array[] = []
    const errors = this.#errors.combined()
    const indexes = new Set([...errors.keys(), ...(this.#errorsOnly ? [] : this.#results.keys())])
    for (const index of [...indexes].sort((a, b) => a - b)) {
      const error = errors.get(index)
      const result = this.#results.get(index)
      items.push(
        error === undefined ? resultItem(index, result!) : result === undefined ? error : withCounts(error, result),
      )
    }
    return items
  }

  #writeItems(items: Uint8Array[]): DocumentWriter {
    const { host, operation, session } = this.#invocation
    const fit = countOfFirstBatch(items, bulkWriteBatchSize(this.#invocation))
    const writer = new DocumentWriter(512).startDocument('cursor')
    const cursor = new BulkWriteCursor(items.slice(fit))
    writer.int64('id', cursor.exhausted ? 0n : host.cursors.open({ cursor, session, operation, noTimeout: false }))
    return writer.documents('firstBatch', items.slice(0, fit)).string('ns', bulkWriteNs).end()
  }
}

function sum(a: BulkWriteResult, b: BulkWriteResult): BulkWriteResult {
  const upsertedId = a.upsertedId ?? b.upsertedId
  const nModified = a.nModified === undefined ? b.nModified : a.nModified + (b.nModified ?? 0)
  return { n: a.n + b.n, ...present('nModified', nModified), ...id(upsertedId ?? undefined) }
}

/** The counts are those of other shards for the same op. */
function withCounts(error: Uint8Array, { n, nModified }: BulkWriteResult): Uint8Array {
  const writer = new DocumentWriter(error.length + 16)
  for (const it = new FieldIterator(error); it.next();) {
    const name = it.name()
    if (name === 'n') writer.int32(name, n)
    else if (name === 'nModified') writer.int32(name, nModified ?? 0)
    else writer.value(name, it.value())
  }
  return writer.finish()
}

function numberIn(item: Uint8Array, name: string): number | undefined {
  return findField(item, name)?.asNumber()
}

function present<K extends string>(name: K, value: number | undefined): { [P in K]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]?: number })
}

function id(upsertedId: RawValue | undefined): { upsertedId?: RawValue } {
  return upsertedId === undefined ? {} : { upsertedId }
}
