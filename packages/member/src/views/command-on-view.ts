/**
 * For nodes and routers. Server: ResolvedView::asExpandedViewAggregation, query_request_helper
 * asAggregationCommand, count_command_as_aggregation_command.cpp,
 * ParsedDistinct::asAggregationCommand, view_response_formatter.cpp.
 */
import {
  BsonType,
  CommandError,
  compareDocuments,
  DocumentWriter,
  documentsOf,
  FieldIterator,
  findField,
  firstFieldName,
  isEmptyDocument,
  type RawValue,
} from '@shardlab/bson'
import { compileCollation } from '@shardlab/query'
import type { ResolvedView } from './resolved-view.js'

/** Arguments that are copied to the aggregate. The collation is that of the view. */
const passedOn = [
  'hint',
  'let',
  'allowDiskUse',
  'maxTimeMS',
  'comment',
  'readConcern',
  'writeConcern',
  'lsid',
  '$clusterTime',
  '$readPreference',
  '$db',
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
]

const findOnly = ['returnKey', 'showRecordId', 'tailable', 'noCursorTimeout', 'allowPartialResults']

/**
 * @param body a find, count, distinct or aggregate on a view
 * @returns the body of an aggregate on the collection below
 * @throws CommandError 167 OptionNotSupportedOnView for another collation than that of the view,
 *   168 InvalidPipelineOperator for options that aggregate does not have
 */
export function commandOnView(body: Uint8Array, view: ResolvedView): Uint8Array {
  checkCollation(body, view)
  const name = firstFieldName(body)
  switch (name) {
    case 'aggregate':
      return expandedAggregate(body, view)
    case 'find':
      return aggregateOn(body, view, findStages(body), findCursor(body))
    case 'count':
      return aggregateOn(body, view, countStages(body), null)
    case 'distinct':
      return aggregateOn(body, view, distinctStages(body), null)
    default:
      throw new CommandError('CommandNotSupportedOnView', `${name} is not supported on views`)
  }
}

/** @param reply of the aggregate */
export function viewReply(command: string, reply: DocumentWriter): DocumentWriter {
  if (command !== 'count' && command !== 'distinct') return reply
  const [document] = firstBatchOf(reply.finish())
  const writer = new DocumentWriter(256)
  if (command === 'count') {
    const count = document === undefined ? 0 : findField(document, 'count')!.asNumber()
    return writer.integer('n', count)
  }
  return document === undefined
    ? writer.startArray('values').end()
    : writer.value('values', findField(document, 'distinct')!)
}

function firstBatchOf(reply: Uint8Array): Uint8Array[] {
  const cursor = findField(reply, 'cursor')!
  return documentsOf(findField(cursor.bytes, 'firstBatch', cursor.start)!)
}

function checkCollation(body: Uint8Array, { collation }: ResolvedView): void {
  const asked = findField(body, 'collation')
  if (asked?.type !== BsonType.object || isEmptyDocument(asked.bytes, asked.start)) return
  const wanted = compileCollation(asked.slice())
  const own = compileCollation(collation)
  const same = wanted === null || own === null ? wanted === own : compareDocuments(wanted.document, own.document) === 0
  if (!same) throw new CommandError('OptionNotSupportedOnView', "Cannot override a view's default collation")
}

function nameBelow({ ns }: ResolvedView): string {
  return ns.slice(ns.indexOf('.') + 1)
}

function expandedAggregate(body: Uint8Array, view: ResolvedView): Uint8Array {
  const writer = new DocumentWriter(body.length + 256).string('aggregate', nameBelow(view))
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'aggregate' || name === 'collation') continue
    if (name === 'pipeline') writer.documents('pipeline', [...view.pipeline, ...documentsOf(it.value())])
    else writer.value(name, it.value())
  }
  return writer.document('collation', view.collation).finish()
}

function aggregateOn(
  body: Uint8Array,
  view: ResolvedView,
  stages: readonly Uint8Array[],
  cursor: Uint8Array | null,
): Uint8Array {
  const writer = new DocumentWriter(body.length + 256)
    .string('aggregate', nameBelow(view))
    .documents('pipeline', [...view.pipeline, ...stages])
  if (cursor === null) writer.startDocument('cursor').end()
  else writer.document('cursor', cursor)
  for (const it = new FieldIterator(body); it.next();)
    if (passedOn.includes(it.name())) writer.value(it.name(), it.value())
  return writer.document('collation', view.collation).finish()
}

