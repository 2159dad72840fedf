/**
 * config.rangeDeletions: ranges that a shard does not own, or may not come to own, and whose documents it has to delete.
 * Server: range_deletion_task.idl.
 */
import type { TimestampPair } from '@shardlab/actor'
import { BsonType, DocumentWriter, findField, sameBytes, uuidValue } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
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
  /** The task's; another one in its place makes this worthless. */
  readonly document: Uint8Array
  /** Null: a document that is no task. */
  readonly collectionUuid: Uint8Array | null
  readonly low: string
  readonly high: string
}

export class RangeDeletionTasks extends Records<RangeDeletionTask, Uint8Array> {
  readonly #node: StorageNode
  /** By record id. */
  #places = new Map<number, TaskPlace>()

  constructor(node: StorageNode) {
    super(node, { ns: tasksNs, id: uuidValue, write: (task) => writeTask(task, node.clock.time), read: parseTask })
    this.#node = node
  }

  /** Is a task of the collection left that has keys of the range, or, with null, any task of it? */
  anyIn(collectionUuid: Uint8Array, range: KeyRange | null): boolean {
    const collection = this.#node.collection(tasksNs)
    if (collection === undefined || collection.count === 0) return false
    // A task that is gone leaves its place behind.
    if (this.#places.size > 2 * collection.count + placesKept) this.#places = new Map()
    const [low, high] = range === null ? ['', ''] : keysOf(range)
    const scan = collection.scan()
    for (let record = scan.next(); record !== null; record = scan.next()) {
      let place = this.#places.get(record.recordId)
      if (place?.document !== record.document) this.#places.set(record.recordId, (place = placeOf(record.document)))
      if (place.collectionUuid === null || !sameBytes(place.collectionUuid, collectionUuid)) continue
      if (range === null || (place.low < high && low < place.high)) return true
    }
    return false
  }
}

const placesKept = 64

function placeOf(document: Uint8Array): TaskPlace {
  const task = parseTask(document)
  if (task === undefined) return { document, collectionUuid: null, low: '', high: '' }
  const [low, high] = keysOf(task.range)
  return { document, collectionUuid: task.collectionUuid, low, high }
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
