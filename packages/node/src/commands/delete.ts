import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { executePlan, planQuery } from '@shardlab/storage'
import { hintOf } from '../crud/hint.js'
import { isStaleError, writeWriteErrors, type WriteError } from '../crud/write-errors.js'
import { documentsArgument, type NodeInvocation } from '../invocation.js'
import { parseStatement } from '../crud/statement.js'
import type { Access } from '../role.js'
import { checkBatchSize, writeRetriedStatements } from './insert.js'

const statementFields = { q: 'object!', limit: 'number!', collation: 'object', hint: 'string|object', sampleId: 'any' } as const

export const deleteCommand: CommandRow<NodeInvocation> = {
  name: 'delete',
  routing: 'shard-key',
  access: 'write',
  manual: 'reference/command/delete',
  status: 'partial',
  missing: 'collation',
  summary: 'Deletes one or all documents that match each statement.',
  retryable: true,
  fields: { deletes: 'array!', ordered: 'bool', let: 'object' },
  async run(invocation) {
    const { host, args, db, retryable } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const statements = documentsArgument(invocation, 'deletes')
    checkBatchSize(statements.length)
    const ordered = args.bool('ordered') ?? true
    const entered = host.role.enter(ns, invocation)
    const access = entered instanceof Promise ? await entered : entered
    const errors: WriteError[] = []
    const retried: number[] = []
    let deleted = 0
    for (let index = 0; index < statements.length; index++) {
      try {
        const stmtId = retryable?.stmtId(index) ?? 0
        if (retryable !== null && host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId) !== undefined) {
          retried.push(stmtId)
          deleted++
          continue
        }
        deleted += deleteMatching(invocation, ns, access, statements[index]!, stmtId)
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
        errors.push({ index, error })
        if (ordered || isStaleError(error)) break
      }
    }
    host.opcounters.delete += statements.length
    await host.flush()
    const writer = new DocumentWriter(256).int32('n', deleted)
    writeWriteErrors(writer, errors)
    writeRetriedStatements(writer, retried)
    return writer
  },
}

function deleteMatching(invocation: NodeInvocation, ns: string, access: Access, statement: Uint8Array, stmtId: number): number {
  const { host, retryable } = invocation
  const args = parseStatement('delete.deletes', statement, statementFields)
  const limit = args.number('limit')!
  if (limit !== 0 && limit !== 1) throw new CommandError('FailedToParse', `The limit field in delete objects must be 0 or 1. Got ${limit}`)
  if (limit === 0 && retryable !== null) throw new CommandError('InvalidOptions', 'Cannot use (or request) retryable writes with limit=0')
  if (args.has('collation')) throw new CommandError('InvalidOptions', 'collation is not supported in delete')
  const collection = host.collection(ns)
  if (collection === undefined) return 0
  const filter = compileFilter(args.document('q')!, host.evaluation())
  const ownership = access.ownership
  const executor = executePlan(planQuery(collection, { filter, ...hintOf(args), ...(limit === 1 ? { limit: 1 } : {}) }), ownership === null ? {} : { rowFilter: document => ownership.owns(document) })
  const victims: Uint8Array[] = []
  for (let record = executor.next(); record !== null; record = executor.next()) {
    victims.push(record.document)
    if (limit === 1) break
  }
  for (const document of victims) {
    const id = findField(document, '_id')!
    host.apply({
      op: 'd',
      ns,
      uuid: collection.uuid,
      object: new DocumentWriter(64).value('_id', id).finish(),
      id,
      session: retryable === null ? null : { lsid: retryable.session.document, txnNumber: retryable.txnNumber, stmtIds: [stmtId] },
    })
  }
  return victims.length
}
