/**
 * Each function is synchronous, so its writes reach the disk as a whole. Server:
 * resharding_coordinator_service.cpp.
 */
import type { ChunkAssignment, TimestampPair } from '@shardlab/actor'
import {
  boolValue,
  documentValue,
  DocumentWriter,
  findField,
  objectIdValue,
  stringValue,
  timestampValue,
  uuidValue,
  type RawValue,
} from '@shardlab/bson'
import { uuidText } from '@shardlab/member'
import { chunkDocument, collectionDocument, type NewCollection } from '../store/catalog-documents.js'
import { logChange } from '../changelog.js'
import { withFields } from '../store/document-changes.js'
import type { CatalogHost } from '../host.js'
import {
  isUnsplittableAfter,
  operationDocument,
  operationsNs,
  type CoordinatorState,
  type ReshardingOperation,
} from './operation.js'
import type { NamedRange } from './request.js'

const transition = 'resharding.coordinator.transition'

/** From then on, no chunk of the collection changes its owner. */
export function beginOperation(catalog: CatalogHost, operation: ReshardingOperation): void {
  putOperation(catalog, operation, 'unused')
  changeEntry(catalog, operation.ns, {
    reshardingFields: reshardingFields(operation),
    allowMigrations: boolValue(false),
  })
}

/** Writes the chunks and zones of the new key under the temporary name. */
export function writeTemporaryCollection(
  catalog: CatalogHost,
  operation: ReshardingOperation,
  chunks: readonly ChunkAssignment[],
  zones: readonly NamedRange[],
): void {
  const { store, node, behaviours } = catalog
  removeTemporaryCollection(catalog, operation)
  const timestamp = node.clock.tick()
  const nowMs = node.context.now()
  const collection: NewCollection = {
    ns: operation.tempNs,
    uuid: operation.id,
    key: operation.key,
    unique: false,
    defaultCollation: null,
    epoch: node.newObjectId(),
    timestamp,
    nowMs,
  }
  chunks.forEach((chunk, minor) =>
    store.put('config.chunks', chunkDocument(behaviours, node.newObjectId(), collection, chunk, minor, timestamp)),
  )
  for (const { min, max, name } of zones) {
    const tag = new DocumentWriter(256).objectId('_id', node.newObjectId()).string('ns', operation.tempNs)
    store.put('config.tags', tag.document('min', min).document('max', max).string('tag', name).finish())
  }
  const entry = collectionDocument(behaviours, collection)
  store.put(
    'config.collections',
    withFields(entry, {
      reshardingFields: reshardingFields(operation, 'recipient'),
      allowMigrations: boolValue(false),
      ...unsplittableIn(operation),
    }),
  )
  putOperation(catalog, operation, 'initializing')
  changeEntry(catalog, operation.ns, { reshardingFields: reshardingFields(operation, 'donor') })
}

export function writeState(catalog: CatalogHost, operation: ReshardingOperation, old: CoordinatorState): void {
  putOperation(catalog, operation, old)
  const isAborting = operation.state === 'aborting'
  changeEntry(catalog, operation.ns, {
    reshardingFields: reshardingFields(operation, 'donor'),
    ...(isAborting ? { allowMigrations: null } : {}),
  })
  changeEntry(catalog, operation.tempNs, { reshardingFields: reshardingFields(operation, 'recipient') })
}

/**
 * The collection takes over UUID, key, generation, chunks and zones of the temporary collection.
 */
export function commitOperation(catalog: CatalogHost, operation: ReshardingOperation, old: CoordinatorState): void {
  const { store, node } = catalog
  const { ns, tempNs, id, key } = operation
  putOperation(catalog, operation, old)
  const temporary = store.get('config.collections', tempNs)
  if (temporary !== null) store.remove('config.collections', temporary)
  const [t, i] = node.clock.tick()
  changeEntry(catalog, ns, {
    uuid: uuidValue(id),
    key: documentValue(key),
    unique: boolValue(false),
    lastmodEpoch: objectIdValue(node.newObjectId()),
    timestamp: timestampValue(t, i),
    reshardingFields: reshardingFields(operation, 'recipient'),
    ...unsplittableIn(operation),
  })
  for (const chunk of chunksOf(catalog, id)) store.put('config.chunks', withoutPast(chunk, [t, i]))
  for (const tag of catalog.zonesOf(ns)) store.remove('config.tags', tag)
  for (const tag of catalog.zonesOf(tempNs)) store.put('config.tags', withFields(tag, { ns: stringValue(ns) }))
}

/** Also those of the old collection after a commit. */
export function finishOperation(catalog: CatalogHost, operation: ReshardingOperation, committed: boolean): void {
  const { store } = catalog
  if (committed) removeChunks(catalog, operation.sourceUuid)
  else removeTemporaryCollection(catalog, operation)
  const document = store.getById(operationsNs, uuidValue(operation.id))
  if (document !== null) store.remove(operationsNs, document)
  const entry = catalog.collection(operation.ns)
  if (entry !== null && findField(entry, 'reshardingFields') !== undefined)
    changeEntry(catalog, operation.ns, { reshardingFields: null, allowMigrations: null })
  logTransition(catalog, { ...operation, state: 'done' }, operation.state)
}

