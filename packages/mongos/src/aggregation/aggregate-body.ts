/** The commands that a router makes of a client's aggregate. */
import { CommandArguments } from '@shardlab/actor'
import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import { aggregateSpec } from '@shardlab/member'
import type { ForeignRead } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'

/**
 * The part of the pipeline that members run.
 * @param options `merges`: somebody goes on with what they send, so that batches are not the client's; `onShard`: a shard does, and reads
 *   the first batch, too
 */
export function bodyForMembers(
  { body }: MongosInvocation,
  stages: readonly Uint8Array[],
  { merges, onShard = false, nowMs }: { readonly merges: boolean; readonly onShard?: boolean; readonly nowMs: number },
): Uint8Array {
  const writer = new DocumentWriter(body.length + 128)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'pipeline') writer.documents('pipeline', stages)
    else if (name === 'cursor' && onShard) writer.startDocument('cursor').int32('batchSize', 0).end()
    else if (name === 'cursor' && merges) writer.startDocument('cursor').end()
    else if (!onlyForWriters.has(name)) writer.value(name, it.value())
  }
  return writeConstants(writer, nowMs).bool('needsMerge', true).bool('fromMongos', true).finish()
}

/** What whoever merges is to go on with. */
export interface MergerBody {
  readonly stages: readonly Uint8Array[]
  /** Its `$mergeCursors`. */
  readonly source: Uint8Array
  /** With all its fields; null: the simple one. */
  readonly collation: Uint8Array | null
  readonly nowMs: number
  /** The batches are the client's. */
  readonly isClients: boolean
}

/** The part of the pipeline that one shard runs on what the others send; its collation is told, as that shard need not have the collection. */
export function bodyForMerger(
  { body }: MongosInvocation,
  { stages, source, collation, nowMs, isClients }: MergerBody,
): Uint8Array {
  const writer = new DocumentWriter(body.length + source.length + 256)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'pipeline') writer.documents('pipeline', [source, ...stages])
    else if (name === 'cursor' && !isClients) writer.startDocument('cursor').end()
    else if (!onlyForWriters.has(name) && !ofTheCollection.has(name)) writer.value(name, it.value())
  }
  return writeConstants(writer, nowMs)
    .document('collation', collation ?? simpleCollation)
    .bool('fromMongos', true)
    .finish()
}

/** What `$$NOW` is: the same wherever a part of the pipeline runs. */
function writeConstants(writer: DocumentWriter, nowMs: number): DocumentWriter {
  return writer.startDocument('runtimeConstants').date('localNow', nowMs).end()
}

/** Members run no $out and no $merge for a router, and the constants are the router's. */
const onlyForWriters = new Set(['bypassDocumentValidation', 'writeConcern', 'runtimeConstants'])

/** What is said of the collection, which the merging shard does not read. */
const ofTheCollection = new Set(['hint', 'collectionUUID', 'collation'])

/** What a join's read takes over from the aggregate that it is part of. */
const passedOn = new Set([
  'allowDiskUse',
  'readConcern',
  'comment',
  '$readPreference',
  'lsid',
  '$clusterTime',
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
])

const simpleCollation = new DocumentWriter(32).string('locale', 'simple').finish()

/** What holds for all reads of an aggregate. */
export interface ReadSettings {
  /** With all its fields; null: the simple one. */
  readonly collation: Uint8Array | null
  readonly nowMs: number
}

/**
 * A join's read as an aggregate of its own.
 * @param now the command that runs now, the aggregate itself or a getMore
 * @param settings of the aggregate
 */
export function invocationOfRead(
  aggregate: MongosInvocation,
  now: MongosInvocation,
  { db, collection, stages, variables }: ForeignRead,
  { collation, nowMs }: ReadSettings,
): MongosInvocation {
  const writer = new DocumentWriter(512)
  if (collection === null) writer.int32('aggregate', 1)
  else writer.string('aggregate', collection)
  writer.documents('pipeline', stages).startDocument('cursor').end()
  writeVariables(writer, variables)
  for (const it = new FieldIterator(aggregate.body); it.next();)
    if (passedOn.has(it.name())) writer.value(it.name(), it.value())
  const body = writeConstants(writer, nowMs)
    .document('collation', collation ?? simpleCollation)
    .string('$db', db)
    .finish()
  return {
    ...now,
    concerns: aggregate.concerns,
    db,
    body,
    args: CommandArguments.parse(body, aggregateSpec.fields),
    sequences: [],
  }
}

/** Their values are no expressions; what is missing stays so. */
function writeVariables(writer: DocumentWriter, variables: ReadonlyMap<string, RawValue | undefined>): void {
  if (variables.size === 0) return
  writer.startDocument('let')
  for (const [name, value] of variables) {
    if (value === undefined) writer.string(name, '$$REMOVE')
    else writer.startDocument(name).value('$literal', value).end()
  }
  writer.end()
}
