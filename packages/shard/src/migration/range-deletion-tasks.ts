/**
 * config.rangeDeletions: ranges that a shard does not own, or may not come to own, and whose documents it has to delete.
 * Server: range_deletion_task.idl.
 */
import type { TimestampPair } from '@shardlab/actor'
import { BsonType, DocumentWriter, encodeKeyString, findField, sameBytes, uuidValue } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { Collection, LogEntry } from '@shardlab/storage'
import { keysOf, parseRange, writeRange, type KeyRange } from './key-range.js'
import { Records } from '../record-store.js'

export interface RangeDeletionTask {
  /** That of the migration. */
  readonly id: Uint8Array
  readonly ns: string
  readonly collectionUuid: Uint8Array
  readonly donorShard: string
  readonly range: KeyRange
  /** The migration is not decided: nothing may be deleted yet. */
  readonly pending: boolean
  /** Documents are being deleted. */
  readonly processing: boolean
  readonly whenToClean: 'now' | 'delayed'
  readonly numOrphanDocs: number
  /** The shard key pattern. */
  readonly keyPattern: Uint8Array
}

const tasksNs = 'config.rangeDeletions'

/** Where a task's range lies: what is read of each of them whenever a range is to move. */
interface TaskPlace {
  readonly collectionUuid: Uint8Array
  readonly low: string
  readonly high: string
}

export class RangeDeletionTasks extends Records<RangeDeletionTask, Uint8Array> {
  readonly #node: StorageNode
  /** By the KeyString of the `_id`, kept as the log tells; null: to be read from the collection. */
  #places: Map<string, TaskPlace> | null = null

  constructor(node: StorageNode) {
    super(node, { ns: tasksNs, id: uuidValue, write: (task) => writeTask(task, node.clock.time), read: parseTask })
    this.#node = node
    node.observe((entry) => this.#hear(entry))
  }

  /** Is a task of the collection left that has keys of the range, or, with null, any task of it? */
  anyIn(collectionUuid: Uint8Array, range: KeyRange | null): boolean {
    const collection = this.#node.collection(tasksNs)
    if (collection === undefined || collection.count === 0) return false
    const [low, high] = range === null ? ['', ''] : keysOf(range)
    for (const place of (this.#places ??= placesIn(collection)).values()) {
      if ((range === null || (place.low < high && low < place.high)) && sameBytes(place.collectionUuid, collectionUuid)) return true
    }
    return false
  }

  #hear({ op, ns, object, id }: LogEntry): void {
    if (this.#places === null) return
    // The collection may be another one afterwards.
    if (op === 'c') this.#places = null
    else if (ns !== tasksNs) return
    else if (op === 'd') this.#places.delete(encodeKeyString([id!]))
    else notePlace(this.#places, object)
  }
}

function placesIn(collection: Collection): Map<string, TaskPlace> {
  const places = new Map<string, TaskPlace>()
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) notePlace(places, record.document)
  return places
}

function notePlace(places: Map<string, TaskPlace>, document: Uint8Array): void {
  const key = encodeKeyString([findField(document, '_id')])
  const task = parseTask(document)
  if (task === undefined) {
    places.delete(key)
    return
  }
  const [low, high] = keysOf(task.range)
  places.set(key, { collectionUuid: task.collectionUuid, low, high })
}

function writeTask(task: RangeDeletionTask, [seconds, increment]: TimestampPair): Uint8Array {
  const writer = new DocumentWriter(384)
    .uuid('_id', task.id)
    .string('nss', task.ns)
    .uuid('collectionUuid', task.collectionUuid)
    .string('donorShardId', task.donorShard)
  writeRange(writer, 'range', task.range)
  if (task.pending) writer.bool('pending', true)
  if (task.processing) writer.bool('processing', true)
  writer.string('whenToClean', task.whenToClean)
  return writer
    .timestamp('timestamp', seconds, increment)
    .int64('numOrphanDocs', task.numOrphanDocs)
    .document('keyPattern', task.keyPattern)
    .finish()
}

function parseTask(document: Uint8Array): RangeDeletionTask | undefined {
  const id = findField(document, '_id')
  const ns = findField(document, 'nss')
  const collectionUuid = findField(document, 'collectionUuid')
  const donor = findField(document, 'donorShardId')
  const range = findField(document, 'range')
  const keyPattern = findField(document, 'keyPattern')
  if (id?.type !== BsonType.binary || collectionUuid?.type !== BsonType.binary) return undefined
  if (ns?.type !== BsonType.string || donor?.type !== BsonType.string) return undefined
  if (range?.type !== BsonType.object || keyPattern?.type !== BsonType.object) return undefined
  const count = findField(document, 'numOrphanDocs')
  return {
    id: id.asBinary(),
    ns: ns.asString(),
    collectionUuid: collectionUuid.asBinary(),
    donorShard: donor.asString(),
    range: parseRange(range),
    pending: findField(document, 'pending')?.isTruthy() === true,
    processing: findField(document, 'processing')?.isTruthy() === true,
    whenToClean: findField(document, 'whenToClean')?.asString() === 'now' ? 'now' : 'delayed',
    numOrphanDocs: count?.isNumber() === true ? count.asNumber() : 0,
    keyPattern: keyPattern.slice(),
  }
}