function stage(name: string, value: RawValue): Uint8Array {
  return new DocumentWriter(64).value(name, value).finish()
}

function given(body: Uint8Array, name: string): RawValue | undefined {
  const value = findField(body, name)
  if (value === undefined || value.isNullish()) return undefined
  return value.type === BsonType.object && isEmptyDocument(value.bytes, value.start) ? undefined : value
}

function refuseFindOptions(body: Uint8Array): void {
  const refuse = (name: string): never => {
    throw new CommandError('InvalidPipelineOperator', `Option ${name} not supported in aggregation.`)
  }
  for (const name of ['min', 'max']) if (given(body, name) !== undefined) refuse(name)
  for (const name of findOnly) if (findField(body, name)?.isTruthy() === true) refuse(name)
  const sort = given(body, 'sort')
  if (sort?.type === BsonType.object && findField(sort.bytes, '$natural', sort.start) !== undefined)
    throw new CommandError('InvalidPipelineOperator', 'Sort option $natural not supported in aggregation.')
  if (findField(body, 'singleBatch')?.isTruthy() === true && findField(body, 'limit')?.asNumber() !== 1)
    refuse('singleBatch')
}

function findStages(body: Uint8Array): Uint8Array[] {
  refuseFindOptions(body)
  const stages: Uint8Array[] = []
  const filter = given(body, 'filter')
  if (filter !== undefined) stages.push(stage('$match', filter))
  const sort = given(body, 'sort')
  if (sort !== undefined) stages.push(stage('$sort', sort))
  const skip = given(body, 'skip')
  if (skip?.isTruthy() === true) stages.push(stage('$skip', skip))
  const limit = given(body, 'limit')
  if (limit?.isTruthy() === true) stages.push(stage('$limit', limit))
  const projection = given(body, 'projection')
  if (projection !== undefined) stages.push(stage('$project', projection))
  return stages
}

function findCursor(body: Uint8Array): Uint8Array | null {
  const batchSize = given(body, 'batchSize')
  return batchSize === undefined ? null : new DocumentWriter(32).value('batchSize', batchSize).finish()
}

function countStages(body: Uint8Array): Uint8Array[] {
  const stages: Uint8Array[] = []
  const query = given(body, 'query')
  if (query !== undefined) stages.push(stage('$match', query))
  const skip = given(body, 'skip')
  if (skip?.isTruthy() === true) stages.push(stage('$skip', skip))
  const limit = Math.abs(given(body, 'limit')?.asNumber() ?? 0)
  if (limit > 0) stages.push(new DocumentWriter(32).int64('$limit', Math.trunc(limit)).finish())
  stages.push(new DocumentWriter(32).string('$count', 'count').finish())
  return stages
}

/** Arrays count as their elements, as in a distinct on a collection. */
function distinctStages(body: Uint8Array): Uint8Array[] {
  const stages: Uint8Array[] = []
  const query = given(body, 'query')
  if (query !== undefined) stages.push(stage('$match', query))
  const key = findField(body, 'key')?.asString() ?? ''
  const parts = key.split('.')
  parts.forEach((_, i) => {
    const path = parts.slice(0, i + 1).join('.')
    stages.push(
      new DocumentWriter(96)
        .startDocument('$unwind')
        .string('path', `$${path}`)
        .bool('preserveNullAndEmptyArrays', true)
        .end()
        .finish(),
    )
    if (i < parts.length - 1) stages.push(objectsOnly(path))
  })
  stages.push(
    new DocumentWriter(96)
      .startDocument('$group')
      .null('_id')
      .startDocument('distinct')
      .string('$addToSet', `$${key}`)
      .end()
      .end()
      .finish(),
  )
  return stages
}

function objectsOnly(path: string): Uint8Array {
  return new DocumentWriter(96)
    .startDocument('$match')
    .startDocument('$expr')
    .startArray('$eq')
    .startDocument('0')
    .string('$type', `$${path}`)
    .end()
    .string('1', 'object')
    .end()
    .end()
    .end()
    .finish()
}