function unsplittableIn(operation: ReshardingOperation): { unsplittable?: RawValue } {
  return isUnsplittableAfter(operation) ? { unsplittable: boolValue(true) } : {}
}

function removeTemporaryCollection(catalog: CatalogHost, { tempNs, id }: ReshardingOperation): void {
  const { store } = catalog
  const entry = store.get('config.collections', tempNs)
  if (entry !== null) store.remove('config.collections', entry)
  for (const tag of catalog.zonesOf(tempNs)) store.remove('config.tags', tag)
  removeChunks(catalog, id)
}

function removeChunks(catalog: CatalogHost, uuid: Uint8Array): void {
  for (const chunk of chunksOf(catalog, uuid)) catalog.store.remove('config.chunks', chunk)
}

function chunksOf({ store }: CatalogHost, uuid: Uint8Array): Uint8Array[] {
  const key = [uuidValue(uuid)]
  return store.inIndex('config.chunks', { fields: ['uuid', 'min'], from: key, to: key })
}

/**
 * Replaces the history with one entry of this time: earlier entries do not apply to the new key.
 */
function withoutPast(chunk: Uint8Array, [seconds, increment]: TimestampPair): Uint8Array {
  const fields = new DocumentWriter(128)
    .timestamp('onCurrentShardSince', seconds, increment)
    .startArray('history')
    .startDocument('0')
  fields.timestamp('validAfter', seconds, increment).value('shard', findField(chunk, 'shard')!).end().end()
  const written = fields.finish()
  const changed = ['onCurrentShardSince', 'history'].filter((name) => findField(chunk, name) !== undefined)
  return withFields(chunk, Object.fromEntries(changed.map((name) => [name, findField(written, name)!])))
}

function putOperation(catalog: CatalogHost, operation: ReshardingOperation, old: CoordinatorState | 'unused'): void {
  catalog.store.put(operationsNs, operationDocument(operation))
  logTransition(catalog, operation, old)
}

function logTransition(
  catalog: CatalogHost,
  { id, ns, sourceUuid, state }: ReshardingOperation,
  old: CoordinatorState | 'unused',
): void {
  const details = new DocumentWriter(256)
    .string('newState', state)
    .string('oldState', old)
    .string('namespace', ns)
    .string('collectionUUID', uuidText(sourceUuid))
    .string('reshardingUUID', uuidText(id))
    .finish()
  logChange(catalog, { what: transition, ns, details })
}

/** Whether the changelog contains a start of this operation. */
export function wasBegun({ store }: CatalogHost, id: Uint8Array): boolean {
  const filter = new DocumentWriter(128).string('what', transition).string('details.reshardingUUID', uuidText(id))
  return store.first('config.changelog', filter.finish()) !== null
}

function changeEntry(catalog: CatalogHost, ns: string, changes: Readonly<Record<string, RawValue | null>>): void {
  const entry = catalog.store.get('config.collections', ns)
  if (entry === null) return
  const lastmod = findField(new DocumentWriter(32).date('lastmod', catalog.node.context.now()).finish(), 'lastmod')!
  catalog.store.put('config.collections', withFields(entry, { lastmod, ...changes }))
}

/** Server: type_collection_fields.idl. */
function reshardingFields(operation: ReshardingOperation, role: 'donor' | 'recipient' | null = null): RawValue {
  const { id, state, tempNs, key, recipients, donors, startedAtMs, approxSize, cloneTimestamp } = operation
  const writer = new DocumentWriter(512).startDocument('reshardingFields').uuid('uuid', id).string('state', state)
  if (operation.abortReason !== null)
    writer.bool('userCanceled', findField(operation.abortReason, 'code')?.asNumber() === 341)
  if (role === 'donor') {
    writer
      .startDocument('donorFields')
      .string('tempNs', tempNs)
      .document('reshardingKey', key)
      .startArray('recipientShardIds')
    recipients.forEach((shard, i) => writer.string(String(i), shard))
    writer.end().end()
  } else if (role === 'recipient') {
    writer.startDocument('recipientFields')
    if (approxSize !== null)
      writer.int64('approxDocumentsToCopy', approxSize.documents).int64('approxBytesToCopy', approxSize.bytes)
    if (cloneTimestamp !== null) writer.timestamp('cloneTimestamp', cloneTimestamp[0], cloneTimestamp[1])
    writer.startArray('donorShards')
    donors.forEach((shard, i) => writer.startDocument(String(i)).string('shardId', shard).end())
    writer
      .end()
      .uuid('sourceUUID', operation.sourceUuid)
      .string('sourceNs', operation.ns)
      .int64('minimumOperationDurationMillis', 0)
      .end()
  }
  writer.date('startTime', startedAtMs).end()
  return findField(writer.finish(), 'reshardingFields')!
}
