import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, documentsOf, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { compileFilter, compileUpdate, upsertBase } from '@shardlab/query'
import { executePlan, planQuery, type LogSession } from '@shardlab/storage'
import { fixDocumentForInsert, documentBytesMax } from '../crud/fix-document.js'
import { hintOf } from '../crud/hint.js'
import { collectionForWrite } from '../crud/namespace.js'
import { parseStatement } from '../crud/statement.js'
import { runWriteBatch, type BatchTarget } from '../crud/write-batch.js'
import type { NodeInvocation } from '../invocation.js'

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
    const { host } = invocation
    const upserted: { index: number; id: RawValue }[] = []
    let matched = 0
    let modified = 0
    const count = (index: number, result: StatementResult) => {
      matched += result.matched
      modified += result.modified
      if (result.upsertedId !== null) upserted.push({ index, id: result.upsertedId })
    }
    const tail = await runWriteBatch(invocation, {
      kind: 'update',
      run(statement, index, target, session) {
        host.opcounters.update++
        count(index, applyStatement(invocation, statement, target, session))
      },
      repeat({ op, insertedId }, index) {
        const changed = op === 'u' ? 1 : 0
        count(index, { matched: changed, modified: changed, upsertedId: insertedId })
      },
    })
    const writer = new DocumentWriter(256).int32('n', matched + upserted.length).int32('nModified', modified)
    if (upserted.length > 0) {
      writer.startArray('upserted')
      upserted.forEach(({ index, id }, i) => writer.startDocument(String(i)).int32('index', index).value('_id', id).end())
      writer.end()
    }
    return tail(writer)
  },
}

function applyStatement(
  invocation: NodeInvocation,
  statement: Uint8Array,
  { ns, access }: BatchTarget,
  session: LogSession | null,
): StatementResult {
  const { host, retryable } = invocation
  const args = parseStatement('update', statement)
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
  const collection = host.collection(ns)
  let matched = 0
  let modified = 0
  if (collection !== undefined) {
    const ownership = access.ownership
    const executor = executePlan(
      planQuery(collection, { filter, ...hintOf(args), ...(multi ? {} : { limit: 1 }) }),
      ownership === null ? {} : { rowFilter: (document) => ownership.owns(document) },
    )
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
      if (after.length > documentBytesMax)
        throw new CommandError(17419, `Resulting document after update is larger than ${documentBytesMax}`)
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
