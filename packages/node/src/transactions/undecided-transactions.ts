import { documentsOf, findField } from '@shardlab/bson'
import { decodeOperation, undecidedChanges, type StorageEngine, type UndecidedChanges } from '@shardlab/storage'
import type { LoggedTransaction } from './log/logged-transactions.js'

/** What prepared transactions change, by their entries in the log. */
export class UndecidedTransactions {
  readonly #known = new WeakMap<LoggedTransaction, ReadonlyMap<string, UndecidedChanges>>()
  readonly #namespaces = new WeakMap<LoggedTransaction, ReadonlySet<string>>()

  /** Whether it has written to one of the namespaces. Asked by each read that needs an outcome. */
  hasWritten(transaction: LoggedTransaction, covers: (ns: string) => boolean): boolean {
    let namespaces = this.#namespaces.get(transaction)
    if (namespaces === undefined) {
      namespaces = new Set(operationsOf(transaction).map((operation) => findField(operation, 'ns')!.asString()))
      this.#namespaces.set(transaction, namespaces)
    }
    return [...namespaces].some(covers)
  }

  /** Call it while the transaction is prepared: later the live data may have its changes. */
  load(transaction: LoggedTransaction, live: StorageEngine): void {
    if (!this.#known.has(transaction)) this.#known.set(transaction, changesIn(transaction, live))
  }

  /** Of a transaction that was loaded. Null: it changes nothing in the collection. */
  changesOf(transaction: LoggedTransaction, uuid: Uint8Array): UndecidedChanges | null {
    return this.#known.get(transaction)!.get(textOf(uuid)) ?? null
  }
}

const textOf = (uuid: Uint8Array): string => Buffer.from(uuid).toString('latin1')

const operationsOf = ({ parts }: LoggedTransaction): Uint8Array[] =>
  parts.flatMap((part) => documentsOf(findField(part, 'applyOps')!))

interface Change {
  readonly before: Uint8Array | undefined
  after: Uint8Array | undefined
}

/** The live data has the documents before the changes: nothing else changes them until the end. */
function changesIn(transaction: LoggedTransaction, live: StorageEngine): ReadonlyMap<string, UndecidedChanges> {
  const all = new Map<string, Map<string, Change>>()
  const collections = new Map(live.collections().map((each) => [textOf(each.uuid), each]))
  for (const operation of operationsOf(transaction)) {
    const uuid = textOf(findField(operation, 'ui')!.asBinary())
    const collection = collections.get(uuid)
    // It was dropped since.
    if (collection === undefined) continue
    let changes = all.get(uuid)
    if (changes === undefined) all.set(uuid, (changes = new Map()))
    const changeOf = (document: Uint8Array): Change => {
      const id = findField(document, '_id')!
      const key = collection.indexes()[0]!.encode([id])
      let change = changes.get(key)
      if (change === undefined) {
        const before = collection.findById(id)?.document
        changes.set(key, (change = { before, after: before }))
      }
      return change
    }
    const op = findField(operation, 'op')!.asString()
    if (op === 'n') continue
    const target = op === 'u' ? findField(operation, 'o2')! : findField(operation, 'o')!
    const change = changeOf(target.slice())
    const { object } = decodeOperation(operation, () => change.after)
    change.after = op === 'd' ? undefined : object
  }
  const ofCollections = [...all].map(
    ([uuid, changes]) =>
      [
        uuid,
        undecidedChanges(
          collections.get(uuid)!,
          [...changes.values()].map(({ before, after }) => [before, after]),
        ),
      ] as const,
  )
  return new Map(ofCollections)
}
