import type { SessionKey } from '@shardlab/member'
import type { ExecutedStatement } from './executed-statement.js'
import type { SessionImage, StatementsImage } from './retry-history-image.js'
import { InsertedRun } from './inserted-run.js'

type Known = ExecutedStatement | InsertedRun

interface NamespaceStatements {
  readonly ns: string
  readonly known: Map<number, Known>
}

/** The executed statements of one session's newest retryable write. */
export class SessionHistory {
  /** The history that may add statements; others that share this object must copy it first. */
  readonly owner: object
  readonly txnNumber: bigint
  lastWriteAtMs: number
  /** Most often one: only bulkWrite has several namespaces. */
  readonly #namespaces: NamespaceStatements[] = []

  constructor(owner: object, txnNumber: bigint, lastWriteAtMs: number) {
    this.owner = owner
    this.txnNumber = txnNumber
    this.lastWriteAtMs = lastWriteAtMs
  }

  copyFor(owner: object): SessionHistory {
    const copy = new SessionHistory(owner, this.txnNumber, this.lastWriteAtMs)
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
   * Whether the write moved its document to another shard in a transaction. It was the only
   * statement of its command, and a no-op entry records it.
   */
  get isConvertedToTransaction(): boolean {
    for (const { known } of this.#namespaces)
      for (const statement of known.values()) return !(statement instanceof InsertedRun) && statement.op === 'n'
    return false
  }

  add(ns: string, stmtId: number, statement: ExecutedStatement): void {
    this.#on(ns).set(stmtId, statement)
  }

  addRun(ns: string, run: InsertedRun): void {
    const known = this.#on(ns)
    for (const stmtId of run.stmtIds()) known.set(stmtId, run)
  }

  /** Statements that are already known stay. */
  merge({ namespaces }: SessionImage): void {
    for (const { ns, statements, runs } of namespaces) {
      const known = this.#on(ns)
      for (const { stmtId, ...executed } of statements) if (!known.has(stmtId)) known.set(stmtId, executed)
      for (const run of runs) for (const stmtId of run.stmtIds()) if (!known.has(stmtId)) known.set(stmtId, run)
    }
  }

  /** @param ns null: all namespaces. @returns null: no statement on the namespace */
  image(key: SessionKey, ns: string | null): SessionImage | null {
    // Its repetition must fail on every shard: the server transfers such entries of any namespace.
    const isWanted = (each: NamespaceStatements) => ns === null || each.ns === ns || this.isConvertedToTransaction
    const wanted = this.#namespaces.filter(isWanted)
    if (wanted.length === 0 && ns !== null) return null
    const { txnNumber, lastWriteAtMs } = this
    return { key, txnNumber, lastWriteAtMs, namespaces: wanted.map(imageOf) }
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
