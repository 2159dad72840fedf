/**
 * Log entries as clients read them in `local.oplog.rs`: with the fields, types and order of the
 * emulated version. Server: oplog_entry.idl; oplog.cpp of 2.6 and 4.0.
 */
import { DocumentWriter, FieldIterator, findField, firstFieldName, readInt32, type RawValue } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { idIndexSpec } from '@shardlab/storage'
import { modifiersOfDelta } from './modifiers-of-delta.js'

type Layout = Behaviours['oplogEntries']

/** Fields that an entry does not have are left out. */
const orders: Readonly<Record<Layout, readonly string[]>> = {
  hashes: ['ts', 'h', 'v', 'op', 'ns', 'fromMigrate', 'b', 'o2', 'o'],
  'o last': [
    ...['ts', 't', 'h', 'v', 'op', 'ns', 'ui', 'fromMigrate', 'o2', 'wall'],
    ...['lsid', 'txnNumber', 'stmtId', 'prevOpTime', 'o'],
  ],
  'wall first': [
    ...['lsid', 'txnNumber', 'op', 'ns', 'ui', 'o', 'o2', 'ts', 't', 'wall', 'v'],
    ...['fromMigrate', 'stmtId', 'prevOpTime'],
  ],
  'statements last': [
    ...['lsid', 'txnNumber', 'op', 'ns', 'ui', 'o', 'o2', 'ts', 't', 'v', 'wall'],
    ...['fromMigrate', 'stmtId', 'prevOpTime'],
  ],
  'statements first': [
    ...['lsid', 'txnNumber', 'op', 'ns', 'ui', 'o', 'o2', 'needsRetryImage', 'stmtId', 'fromMigrate'],
    ...['ts', 't', 'v', 'wall', 'prevOpTime'],
  ],
}

export function shownEntry(entry: Uint8Array, layout: Layout): Uint8Array {
  const stored = new Map<string, RawValue>()
  for (const it = new FieldIterator(entry); it.next();) stored.set(it.name(), it.value())
  const op = stored.get('op')!.asString()
  const object = stored.get('o')!.slice()
  const hasHash = layout === 'hashes' || layout === 'o last'
  const writer = new DocumentWriter(entry.length + 64)
  for (const name of orders[layout]) {
    const value = stored.get(name)
    if (name === 'o') writer.document('o', shownObject(op, object, layout))
    else if (name === 'h') writer.int64('h', hashOf(stored.get('ts')!))
    else if (name === 'v' && hasHash) writer.int32('v', 2)
    else if (name === 'b') writeJustOne(writer, op)
    else if (value !== undefined) writer.value(name, value)
    else if (name === 'o2' && op === 'i' && layout === 'statements first') writeDocumentKey(writer, object)
  }
  return writer.finish()
}

function writeDocumentKey(writer: DocumentWriter, document: Uint8Array): void {
  const id = findField(document, '_id')
  if (id !== undefined) writer.startDocument('o2').value('_id', id).end()
}

/** Until 2.6 deletes say that they remove at most one document. */
function writeJustOne(writer: DocumentWriter, op: string): void {
  if (op === 'd') writer.bool('b', true)
}

function shownObject(op: string, object: Uint8Array, layout: Layout): Uint8Array {
  if (op === 'u' && layout !== 'statements last' && layout !== 'statements first' && firstFieldName(object) === '$v')
    return modifiersOfDelta(findField(object, 'diff')!, layout !== 'hashes')
  if (op === 'c' && layout !== 'hashes' && firstFieldName(object) === 'create') return withIdIndex(object)
  return object
}

/** Of a `create`. A clustered collection has no `_id` index. */
export function withIdIndex(object: Uint8Array): Uint8Array {
  if (findField(object, 'idIndex') !== undefined || findField(object, 'clusteredIndex') !== undefined) return object
  return new DocumentWriter(object.length + 96).fields(object).document('idIndex', idIndexSpec(object, 2)).finish()
}

/** Distinguishes entries of the same time, as on the server, and has no other meaning. */
function hashOf({ bytes, start }: RawValue): bigint {
  const [increment, seconds] = [readInt32(bytes, start), readInt32(bytes, start + 4)]
  const high = Math.imul(seconds ^ (increment << 16), 0x9e3779b1)
  const low = Math.imul(increment ^ high, 0x85ebca6b)
  return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low >>> 0))
}
