/** Documents of `config.transaction_coordinators`. Server: transaction_coordinator_document.idl. */
import { timestampPair, type TimestampPair } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, elementsOf, findField } from '@shardlab/bson'
import type { RecordShape } from '../common/record-store.js'

export const coordinatorsNs = 'config.transaction_coordinators'

export interface TransactionId {
  readonly lsid: Uint8Array
  readonly txnNumber: bigint
}

export type Decision =
  | { readonly outcome: 'commit'; readonly commitTime: TimestampPair }
  | { readonly outcome: 'abort'; readonly cause: CommandError }

export interface CoordinatorRecord {
  readonly id: TransactionId
  readonly participants: readonly string[]
  /** Null: not decided. */
  readonly decision: Decision | null
}

export const coordinatorRecords: RecordShape<CoordinatorRecord, TransactionId> = {
  ns: coordinatorsNs,
  id: (id) => findField(withId(new DocumentWriter(128), id).finish(), '_id')!,
  write({ id, participants, decision }) {
    const writer = withId(new DocumentWriter(256), id).startArray('participants')
    participants.forEach((shard, i) => writer.string(String(i), shard))
    writer.end()
    if (decision !== null) writeDecision(writer, decision)
    return writer.finish()
  },
  read(document) {
    const participants = findField(document, 'participants')
    // Moves of documents have records of their own here.
    if (participants?.type !== BsonType.array) return undefined
    const id = findField(document, '_id')!
    const decision = findField(document, 'decision')
    return {
      id: {
        lsid: findField(id.bytes, 'lsid', id.start)!.slice(),
        txnNumber: findField(id.bytes, 'txnNumber', id.start)!.asBigInt(),
      },
      participants: elementsOf(participants).map((value) => value.asString()),
      decision: decision === undefined ? null : readDecision(decision.slice()),
    }
  },
}

function withId(writer: DocumentWriter, { lsid, txnNumber }: TransactionId): DocumentWriter {
  return writer.startDocument('_id').document('lsid', lsid).int64('txnNumber', txnNumber).end()
}

/** Appends the field `decision`. */
export function writeDecision(writer: DocumentWriter, decision: Decision): void {
  writer.startDocument('decision').string('decision', decision.outcome)
  if (decision.outcome === 'commit') {
    const [seconds, increment] = decision.commitTime
    writer.timestamp('commitTimestamp', seconds, increment)
  } else {
    const { code, message } = decision.cause
    writer.startDocument('abortStatus').int32('code', code).string('errmsg', message).end()
  }
  writer.end()
}

function readDecision(document: Uint8Array): Decision {
  const time = findField(document, 'commitTimestamp')
  if (time !== undefined) return { outcome: 'commit', commitTime: timestampPair(time) }
  const status = findField(document, 'abortStatus')!.slice()
  const cause = new CommandError(findField(status, 'code')!.asNumber(), findField(status, 'errmsg')!.asString())
  return { outcome: 'abort', cause }
}
