import { CommandArguments } from '@shardlab/actor'
import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import { aggregateSpec } from '@shardlab/member'
import type { ForeignRead } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'

export interface MemberBody {
  readonly merges: boolean
  readonly onShard?: boolean
  readonly nowMs: number
  /** Of a change stream whose events are split. Default false. */
  readonly wantsFragmentTokens?: boolean
}

/**
 * @param options `merges`: the replies are merged, so the client's batch size does not apply to
 *   them; `onShard`: a shard merges and also reads the first batches
 */
export function bodyForMembers(
  { body }: MongosInvocation,
  stages: readonly Uint8Array[],
  { merges, onShard = false, nowMs, wantsFragmentTokens = false }: MemberBody,
): Uint8Array {
  const writer = new DocumentWriter(body.length + 128)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'pipeline') writer.documents('pipeline', stages)
    else if (name === 'cursor' && onShard) writer.startDocument('cursor').int32('batchSize', 0).end()
    else if (name === 'cursor' && merges) writer.startDocument('cursor').end()
    else if (!onlyForWriters.has(name)) writer.value(name, it.value())
  }
  if (wantsFragmentTokens) writer.bool('$_generateV2ResumeTokens', true)
  return writeConstants(writer, nowMs).bool('needsMerge', true).bool('fromMongos', true).finish()
}

export interface MergerBody {
  readonly stages: readonly Uint8Array[]
  readonly source: Uint8Array
  /** With all its fields; null: simple. */
  readonly collation: Uint8Array | null
  readonly nowMs: number
  /** Whether the merger's batches go to the client unchanged. */
  readonly isClients: boolean
}

/** Names the collation because the merging shard may not have the collection. */
export function bodyForMerger(
  { body }: MongosInvocation,
  { stages, source, collation, nowMs, isClients }: MergerBody,
): Uint8Array {
  const writer = new DocumentWriter(body.length + source.length + 256)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'pipeline') writer.documents('pipeline', [source, ...stages])
    else if (name === 'cursor' && !isClients) writer.startDocument('cursor').end()
    else if (!onlyForWriters.has(name) && !collectionFields.has(name)) writer.value(name, it.value())
  }
  return writeConstants(writer, nowMs)
    .document('collation', collation ?? simpleCollation)
    .bool('fromMongos', true)
    .finish()
}

/** Fixes `$$NOW`, so that all parts of the pipeline see the same time. */
function writeConstants(writer: DocumentWriter, nowMs: number): DocumentWriter {
  return writer.startDocument('runtimeConstants').date('localNow', nowMs).end()
}

/** Members do not run $out or $merge for a router, and the router sets the constants. */
const onlyForWriters = new Set(['bypassDocumentValidation', 'writeConcern', 'runtimeConstants'])

/** The merging shard does not read them. */
const collectionFields = new Set(['hint', 'collectionUUID', 'collation'])

const inheritedFields = new Set([
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

export interface ReadSettings {
  /** With all its fields; null: simple. */
  readonly collation: Uint8Array | null
  readonly nowMs: number
}

/**
 * The read of a join as a separate aggregate.
 * @param now the running command: the aggregate itself or a getMore
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
    if (inheritedFields.has(it.name())) writer.value(it.name(), it.value())
  const body = writeConstants(writer, nowMs)
    .document('collation', collation ?? simpleCollation)
    .string('$db', db)
    .finish()
  return {
    ...now,
    concerns: aggregate.concerns,
    ...(aggregate.querySettings === undefined ? {} : { querySettings: aggregate.querySettings }),
    db,
    body,
    args: CommandArguments.parse(body, aggregateSpec.fields),
    sequences: [],
  }
}

/** A missing value becomes `$$REMOVE`. */
function writeVariables(writer: DocumentWriter, variables: ReadonlyMap<string, RawValue | undefined>): void {
  if (variables.size === 0) return
  writer.startDocument('let')
  for (const [name, value] of variables) {
    if (value === undefined) writer.string(name, '$$REMOVE')
    else writer.startDocument(name).value('$literal', value).end()
  }
  writer.end()
}
