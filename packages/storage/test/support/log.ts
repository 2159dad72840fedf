import { emptyDocument, encode, findField, toRawValue, type Document } from '@shardlab/bson'
import { createMemoryEngine, type LogEntry, type StorageEngine } from '../../src/index.js'

export const uuid = Buffer.from('00112233445566778899aabbccddeeff', 'hex')

let increment = 0

function entry(op: LogEntry['op'], ns: string, object: Uint8Array, id: LogEntry['id']): LogEntry {
  return {
    ...{ ts: [1, ++increment], term: 1, op, ns, uuid, object, id, session: null },
    ...{ wallMs: 1_700_000_000_000, difference: null },
  }
}

export function insertOf(ns: string, document: Document): LogEntry {
  return entry('i', ns, encode(document), null)
}

export function updateOf(ns: string, document: Document): LogEntry {
  const object = encode(document)
  return entry('u', ns, object, findField(object, '_id')!)
}

export function deleteOf(ns: string, id: unknown): LogEntry {
  return entry('d', ns, encode({ _id: id }), toRawValue(id))
}

export function commandOf(db: string, command: Document): LogEntry {
  return entry('c', `${db}.$cmd`, encode(command), null)
}

export function createOf(ns: string, options: Document = {}): LogEntry {
  const [db, ...name] = ns.split('.')
  return commandOf(db!, { create: name.join('.'), ...options })
}

export function createIndexOf(ns: string, key: Document, options: Document = {}): LogEntry {
  const [db, ...name] = ns.split('.')
  const defaultName = Object.entries(key).flat().join('_')
  return commandOf(db!, { createIndexes: name.join('.'), v: 2, key, name: defaultName, ...options })
}

export const noop: LogEntry = { ...entry('n', '', emptyDocument, null), uuid: null }

export function applyAll(engine: StorageEngine, entries: readonly LogEntry[]): void {
  for (const each of entries) engine.apply(each)
}

export function engineWith(...entries: LogEntry[]): StorageEngine {
  const engine = createMemoryEngine()
  applyAll(engine, entries)
  return engine
}
