/**
 * `config.transactions`: the newest write of each session. It is computed when it is read. Server:
 * session_txn_record.idl.
 */
import { DocumentWriter } from '@shardlab/bson'
import { noUserDigest, sessionParts, type SessionParts } from '@shardlab/member'
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
  const session = sessionParts(key)
  const writer = new DocumentWriter(192)
    .startDocument('_id')
    .uuid('id', session.id)
    .binary('uid', 0, session.uid.length > 0 ? session.uid : noUserDigest)
  if (session.txnNumber !== null) writer.int64('txnNumber', session.txnNumber)
  if (session.txnUuid !== null) writer.uuid('txnUUID', session.txnUuid)
  writer.end()
  if (session.txnNumber !== null) writer.document('parentLsid', parentOf(session))
  writer.int64('txnNum', txnNumber)
  const { ts, term } = lastOpTime!
  writer.startDocument('lastWriteOpTime').timestamp('ts', ts[0], ts[1]).int64('t', term).end()
  writer.date('lastWriteDate', lastWriteAtMs)
  if (transaction !== null) writer.string('state', transaction)
  return writer.finish()
}

function parentOf({ id, uid }: SessionParts): Uint8Array {
  return new DocumentWriter(96)
    .uuid('id', id)
    .binary('uid', 0, uid.length > 0 ? uid : noUserDigest)
    .finish()
}
