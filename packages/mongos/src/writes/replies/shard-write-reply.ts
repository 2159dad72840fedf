/** Server: batched_command_response.cpp, bulk_write_reply_info. */
import {
  CommandError,
  documentsOf,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findField,
  readInt32,
  writeInt32,
} from '@shardlab/bson'
import { emptySummary, type BulkWriteSummary } from '@shardlab/member'

/** Indexes are positions in the batch that was sent to the shard. */
export interface ShardWriteReply {
  /** Documents matched, inserted or deleted. Undefined: an unacknowledged write. */
  readonly n: number | undefined
  readonly nModified: number
  readonly upserted: readonly Uint8Array[]
  /** `{ index, code, errmsg, … }`; for a bulkWrite, its error items. */
  readonly writeErrors: readonly Uint8Array[]
  readonly writeConcernError: Uint8Array | null
  readonly retriedStmtIds: readonly number[]
  /** Null: not a bulkWrite. */
  readonly bulk: { readonly items: readonly Uint8Array[]; readonly summary: BulkWriteSummary } | null
}

const noDocuments: readonly Uint8Array[] = []
const noNumbers: readonly number[] = []

export function readShardWriteReply(body: Uint8Array): ShardWriteReply {
  let n: number | undefined
  let nModified = 0
  let upserted = noDocuments
  let writeErrors = noDocuments
  let writeConcernError: Uint8Array | null = null
  let retriedStmtIds = noNumbers
  let items: Uint8Array[] | null = null
  const summary = emptySummary()
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    switch (name) {
      case 'n':
        n = it.value().asNumber()
        break
      case 'upserted':
        upserted = documentsOf(it.value())
        break
      case 'writeErrors':
        writeErrors = documentsOf(it.value())
        break
      case 'writeConcernError':
        writeConcernError = it.value().slice()
        break
      case 'retriedStmtIds':
        retriedStmtIds = elementsOf(it.value()).map((id) => id.asNumber())
        break
      case 'cursor':
        items = documentsOf(findField(body, 'firstBatch', it.value().start)!)
        break
      default:
        if (name in summary) summary[name as keyof BulkWriteSummary] = it.value().asNumber()
    }
  }
  nModified = summary.nModified
  if (items === null) return { n, nModified, upserted, writeErrors, writeConcernError, retriedStmtIds, bulk: null }
  n = summary.nInserted + summary.nMatched + summary.nUpserted + summary.nDeleted
  writeErrors = items.filter((item) => findField(item, 'ok')!.asNumber() === 0)
  return { n, nModified, upserted, writeErrors, writeConcernError, retriedStmtIds, bulk: { items, summary } }
}

function indexField(entry: Uint8Array): number {
  return (findField(entry, 'index') ?? findField(entry, 'idx')!).start
}

/** `index` of an entry of `writeErrors` or `upserted`, `idx` of a bulkWrite's item. */
export function indexIn(entry: Uint8Array): number {
  return readInt32(entry, indexField(entry))
}

export function codeIn(entry: Uint8Array): number {
  return findField(entry, 'code')!.asNumber()
}

export function withIndex(entry: Uint8Array, index: number): Uint8Array {
  const moved = new Uint8Array(entry)
  writeInt32(moved, indexField(entry), index)
  return moved
}

export function writeErrorEntry(
  index: number,
  { code, extra, message }: Pick<CommandError, 'code' | 'extra' | 'message'>,
): Uint8Array {
  const writer = new DocumentWriter(128).int32('index', index).int32('code', code)
  if (extra !== null) writer.fields(extra)
  return writer.string('errmsg', message).finish()
}
