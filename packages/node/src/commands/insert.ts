import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { collectionForWrite } from '../crud/namespace.js'
import { fixDocumentForInsert } from '../crud/fix-document.js'
import { isStaleError, writeWriteErrors, type WriteError } from '../crud/write-errors.js'
import { documentsArgument, type NodeInvocation } from '../invocation.js'

/** Most statements of one write command. */
export const writeBatchSizeMax = 100_000

export function checkBatchSize(count: number): void {
  if (count < 1 || count > writeBatchSizeMax) {
    throw new CommandError('InvalidLength', `Write batch sizes must be between 1 and ${writeBatchSizeMax}. Got ${count} operations.`)
  }
}

export const insert: CommandRow<NodeInvocation> = {
  name: 'insert',
  routing: 'shard-key',
  access: 'write',
  manual: 'reference/command/insert',
  status: 'partial',
  missing: 'validators',
  summary: 'Inserts documents.',
  retryable: true,
  fields: { documents: 'array!', ordered: 'bool', bypassDocumentValidation: 'bool', bypassEmptyTsReplacement: 'bool', encryptionInformation: 'object', timeseries: 'any' },
  async run(invocation) {
    const { host, args, db, retryable } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const documents = documentsArgument(invocation, 'documents')
    checkBatchSize(documents.length)
    const ordered = args.bool('ordered') ?? true
    const access = host.role.enter(ns, invocation)
    if (access instanceof Promise) await access
    const errors: WriteError[] = []
    const retried: number[] = []
    let inserted = 0
    for (let index = 0; index < documents.length; index++) {
      const stmtId = retryable?.stmtId(index)
      if (retryable !== null && host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId!) !== undefined) {
        retried.push(stmtId!)
        inserted++
        continue
      }
      try {
        const document = fixDocumentForInsert(host, documents[index]!)
        const collection = collectionForWrite(invocation, ns)
        host.apply({
          op: 'i',
          ns,
          uuid: collection.uuid,
          object: document,
          id: findField(document, '_id')!,
          session: retryable === null ? null : { lsid: retryable.session.document, txnNumber: retryable.txnNumber, stmtIds: [stmtId!] },
        })
        inserted++
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
        errors.push({ index, error })
        if (ordered || isStaleError(error)) break
      }
    }
    host.opcounters.insert += documents.length
    await host.flush()
    const writer = new DocumentWriter(256).int32('n', inserted)
    writeWriteErrors(writer, errors)
    writeRetriedStatements(writer, retried)
    return writer
  },
}

/** `retriedStmtIds`: which statements were not run again. */
export function writeRetriedStatements(writer: DocumentWriter, stmtIds: readonly number[]): void {
  if (stmtIds.length === 0) return
  writer.startArray('retriedStmtIds')
  stmtIds.forEach((stmtId, i) => writer.int32(String(i), stmtId))
  writer.end()
}
