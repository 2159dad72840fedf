/**
 * What a rollback removes, by collection. Server: RollbackImpl::_processRollbackOp,
 * _namespacesForOp, _writeRollbackFiles.
 */
import { BsonType, documentsOf, fieldsOf, findField, hexOf } from '@shardlab/bson'
import type { Collection, StorageEngine } from '@shardlab/storage'

export interface RolledBack {
  readonly ns: string
  /** Null: the collection does not exist any more. */
  readonly uuid: Uint8Array | null
  /** Without no-ops. */
  readonly entries: number
  /** Documents that were inserted or updated, in their last version. */
  readonly documents: readonly Uint8Array[]
}

interface Group {
  readonly ns: string
  collection: Collection | null
  entries: number
  /** By record id. */
  readonly documents: Map<number, Uint8Array>
}

/**
 * @param entries oldest first
 * @param engine has their effects
 */
export function rolledBackBy(entries: Iterable<Uint8Array>, engine: StorageEngine): RolledBack[] {
  const byUuid = new Map(engine.collections().map((collection) => [hexOf(collection.uuid), collection]))
  const groups = new Map<string, Group>()
  const groupOf = (ns: string): Group => {
    const group = groups.get(ns) ?? { ns, collection: null, entries: 0, documents: new Map() }
    groups.set(ns, group)
    return group
  }
  for (const entry of operationsOf(entries)) {
    const op = findField(entry, 'op')!.asString()
    if (op === 'c') for (const ns of namespacesOfCommand(entry)) groupOf(ns).entries++
    if (op !== 'i' && op !== 'u' && op !== 'd') continue
    const uuid = findField(entry, 'ui')
    const collection = uuid === undefined ? undefined : byUuid.get(hexOf(uuid.asBinary()))
    // The collection may have been renamed since the entry was written.
    const group = groupOf(collection?.ns ?? findField(entry, 'ns')!.asString())
    group.entries++
    if (collection === undefined) continue
    group.collection = collection
    // A document that was deleted later is not there.
    const id = op === 'd' ? undefined : findField(entry, '_id', findField(entry, op === 'u' ? 'o2' : 'o')!.start)
    const found = id === undefined ? undefined : collection.findById(id)
    if (found !== undefined) group.documents.set(found.recordId, found.document)
  }
  return [...groups.values()].map(({ ns, collection, entries: count, documents }) => ({
    ns,
    uuid: collection?.uuid ?? null,
    entries: count,
    documents: [...documents.values()],
  }))
}

/** With the operations of transactions in place of their entries. */
function* operationsOf(entries: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
  for (const entry of entries) {
    const isCommand = findField(entry, 'op')!.asString() === 'c'
    const operations = isCommand ? findField(entry, 'applyOps', findField(entry, 'o')!.start) : undefined
    if (operations === undefined) yield entry
    else yield* documentsOf(operations)
  }
}

/** None for dropDatabase. */
function namespacesOfCommand(entry: Uint8Array): string[] {
  const command = findField(entry, 'o')!.slice()
  const [name, target] = fieldsOf(command)[0]!
  if (target.type !== BsonType.string) return []
  if (name === 'renameCollection') return [target.asString(), findField(command, 'to')!.asString()]
  const ns = findField(entry, 'ns')!.asString()
  return [`${ns.slice(0, ns.indexOf('.'))}.${target.asString()}`]
}
