/** Server: coll_mod.cpp, coll_mod_index.cpp. */
import { CommandError, DocumentWriter, FieldIterator, findField, sameBytes } from '@shardlab/bson'
import type { Collection, Index } from '@shardlab/storage'
import { splitNamespace } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import { buildIndex, dropIndex } from './index-specs.js'

/**
 * Changes an index and options in one entry, which is written also if nothing changes. Call
 * {@link NodeHost.flush} afterwards.
 * @param index `{ name, … }` with the changed fields of the specification, or null
 */
export function modifyCollection(
  node: NodeHost,
  collection: Collection,
  index: Uint8Array | null,
  options: Uint8Array,
): void {
  const { ns, uuid } = collection
  const [db, name] = splitNamespace(ns)
  const writer = new DocumentWriter(256).string('collMod', name)
  if (index !== null) writer.document('index', index)
  const object = writer.fields(options).finish()
  const o2 = stateBefore(collection, index)
  node.apply({ op: 'c', ns: `${db}.$cmd`, uuid, object, id: null, session: null, o2 })
}

/** Change streams report it as stateBeforeChange. Server: OpObserverImpl::onCollMod. */
function stateBefore(collection: Collection, change: Uint8Array | null): Uint8Array {
  const writer = new DocumentWriter(256)
  writer.startDocument('collectionOptions_old').uuid('uuid', collection.uuid).fields(collection.options).end()
  if (change === null) return writer.finish()
  const name = findField(change, 'name')?.asString()
  const key = findField(change, 'keyPattern')?.slice()
  const index = collection.indexes().find((each) => each.name === name || (key && sameBytes(each.key, key)))
  writer.startDocument('indexOptions_old')
  for (const option of ['expireAfterSeconds', 'hidden', 'prepareUnique']) {
    if (index === undefined || findField(change, option) === undefined) continue
    const old = findField(index.spec, option)
    if (old !== undefined) writer.value(option, old)
    else if (option !== 'expireAfterSeconds') writer.bool(option, false)
  }
  return writer.end().finish()
}

/** @throws CommandError 359 CannotConvertIndexToUnique with the `_id`s of duplicates */
export function checkUniqueKeys(collection: Collection, index: Index): void {
  const violations = duplicatesIn(collection, index)
  if (violations.length === 0) return
  const extra = new DocumentWriter(256).startArray('violations')
  violations.forEach((documents, i) => {
    extra.startDocument(String(i)).startArray('ids')
    documents.forEach((document, j) => extra.value(String(j), findField(document, '_id')!))
    extra.end().end()
  })
  throw new CommandError(
    'CannotConvertIndexToUnique',
    'Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.',
    { extra: extra.end().finish() },
  )
}

/** @throws CommandError as {@link checkUniqueKeys} */
export function convertToUnique(node: NodeHost, collection: Collection, index: Index): void {
  checkUniqueKeys(collection, index)
  const spec = new DocumentWriter(128)
  for (const it = new FieldIterator(index.spec); it.next();)
    if (it.name() !== 'prepareUnique') spec.value(it.name(), it.value())
  dropIndex(node, collection, index.name)
  buildIndex(node, collection, spec.bool('unique', true).finish())
}

/** Grouped by key. */
function duplicatesIn(collection: Collection, index: Index): Uint8Array[][] {
  const byKey = new Map<string, Uint8Array[]>()
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    for (const key of index.keysOf(record.document)) {
      const sharing = byKey.get(key)
      if (sharing === undefined) byKey.set(key, [record.document])
      else sharing.push(record.document)
    }
  }
  return [...byKey.values()].filter((documents) => documents.length > 1)
}
