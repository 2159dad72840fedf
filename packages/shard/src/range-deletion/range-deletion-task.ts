/** A document of config.rangeDeletions. Server: range_deletion_task.idl. */
import type { TimestampPair } from '@shardlab/actor'
import { BsonType, DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import { isRange, parseRange, writeRange, type KeyRange } from '../ranges/key-range.js'

/** The mutable fields. */
export interface TaskState {
  /** The migration is undecided: nothing may be deleted yet. */
  readonly pending: boolean
  readonly processing: boolean
  readonly whenToClean: 'now' | 'delayed'
  readonly numOrphanDocs: number
}

export interface RangeDeletionTask extends TaskState {
  /** UUID of the migration. */
  readonly id: Uint8Array
  readonly ns: string
  readonly collectionUuid: Uint8Array
  readonly donorShard: string
  readonly range: KeyRange
  readonly keyPattern: Uint8Array
}

export function pendingTask(
  migration: {
    readonly migrationId: Uint8Array
    readonly ns: string
    readonly uuid: Uint8Array
    readonly donor: string
    readonly keyPattern: Uint8Array
  },
  range: KeyRange,
  whenToClean: TaskState['whenToClean'],
): RangeDeletionTask {
  const { migrationId, ns, uuid, donor, keyPattern } = migration
  return {
    id: migrationId,
    ns,
    collectionUuid: uuid,
    donorShard: donor,
    range,
    pending: true,
    processing: false,
    whenToClean,
    numOrphanDocs: 0,
    keyPattern,
  }
}

export function writeTask(task: RangeDeletionTask, time: TimestampPair): Uint8Array {
  const writer = new DocumentWriter(384)
    .uuid('_id', task.id)
    .string('nss', task.ns)
    .uuid('collectionUuid', task.collectionUuid)
    .string('donorShardId', task.donorShard)
  writeRange(writer, 'range', task.range)
  writeState(writer, task, time)
  return writer.document('keyPattern', task.keyPattern).finish()
}

function writeState(writer: DocumentWriter, state: TaskState, [seconds, increment]: TimestampPair): void {
  if (state.pending) writer.bool('pending', true)
  if (state.processing) writer.bool('processing', true)
  writer
    .string('whenToClean', state.whenToClean)
    .timestamp('timestamp', seconds, increment)
    .int64('numOrphanDocs', state.numOrphanDocs)
}

export interface TaskFields {
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

/** Undefined: a document of a client. */
export function fieldsIn(document: Uint8Array): TaskFields | undefined {
  let id,
    ns,
    collectionUuid,
    donor,
    range,
    keyPattern,
    pending,
    processing,
    whenToClean,
    numOrphanDocs: RawValue | undefined
  // A single pass: each change of a task reads all fields, before and after.
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

export function parseTask(document: Uint8Array): StoredTask | undefined {
  const fields = fieldsIn(document)
  if (fields === undefined) return undefined
  const { pending, processing, whenToClean, numOrphanDocs } = fields
  return new StoredTask(fields, {
    pending: pending?.isTruthy() === true,
    processing: processing?.isTruthy() === true,
    whenToClean: whenToClean?.type === BsonType.string && whenToClean.asName() === 'now' ? 'now' : 'delayed',
    numOrphanDocs: orphansIn(numOrphanDocs),
  })
}

/** Parses fields on access; a changed task copies the other fields unparsed. */
export class StoredTask implements RangeDeletionTask {
  readonly pending: boolean
  readonly processing: boolean
  readonly whenToClean: 'now' | 'delayed'
  readonly numOrphanDocs: number
  readonly #fields: TaskFields

  constructor(fields: TaskFields, { pending, processing, whenToClean, numOrphanDocs }: TaskState) {
    this.#fields = fields
    this.pending = pending
    this.processing = processing
    this.whenToClean = whenToClean
    this.numOrphanDocs = numOrphanDocs
  }

  get id(): Uint8Array {
    return this.#fields.id.asBinary()
  }

  get ns(): string {
    return this.#fields.ns.asName()
  }

  get collectionUuid(): Uint8Array {
    return this.#fields.collectionUuid.asBinary()
  }

  get donorShard(): string {
    return this.#fields.donor.asString()
  }

  get range(): KeyRange {
    return parseRange(this.#fields.range)
  }

  get keyPattern(): Uint8Array {
    return this.#fields.keyPattern.slice()
  }

  with({
    pending = this.pending,
    processing = this.processing,
    whenToClean = this.whenToClean,
    numOrphanDocs = this.numOrphanDocs,
  }: Partial<TaskState>): StoredTask {
    return new StoredTask(this.#fields, { pending, processing, whenToClean, numOrphanDocs })
  }

  write(time: TimestampPair): Uint8Array {
    const { id, ns, collectionUuid, donor, range, keyPattern } = this.#fields
    const writer = new DocumentWriter(384)
      .value('_id', id)
      .value('nss', ns)
      .value('collectionUuid', collectionUuid)
      .value('donorShardId', donor)
      .value('range', range)
    writeState(writer, this, time)
    return writer.value('keyPattern', keyPattern).finish()
  }
}

/** 0 for an invalid number that a client has written. */
export function orphansIn(numOrphanDocs: RawValue | undefined): number {
  const count = Math.trunc(numOrphanDocs?.asNumber() ?? 0)
  return Number.isSafeInteger(count) ? count : 0
}
