import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, documentsOf, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { compileFilter, compileUpdate, upsertBase } from '@shardlab/query'
import { executePlan, planQuery } from '@shardlab/storage'
import { fixDocumentForInsert, documentBytesMax } from '../crud/fix-document.js'
import { hintOf } from '../crud/hint.js'
import { collectionForWrite } from '../crud/namespace.js'
import { parseStatement } from '../crud/statement.js'
import { isStaleError, writeWriteErrors, type WriteError } from '../crud/write-errors.js'
import { documentsArgument, type NodeInvocation } from '../invocation.js'
import type { Access } from '../role.js'
import { checkBatchSize, writeRetriedStatements } from './insert.js'

const statementFields = {
  q: 'object!',
  u: 'array|object!',
  c: 'object',
  multi: 'bool',
  upsert: 'bool',
  arrayFilters: 'array',
  collation: 'object',
  hint: 'string|object',
  sort: 'object',
  sampleId: 'any',
  upsertSupplied: 'bool',
} as const

interface StatementResult {
  readonly matched: number
  readonly modified: number
  readonly upsertedId: RawValue | null
}

export const update: CommandRow<NodeInvocation> = {
  name: 'update',
  routing: 'shard-key',
  access: 'write',
  manual: 'reference/command/update',
  status: 'partial',
  missing: 'collation, sort',
  summary: 'Updates, replaces or upserts documents.',
  retryable: true,
  fields: { updates: 'array!', ordered: 'bool', bypassDocumentValidation: 'bool', bypassEmptyTsReplacement: 'bool', let: 'object' },
  async run(invocation) {
    const { host, args, db, retryable } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const statements = documentsArgument(invocation, 'updates')
    checkBatchSize(statements.length)
    const ordered = args.bool('ordered') ?? true
    const entered = host.role.enter(ns, invocation)
    const access = entered instanceof Promise ? await entered : entered
    const errors: WriteError[] = []
    const retried: number[] = []
    const upserted: { index: number; id: RawValue }[] = []
    let matched = 0
    let modified = 0
    for (let index = 0; index < statements.length; index++) {
      try {
        const stmtId = retryable?.stmtId(index) ?? 0
        const executed = retryable === null ? undefined : host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId)
        let result: StatementResult
        if (executed !== undefined) {
          retried.push(stmtId)
          result = { matched: executed.op === 'u' ? 1 : 0, modified: executed.op === 'u' ? 1 : 0, upsertedId: executed.insertedId }
        } else result = applyStatement(invocation, ns, access, statements[index]!, stmtId)
        matched += result.matched
        modified += result.modified
        if (result.upsertedId !== null) upserted.push({ index, id: result.upsertedId })
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
        errors.push({ index, error })
        if (ordered || isStaleError(error)) break
      }
    }
    host.opcounters.update += statements.length
    await host.flush()
    const writer = new DocumentWriter(256).int32('n', matched + upserted.length).int32('nModified', modified)
    if (upserted.length > 0) {
      writer.startArray('upserted')
      upserted.forEach(({ index, id }, i) => writer.startDocument(String(i)).int32('index', index).value('_id', id).end())
      writer.end()
    }
    writeWriteErrors(writer, errors)
    writeRetriedStatements(writer, retried)
    return writer
  },
}

function applyStatement(invocation: NodeInvocation, ns: string, access: Access, statement: Uint8Array, stmtId: number): StatementResult {
  const { host, retryable } = invocation
  const args = parseStatement('update.updates', statement, statementFields)
  const multi = args.bool('multi') ?? false
  if (multi && retryable !== null) throw new CommandError('InvalidOptions', 'Cannot use retryable writes with multi=true')
  if (args.has('collation')) throw new CommandError('InvalidOptions', 'collation is not supported in update')
  if (args.has('sort')) throw new CommandError('InvalidOptions', 'sort is not supported in update')
  const context = host.evaluation()
  const filter = compileFilter(args.document('q')!, context)
  const u = args.value('u')!
  const change = compileUpdate(
    u.type === BsonType.array ? { pipeline: documentsOf(u) } : { document: u.slice() },
    args.has('arrayFilters') ? { arrayFilters: args.documents('arrayFilters')! } : {},
    context,
  )
  if (multi && change.isReplacement) throw new CommandError('FailedToParse', 'multi update is not supported for replacement-style update')
  const session = retryable === null ? null : { lsid: retryable.session.document, txnNumber: retryable.txnNumber, stmtIds: [stmtId] }
  const collection = host.collection(ns)
  let matched = 0
  let modified = 0
  if (collection !== undefined) {
    const ownership = access.ownership
    const executor = executePlan(planQuery(collection, { filter, ...hintOf(args), ...(multi ? {} : { limit: 1 }) }), ownership === null ? {} : { rowFilter: document => ownership.owns(document) })
    // All matches are found before the first change: a changed document must not be met again.
    const targets: Uint8Array[] = []
    for (let record = executor.next(); record !== null; record = executor.next()) {
      targets.push(record.document)
      if (!multi) break
    }
    for (const before of targets) {
      matched++
      const after = change.apply(before, { filter })
      if (after === null) continue
      if (after.length > documentBytesMax) throw new CommandError(17419, `Resulting document after update is larger than ${documentBytesMax}`)
      host.role.checkReplacement(access, before, after, invocation)
      host.apply({ op: 'u', ns, uuid: collection.uuid, object: after, id: findField(before, '_id')!, session })
      modified++
    }
  }
  if (matched > 0 || args.bool('upsert') !== true) return { matched, modified, upsertedId: null }
  const base = upsertBase(filter)
  const document = fixDocumentForInsert(host, change.apply(base, { isInsert: true, filter }) ?? base)
  const id = findField(document, '_id')!
  host.apply({ op: 'i', ns, uuid: collectionForWrite(invocation, ns).uuid, object: document, id, session })
  return { matched: 0, modified: 0, upsertedId: id }
}
