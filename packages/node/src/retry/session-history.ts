import type { SessionKey } from '@shardlab/member'
import type { OpTime } from '@shardlab/storage'
import type { ExecutedStatement } from './executed-statement.js'
import type { SessionImage, StatementsImage, TransactionState } from './retry-history-image.js'
import { InsertedRun } from './inserted-run.js'

type Known = ExecutedStatement | InsertedRun

interface NamespaceStatements {
  readonly ns: string
  readonly known: Map<number, Known>
}

/** Of a statement in its map, roughly. */
const statementBytes = 48
/** Of a statement that was not inserted in a run. */
const executedBytes = 160

/** The executed statements of one session's newest retryable write. */
export class SessionHistory {
  /** The history that may add statements; others that share this object must copy it first. */
  readonly owner: object
  readonly txnNumber: bigint
  lastWriteAtMs: number
  /** Of the last entry of the write. Null: this member has logged none. */
  lastOpTime: OpTime | null = null
  /** Null: a retryable write. */
  transaction: TransactionState | null = null
  /** Statements were dropped, so an unknown one may have been executed. */
  readonly isIncomplete: boolean
  /** An estimate of the memory of its statements. */
  sizeBytes = 0
  /** Most often one: only bulkWrite has several namespaces. */
  readonly #namespaces: NamespaceStatements[] = []

  constructor(owner: object, txnNumber: bigint, lastWriteAtMs: number, isIncomplete = false) {
    this.owner = owner
    this.txnNumber = txnNumber
    this.lastWriteAtMs = lastWriteAtMs
    this.isIncomplete = isIncomplete
  }

  /** Without the statements. Their namespaces stay, for recipients of migrations. */
  incomplete(owner: object): SessionHistory {
    const emptied = new SessionHistory(owner, this.txnNumber, this.lastWriteAtMs, true)
    emptied.lastOpTime = this.lastOpTime
    emptied.transaction = this.transaction
    for (const { ns } of this.#namespaces) emptied.#namespaces.push({ ns, known: new Map() })
    return emptied
  }

  copyFor(owner: object, isIncomplete = false): SessionHistory {
    const copy = new SessionHistory(owner, this.txnNumber, this.lastWriteAtMs, this.isIncomplete || isIncomplete)
    copy.sizeBytes = this.sizeBytes
    copy.lastOpTime = this.lastOpTime
    copy.transaction = this.transaction
    for (const { ns, known } of this.#namespaces) copy.#namespaces.push({ ns, known: new Map(known) })
    return copy
  }

  get statementCount(): number {
    let count = 0
    for (const { known } of this.#namespaces) count += known.size
    return count
  }

  find(stmtId: number): ExecutedStatement | undefined {
    for (const { known } of this.#namespaces) {
      const found = known.get(stmtId)
      if (found !== undefined) return found instanceof InsertedRun ? found.statement(stmtId) : found
    }
    return undefined
  }

  /**
   * Whether the write moved its document to another shard in an internal transaction. It was the
   * only statement of its command, and a no-op records it.
   */
  get #hasMovedDocument(): boolean {
    for (const { known } of this.#namespaces)
      for (const statement of known.values()) return !(statement instanceof InsertedRun) && statement.op === 'n'
    return false
  }

  add(ns: string, stmtId: number, statement: ExecutedStatement): void {
    this.#on(ns).set(stmtId, statement)
    this.sizeBytes += executedBytes + (statement.image?.document.length ?? 0)
  }

  addRun(ns: string, run: InsertedRun): void {
    const known = this.#on(ns)
    for (const stmtId of run.stmtIds()) known.set(stmtId, run)
    this.sizeBytes += run.bytes.length + run.count * statementBytes
  }

  /** Statements that are already known stay. */
  merge({ namespaces, lastOpTime, transaction }: SessionImage): void {
    this.lastOpTime ??= lastOpTime
    this.transaction ??= transaction
    for (const { ns, statements, runs } of namespaces) {
      const known = this.#on(ns)
      for (const { stmtId, ...executed } of statements) if (!known.has(stmtId)) this.add(ns, stmtId, executed)
      for (const run of runs) {
        let isNew = false
        for (const stmtId of run.stmtIds()) {
          if (known.has(stmtId)) continue
          isNew = true
          known.set(stmtId, run)
        }
        if (isNew) this.sizeBytes += run.bytes.length + run.count * statementBytes
      }
    }
  }

  /** @param ns null: all namespaces. @returns null: no statement on the namespace */
  image(key: SessionKey, ns: string | null): SessionImage | null {
    // Its repetition must fail on every shard: the server transfers such entries of any namespace.
    const isWanted = (each: NamespaceStatements) => ns === null || each.ns === ns || this.#hasMovedDocument
    const wanted = this.#namespaces.filter(isWanted)
    if (wanted.length === 0 && ns !== null) return this.#imageOfTransaction(key)
    const { txnNumber, lastWriteAtMs, isIncomplete, transaction } = this
    const lastOpTime = ns === null ? this.lastOpTime : null
    return { key, txnNumber, lastWriteAtMs, lastOpTime, isIncomplete, transaction, namespaces: wanted.map(imageOf) }
  }

  /**
   * A retryable write that was converted to a transaction must not be repeated on another shard
   * either. Server: session_catalog_migration_source.cpp, makeSentinelOplogEntry.
   */
  #imageOfTransaction(key: SessionKey): SessionImage | null {
    const { txnNumber, lastWriteAtMs } = this
    if (this.transaction !== 'committed') return null
    return { key, txnNumber, lastWriteAtMs, lastOpTime: null, isIncomplete: true, transaction: null, namespaces: [] }
  }

  #on(ns: string): Map<number, Known> {
    let statements = this.#namespaces.find((each) => each.ns === ns)
    if (statements === undefined) this.#namespaces.push((statements = { ns, known: new Map() }))
    return statements.known
  }
}

function imageOf({ ns, known }: NamespaceStatements): StatementsImage {
  const runs = new Set<InsertedRun>()
  const statements: ({ stmtId: number } & ExecutedStatement)[] = []
  for (const [stmtId, statement] of known)
    if (statement instanceof InsertedRun) runs.add(statement)
    else statements.push({ stmtId, ...statement })
  return { ns, statements, runs: [...runs] }
}
