/** The node as commands of a transaction see it: with its snapshot and its own writes. */
import { CommandError, findField, firstFieldName, sameBytes } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import type { Collection, KeyOfInserted, LogEntry, LogSession, StorageEngine } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import { stamped, type LogChange } from '../log/log-change.js'
import type { Transaction } from './transaction.js'
import type { Transactions } from './transactions.js'
import { hasChangedSince, keysOf, writeConflict } from './write-keys.js'
import { encodedOperation, entryBytesMax } from './log/transaction-entries.js'

/** @param engine changed by the transaction only */
export function transactionHost(
  node: NodeHost,
  transactions: Transactions,
  transaction: Transaction,
  engine: StorageEngine,
): NodeHost {
  const writer = new TransactionWriter(node, transactions, transaction, engine)
  const collection = (ns: string) => writer.collection(ns)
  return Object.create(node, {
    engine: { value: engine },
    // Private state of the live node, which inherited methods would not find.
    oplog: { value: node.oplog },
    collection: { value: collection },
    apply: { value: (change: LogChange) => writer.apply(change) },
    insertEach: {
      value: (
        into: Collection,
        documents: readonly Uint8Array[],
        session: LogSession | null,
        keyOf: KeyOfInserted | null,
      ) => writer.insertEach(into, documents, session, keyOf),
    },
    insertAll: { value: (into: Collection, documents: Iterable<Uint8Array>) => writer.insertAll(into, documents) },
    hasRoom: { value: (bytes: number, entries: number) => node.hasRoom(bytes, entries) },
    requireRoom: { value: (bytes?: number, entries?: number) => node.requireRoom(bytes, entries) },
    isWritten: { value: true },
    flush: { value: () => written },
    flushToMajority: { value: () => written },
  }) as NodeHost
}

const written = Promise.resolve()

class TransactionWriter {
  readonly #node: NodeHost
  readonly #transactions: Transactions
  readonly #transaction: Transaction
  readonly #engine: StorageEngine

  constructor(node: NodeHost, transactions: Transactions, transaction: Transaction, engine: StorageEngine) {
    this.#node = node
    this.#transactions = transactions
    this.#transaction = transaction
    this.#engine = engine
  }

  /** @throws CommandError 24 LockTimeout, 246 SnapshotUnavailable, 272 MigrationConflict */
  collection(ns: string): Collection | undefined {
    const found = this.#engine.collection(ns)
    const { namespaces, createdNamespaces, snapshot } = this.#transaction
    if (snapshot !== null) this.#transactions.arrivals.check(ns, snapshot)
    if (namespaces.has(ns)) return found
    this.#transactions.definitions.check(ns)
    const live = this.#node.collection(ns)
    if (!createdNamespaces.has(ns) && !isSameDefinition(found, live)) throw snapshotUnavailable()
    namespaces.add(ns)
    return found
  }

  /** @throws CommandError 112 WriteConflict, 257 TransactionTooLarge, 263, those of the engine */
  apply(change: LogChange): LogEntry {
    if (change.op === 'c') this.#checkCommand(change)
    else this.#checkChange(change)
    const own = this.#engine.collection(change.ns)
    const keys = change.op === 'c' ? [] : keysOf(change, own)
    const operation = encodedOperation(change)
    this.#checkSize(operation.length)
    const entry = stamped(change, this.#node.clock.time, 0, this.#node.context.now())
    this.#engine.apply(entry)
    this.#transactions.keys.take(this.#transaction, keys)
    this.#transaction.operations.push(operation)
    this.#transaction.sizeBytes += operation.length
    return entry
  }

  insertEach(
    { ns, uuid }: Collection,
    documents: readonly Uint8Array[],
    session: LogSession | null,
    keyOf: KeyOfInserted | null,
  ): number {
    let inserted = 0
    for (const object of documents) {
      try {
        const [id, o2] = [findField(object, '_id')!, keyOf?.(object) ?? undefined]
        const statement = session === null ? null : { ...session, stmtIds: [session.stmtIds[inserted]!] }
        this.apply({ op: 'i', ns, uuid, object, id, session: statement, o2 })
      } catch (error) {
        // The caller inserts this one alone, and reports its error.
        if (error instanceof CommandError) break
        throw error
      }
      inserted++
    }
    return inserted
  }

  insertAll({ ns, uuid }: Collection, documents: Iterable<Uint8Array>): void {
    for (const object of documents)
      this.apply({ op: 'i', ns, uuid, object, id: findField(object, '_id')!, session: null })
  }

  #checkChange(change: LogChange): void {
    const own = this.#engine.collection(change.ns)
    if (own === undefined) return
    if (own.capped !== null)
      throw new CommandError(
        'OperationNotSupportedInTransaction',
        `Collection '${change.ns}' is a capped collection. Writes in transactions are not allowed on capped collections.`,
      )
    const { keys, createdNamespaces } = this.#transaction
    const wanted = keysOf(change, own)
    for (const key of wanted) {
      const holder = this.#transactions.keys.holderOf(key)
      if (holder !== undefined && holder !== this.#transaction) throw writeConflict()
    }
    if (change.op === 'n' || createdNamespaces.has(change.ns)) return
    const live = this.#node.collection(change.ns)
    if (live === undefined || !sameBytes(live.uuid, own.uuid)) throw snapshotUnavailable()
    if (this.#node.context.mutated('writeConflictOff')) return
    if (hasChangedSince(change, own, live, keys)) throw writeConflict()
  }

  #checkCommand({ ns: commandNs, object }: LogChange): void {
    const command = firstFieldName(object)!
    const ns = `${databaseNameOf(commandNs)}.${findField(object, command)!.asString()}`
    const { createdNamespaces } = this.#transaction
    if (command === 'create') {
      if (!this.#node.behaviours.transactionsCreateCollections)
        throw new CommandError(
          'OperationNotSupportedInTransaction',
          `Cannot create namespace ${ns} in multi-document transaction.`,
        )
      this.#transactions.definitions.check(ns)
      if (this.#node.collection(ns) !== undefined || this.#transactions.isCreatedByAnother(ns, this.#transaction))
        throw writeConflict()
      createdNamespaces.add(ns)
    } else if (command !== 'createIndexes' || !createdNamespaces.has(ns))
      throw new CommandError(
        'OperationNotSupportedInTransaction',
        command === 'createIndexes'
          ? `Cannot create new indexes on existing collection ${ns} in a multi-document transaction.`
          : `Cannot run '${command}' in a multi-document transaction.`,
      )
  }

  #checkSize(bytes: number): void {
    const total = this.#transaction.sizeBytes + bytes
    if (this.#node.behaviours.largeTransactions || total <= entryBytesMax) return
    throw new CommandError(
      'TransactionTooLarge',
      `Total size of all transaction operations must be less than ${entryBytesMax}. Actual size is ${total}`,
    )
  }
}

function isSameDefinition(own: Collection | undefined, live: Collection | undefined): boolean {
  if (own === undefined || live === undefined) return own === live
  if (!sameBytes(own.uuid, live.uuid) || !sameBytes(own.options, live.options)) return false
  const [mine, theirs] = [own.indexes(), live.indexes()]
  return mine.length === theirs.length && mine.every(({ spec }, i) => sameBytes(spec, theirs[i]!.spec))
}

function snapshotUnavailable(): CommandError {
  return new CommandError(
    'SnapshotUnavailable',
    'Unable to read from a snapshot due to pending collection catalog changes; please retry the operation.',
  )
}
