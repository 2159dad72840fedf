/**
 * config.rangeDeletions: ranges that a shard does not own, or may not come to own, and whose documents it has to delete.
 * Server: range_deletion_task.idl.
 */
import type { TimestampPair } from '@shardlab/actor'
import { BsonType, DocumentWriter, FieldIterator, uuidValue, type RawValue } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { Collection, LogEntry } from '@shardlab/storage'
import { isRange, keysOf, parseRange, writeRange, type KeyRange } from './key-range.js'
import { Records } from '../record-store.js'
import { TaskRanges, type TaskRange } from './task-ranges.js'

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

export class RangeDeletionTasks extends Records<RangeDeletionTask, Uint8Array> {
  readonly #node: StorageNode
  /** Kept as the log tells; null: to be read from the collection. */
  #ranges: TaskRanges | null = null

  constructor(node: StorageNode) {
    super(node, { ns: tasksNs, id: uuidValue, write: (task) => writeTask(task, node.clock.time), read: parseTask })
    this.#node = node
    node.observe((entry, preImage) => this.#hear(entry, preImage))
  }

  /** Is a task of the collection left that has keys of the range, or, with null, any task of it? */
  anyIn(collectionUuid: Uint8Array, range: KeyRange | null): boolean {
    const collection = this.#node.collection(tasksNs)
    if (collection === undefined || collection.count === 0) return false
    const ranges = (this.#ranges ??= rangesIn(collection))
    return range === null ? ranges.anyOf(collectionUuid) : ranges.anyBetween(collectionUuid, ...keysOf(range))
  }

  #hear({ op, ns, object }: LogEntry, preImage: Uint8Array | null): void {
    if (this.#ranges === null) return
    // The collection may be another one afterwards.
    if (op === 'c') this.#ranges = null
    else if (ns === tasksNs) {
      const before = preImage === null ? undefined : fieldsIn(preImage)
      const after = op === 'd' ? undefined : fieldsIn(object)
      if (before !== undefined && after !== undefined && isSamePlace(before, after)) return
      if (before !== undefined) this.#ranges.remove(rangeAt(before))
      if (after !== undefined) this.#ranges.add(rangeAt(after))
    }
  }
}

/** Where a task's document says of what it is a range, and which. */
type TaskPlace = Pick<TaskFields, 'collectionUuid' | 'range'>

function isSamePlace(a: TaskPlace, b: TaskPlace): boolean {
  return a.range.isIdentical(b.range) && a.collectionUuid.isIdentical(b.collectionUuid)
}

function rangeAt({ collectionUuid, range }: TaskPlace): TaskRange {
  const [low, high] = keysOf(parseRange(range))
  return { collectionUuid: collectionUuid.asBinary(), low, high }
}

function rangesIn(collection: Collection): TaskRanges {
  const ranges = new TaskRanges()
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    const place = fieldsIn(record.document)
    if (place !== undefined) ranges.add(rangeAt(place))
  }
  return ranges
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

/** Without those that are always there nobody can tell what is to be deleted. */
interface TaskFields {
  readonly id: RawValue
  readonly ns: RawValue
  readonly collectionUuid: RawValue
  readonly donor: RawValue
  readonly range: RawValue
  readonly keyPattern: RawValue
  readonly pending: RawValue | undefined
  readonly processing: RawValue | undefined
  readonly whenToClean: RawValue | undefined
  readonly numOrphanDocs: RawValue | undefined
}

/** Undefined: clients may write there what is no task. */
function fieldsIn(document: Uint8Array): TaskFields | undefined {
  let id, ns, collectionUuid, donor, range, keyPattern, pending, processing, whenToClean, numOrphanDocs: RawValue | undefined
  // In one walk: each change of a task looks at all of them, before and after.
  for (const it = new FieldIterator(document); it.next();) {
    switch (it.name()) {
      case '_id':
        id ??= it.value()
        break
      case 'nss':
        ns ??= it.value()
        break
      case 'collectionUuid':
        collectionUuid ??= it.value()
        break
      case 'donorShardId':
        donor ??= it.value()
        break
      case 'range':
        range ??= it.value()
        break
      case 'keyPattern':
        keyPattern ??= it.value()
        break
      case 'pending':
        pending ??= it.value()
        break
      case 'processing':
        processing ??= it.value()
        break
      case 'whenToClean':
        whenToClean ??= it.value()
        break
      case 'numOrphanDocs':
        numOrphanDocs ??= it.value()
        break
    }
  }
  if (id?.type !== BsonType.binary || collectionUuid?.type !== BsonType.binary) return undefined
  if (ns?.type !== BsonType.string || donor?.type !== BsonType.string) return undefined
  if (!isRange(range) || keyPattern?.type !== BsonType.object) return undefined
  return { id, ns, collectionUuid, donor, range, keyPattern, pending, processing, whenToClean, numOrphanDocs }
}

function parseTask(document: Uint8Array): RangeDeletionTask | undefined {
  const fields = fieldsIn(document)
  if (fields === undefined) return undefined
  const { id, ns, collectionUuid, donor, range, keyPattern, pending, processing, whenToClean, numOrphanDocs } = fields
  return {
    id: id.asBinary(),
    ns: ns.asString(),
    collectionUuid: collectionUuid.asBinary(),
    donorShard: donor.asString(),
    range: parseRange(range),
    pending: pending?.isTruthy() === true,
    processing: processing?.isTruthy() === true,
    whenToClean: whenToClean?.type === BsonType.string && whenToClean.asString() === 'now' ? 'now' : 'delayed',
    numOrphanDocs: orphansIn(numOrphanDocs),
    keyPattern: keyPattern.slice(),
  }
}

/** A task's `numOrphanDocs`. Clients may write there what is no number of documents: it counts as none. */
export function orphansIn(numOrphanDocs: RawValue | undefined): number {
  const count = Math.trunc(numOrphanDocs?.asNumber() ?? 0)
  return Number.isSafeInteger(count) ? count : 0
}
