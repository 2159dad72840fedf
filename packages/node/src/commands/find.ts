import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, emptyDocument, FieldIterator, findField, isEmptyDocument, nullValue } from '@shardlab/bson'
import { compileFilter, compileProjection, equalityValues, parseSort, sortKeyValues, type SortPattern } from '@shardlab/query'
import { executePlan, planQuery } from '@shardlab/storage'
import { defaultFirstBatch, type DocumentSource } from '../cursors/cursor-manager.js'
import { writeFirstBatch } from '../cursors/cursor-reply.js'
import { emptySource } from '../crud/read-source.js'
import { hintOf } from '../crud/hint.js'
import { nonNegative } from '../crud/read-arguments.js'
import type { NodeInvocation } from '../invocation.js'
import type { Access } from '../role.js'

export const findFields = {
  filter: 'object',
  sort: 'object',
  projection: 'object',
  hint: 'string|object',
  skip: 'number',
  limit: 'number',
  batchSize: 'number',
  singleBatch: 'bool',
  max: 'object',
  min: 'object',
  returnKey: 'bool',
  showRecordId: 'bool',
  tailable: 'bool',
  awaitData: 'bool',
  oplogReplay: 'bool',
  noCursorTimeout: 'bool',
  allowPartialResults: 'bool',
  allowDiskUse: 'bool',
  collation: 'object',
  let: 'object',
} as const

export const find: CommandRow<NodeInvocation> = {
  name: 'find',
  routing: 'shard-key',
  access: 'read',
  manual: 'reference/command/find',
  status: 'partial',
  missing: 'collation, min, max, returnKey, showRecordId, tailable cursors',
  summary: 'Selects documents and opens a cursor on them.',
  fields: findFields,
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const entered = host.role.enter(ns, invocation)
    const access = entered instanceof Promise ? await entered : entered
    host.opcounters.query++
    const batchSize = nonNegative(args, 'batchSize') ?? defaultFirstBatch
    const source = openFind(invocation, ns, access, batchSize)
    return writeFirstBatch(invocation, ns, source, {
      batchSize,
      singleBatch: (args.bool('singleBatch') ?? false) || (args.number('limit') === 1 && batchSize > 0),
      laterBatchSize: args.has('batchSize') ? batchSize : 0,
      noTimeout: args.bool('noCursorTimeout') ?? false,
    })
  },
}

const unsupported = ['collation', 'min', 'max'] as const

function openFind(invocation: NodeInvocation, ns: string, access: Access, batchSize: number): DocumentSource {
  const { host, args } = invocation
  for (const name of unsupported) {
    const document = args.document(name)
    if (
      document !== undefined &&
      !isEmptyDocument(document) &&
      !(name === 'collation' && findField(document, 'locale')?.asString() === 'simple')
    ) {
      throw new CommandError('InvalidOptions', `${name} is not supported in find`)
    }
  }
  for (const name of ['tailable', 'awaitData', 'returnKey', 'showRecordId'] as const) {
    if (args.bool(name) === true) throw new CommandError('InvalidOptions', `${name} is not supported in find`)
  }
  const context = host.evaluation()
  const filter = compileFilter(args.document('filter') ?? emptyDocument, context)
  const sortDocument = args.document('sort')
  const sort = sortDocument !== undefined && !isEmptyDocument(sortDocument) ? parseSort(sortDocument) : undefined
  const { projection, wantsSortKey } = splitSortKeyProjection(args.document('projection'))
  const project = projection === undefined ? undefined : compileProjection(projection, context)
  const skip = nonNegative(args, 'skip') ?? 0
  const limit = nonNegative(args, 'limit') ?? 0
  const live = host.collection(ns)
  if (live === undefined) return emptySource
  // One document fits the first batch for sure, so the live trees do; a cursor that stays open needs its own picture.
  const endsAtOnce = batchSize > 0 && (limit === 1 || equalityValues(filter.root, ['_id']) !== null)
  const collection = endsAtOnce ? live : live.snapshot()
  const ownership = access.ownership
  const executor = executePlan(
    planQuery(collection, { filter, ...(sort === undefined ? {} : { sort }), ...hintOf(args), skip, limit }),
    ownership === null ? {} : { rowFilter: (document) => ownership.owns(document) },
  )
  return {
    next() {
      const record = executor.next()
      if (record === null) return null
      const document = project === undefined ? record.document : project.apply(record.document)
      return wantsSortKey && sort !== undefined ? withSortKey(document, record.document, sort) : document
    },
  }
}

/** Routers ask for `$sortKey: { $meta: 'sortKey' }` to merge sorted streams; it is no part of the user's projection. */
function splitSortKeyProjection(projection: Uint8Array | undefined): { projection?: Uint8Array; wantsSortKey: boolean } {
  if (projection === undefined || isEmptyDocument(projection)) return { wantsSortKey: false }
  if (findField(projection, '$sortKey') === undefined) return { projection, wantsSortKey: false }
  const writer = new DocumentWriter(projection.length)
  for (const it = new FieldIterator(projection); it.next();) if (it.name() !== '$sortKey') writer.value(it.name(), it.value())
  const rest = writer.finish()
  return isEmptyDocument(rest) ? { wantsSortKey: true } : { projection: rest, wantsSortKey: true }
}

function withSortKey(document: Uint8Array, full: Uint8Array, sort: SortPattern): Uint8Array {
  const writer = new DocumentWriter(document.length + 64).fields(document).startArray('$sortKey')
  sortKeyValues(full, sort).forEach((value, i) => writer.value(String(i), value ?? nullValue))
  return writer.end().finish()
}
