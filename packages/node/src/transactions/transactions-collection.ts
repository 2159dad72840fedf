/**
 * `config.transactions`: the newest write of each session. It is computed when it is read. Server:
 * session_txn_record.idl.
 */
import { DocumentWriter } from '@shardlab/bson'
import { noUserDigest } from '@shardlab/member'
import { listingOf, type Collection } from '@shardlab/storage'
import type { RetryHistory } from '../retry/retry-history.js'
import type { SessionImage } from '../retry/retry-history-image.js'

const transactionsNs = 'config.transactions'

/** The same on every member, so that cursors recognize it. */
const transactionsUuid = new Uint8Array([0x74, 0x78, 0x6e, 0x73, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1])

/** Undefined: any other collection. */
export function transactionsCollection(retries: RetryHistory, ns: string): Collection | undefined {
  return ns === transactionsNs ? listingOf(ns, transactionsUuid, documents(retries)) : undefined
}

function* documents(retries: RetryHistory): Generator<Uint8Array> {
  for (const session of retries.export()) if (session.lastOpTime !== null) yield documentOf(session)
}

function documentOf({ key, txnNumber, lastOpTime, lastWriteAtMs, transaction }: SessionImage): Uint8Array {
  const bytes = Buffer.from(key, 'latin1')
  const writer = new DocumentWriter(192)
    .startDocument('_id')
    .uuid('id', bytes.subarray(0, 16))
    .binary('uid', 0, bytes.length > 16 ? bytes.subarray(16) : noUserDigest)
    .end()
    .int64('txnNum', txnNumber)
  const { ts, term } = lastOpTime!
  writer.startDocument('lastWriteOpTime').timestamp('ts', ts[0], ts[1]).int64('t', term).end()
  writer.date('lastWriteDate', lastWriteAtMs)
  if (transaction !== null) writer.string('state', transaction)
  return writer.finish()
}
