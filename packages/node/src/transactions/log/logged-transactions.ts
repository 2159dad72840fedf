/**
 * Transactions of which the log has entries but no outcome: parts of large ones, and prepared ones.
 * Server: transaction_oplog_application.cpp.
 */
import { createDeferred, timestampPair, type Deferred } from '@shardlab/actor'
import { documentsOf, DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import { SessionCatalog, type SessionKey } from '@shardlab/member'
import { opTimeOf, type LogEntry, type OpTime, type StorageEngine } from '@shardlab/storage'
import { operationsIn } from './operations.js'
import { RecentCommits } from './recent-commits.js'

export interface LoggedTransaction {
  readonly key: SessionKey
  readonly lsid: Uint8Array
  readonly txnNumber: bigint
  /** Documents `{ applyOps, … }`, oldest first. */
  readonly parts: readonly Uint8Array[]
  /** Null: not prepared. */
  readonly preparedAt: OpTime | null
}

const nothing: readonly Uint8Array[] = []

export class LoggedTransactions {
  /** Of several shards, for readers of past times. */
  readonly recent = new RecentCommits()
  readonly #open = new Map<SessionKey, LoggedTransaction>()
  /** Null: no read waits. */
  #ending: Deferred<void> | null = null

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  prepared(): LoggedTransaction[] {
    return [...this.#open.values()].filter(({ preparedAt }) => preparedAt !== null)
  }

  /** Resolves when some transaction has ended. */
  ending(): Promise<void> {
    this.#ending ??= createDeferred<void>()
    return this.#ending.promise
  }

  #ended(): void {
    this.#ending?.resolve()
    this.#ending = null
  }

  /**
   * Notes an entry of kind c.
   * @returns the parts whose operations take effect with it; null: it does not belong to a
   *   transaction
   */
  record(entry: LogEntry): readonly Uint8Array[] | null {
    const command = firstFieldName(entry.object)
    const { session } = entry
    if (session === null) return command === 'applyOps' ? [entry.object] : null
    const { key } = SessionCatalog.parseAny(session.lsid)
    if (command === 'abortTransaction') {
      this.#open.delete(key)
      this.#ended()
    } else if (command === 'commitTransaction') return this.#commit(entry, key)
    else if (command === 'applyOps') return this.#recordPart(entry, key)
    else return null
    return nothing
  }

  #recordPart(entry: LogEntry, key: SessionKey): readonly Uint8Array[] {
    const { lsid, txnNumber } = entry.session!
    const known = this.#open.get(key)
    const earlier = known?.txnNumber === txnNumber ? known.parts : nothing
    const isPrepare = isSet(entry.object, 'prepare')
    if (!isPrepare && !isSet(entry.object, 'partialTxn')) {
      this.#open.delete(key)
      return [...earlier, entry.object]
    }
    // Copied: a view would keep its whole message or log block alive.
    const parts = [...earlier, new Uint8Array(entry.object)]
    const preparedAt = isPrepare ? { ts: entry.ts, term: entry.term } : null
    this.#open.set(key, { key, lsid: new Uint8Array(lsid), txnNumber, parts, preparedAt })
    return nothing
  }

  #commit(entry: LogEntry, key: SessionKey): readonly Uint8Array[] {
    const taken = this.#open.get(key)
    if (taken === undefined) throw new Error('a log entry commits a transaction that is not prepared')
    this.#open.delete(key)
    const { ts, term, wallMs } = entry
    const commitTime = timestampPair(findField(entry.object, 'commitTimestamp')!)
    this.recent.add({ commitTime, entry: { ts, term, wallMs }, parts: taken.parts })
    this.#ended()
    return taken.parts
  }

  clear(): void {
    this.#open.clear()
    this.recent.clear()
    this.#ended()
  }

  adopt(other: LoggedTransactions): void {
    this.#open.clear()
    this.recent.adopt(other.recent)
    for (const [key, transaction] of other.#open) this.#open.set(key, transaction)
    this.#ended()
  }

  clone(): LoggedTransactions {
    const copy = new LoggedTransactions()
    copy.adopt(this)
    return copy
  }

  /** Appends the field `transactions`. */
  write(writer: DocumentWriter): DocumentWriter {
    writer.startArray('transactions')
    let index = 0
    for (const { lsid, txnNumber, parts, preparedAt } of this.#open.values()) {
      writer.startDocument(String(index++)).document('lsid', lsid).int64('txnNumber', txnNumber)
      writer.documents('parts', parts)
      if (preparedAt !== null) {
        const { ts, term } = preparedAt
        writer.startDocument('preparedAt').timestamp('ts', ts[0], ts[1]).int64('t', term).end()
      }
      writer.end()
    }
    return writer.end()
  }

  /** Replaces everything by the field `transactions`; without it there are none. */
  read(document: Uint8Array): void {
    this.#open.clear()
    this.#ended()
    const value = findField(document, 'transactions')
    if (value === undefined) return
    for (const each of documentsOf(value)) {
      const lsid = findField(each, 'lsid')!.slice()
      const { key } = SessionCatalog.parseAny(lsid)
      const preparedAt = findField(each, 'preparedAt')
      this.#open.set(key, {
        key,
        lsid,
        txnNumber: findField(each, 'txnNumber')!.asBigInt(),
        parts: documentsOf(findField(each, 'parts')!),
        preparedAt: preparedAt === undefined ? null : opTimeOf(preparedAt.bytes, preparedAt.start),
      })
    }
  }
}

function isSet(object: Uint8Array, name: string): boolean {
  return findField(object, name)?.isTruthy() === true
}

/**
 * Applies an entry of any kind to an engine, in the order of the log.
 * @returns the parts of the transaction that takes effect with it; null: none does
 * @throws CommandError, Error as {@link StorageEngine.apply}
 */
export function applyLogged(
  entry: LogEntry,
  engine: StorageEngine,
  transactions: LoggedTransactions,
): readonly Uint8Array[] | null {
  const parts = entry.op === 'c' ? transactions.record(entry) : null
  if (parts === null) engine.apply(entry)
  else for (const each of operationsIn(parts, entry, engine)) engine.apply(each)
  return parts
}
