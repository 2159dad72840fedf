import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, Md5 } from '@shardlab/bson'
import { chunksNamespace, chunksOfFile, fileMd5Spec, withContext } from '@shardlab/member'
import { compileFilter, parseSort } from '@shardlab/query'
import { executePlan, planQuery, type Collection } from '@shardlab/storage'
import type { NodeInvocation } from '../host/node-host.js'
import { catchUpKeys } from '../read/catch-up-keys.js'
import { readInTurns, type SteppedWork } from '../read/in-turns.js'
import { checkTableScan } from '../read/table-scan.js'

export const fileMd5: CommandRow<NodeInvocation> = {
  ...fileMd5Spec,
  routing: 'local',
  status: 'partial',
  missing: 'partialOk',
  summary: 'Returns the MD5 hash of a file of GridFS, over its chunks on this member.',
  async run(invocation) {
    const { args, db, host, operation } = invocation
    const ns = chunksNamespace(args, db)
    await catchUpKeys(host, operation, host.collection(ns))
    await host.role.enter(ns, invocation)
    const collection = host.collection(ns)
    const hash = new Md5()
    const count = collection === undefined ? 0 : await readInTurns(invocation, addChunks(collection, invocation, hash))
    return new DocumentWriter(128).int32('numChunks', count).string('md5', hash.text())
  },
}

const noTableScan = { parameters: { bool: () => true } }

/** @returns the number of chunks */
function* addChunks(collection: Collection, { args, host }: NodeInvocation, hash: Md5): SteppedWork<number> {
  const filter = chunksOfFile(args).startDocument('n').int32('$gte', 0).end().finish()
  const sort = parseSort(new DocumentWriter(64).int32('files_id', 1).int32('n', 1).finish())
  const plan = planQuery(collection.snapshot(), { filter: compileFilter(filter, host.evaluation()), sort })
  checkTableScan(noTableScan, plan, undefined)
  const rows = executePlan(plan)
  let count = 0
  for (let row = rows.next(); row !== null; row = rows.next()) {
    try {
      hash.add(dataOf(row.document, count))
    } catch (error) {
      throw withContext(error, 'Executor error during filemd5 command')
    }
    count++
    yield
  }
  return count
}

/** @throws CommandError 10040, 50848, 50849 */
function dataOf(chunk: Uint8Array, number: number): Uint8Array {
  if (Math.trunc(findField(chunk, 'n')!.asNumber()) !== number) throw new CommandError(10040, 'chunks out of order')
  const data = findField(chunk, 'data')
  const expected = 'The element that calls binDataClean() must be type of BinData, but type of'
  // The server's own spelling.
  if (data === undefined) throw new CommandError(50848, `${expected} misisng found. Field name is required`)
  if (data.type !== BsonType.binary) throw new CommandError(50849, `${expected} ${data.type} found.`)
  return data.asBinary()
}
