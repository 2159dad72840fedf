/**
 * Log entries of what one document becomes outside of sessions, as nearly all are: how long one is can be told before it is written, and it is
 * written where it is wanted.
 */
import { BsonType, findField, writeInt32, writeInt64Number } from '@shardlab/bson'
import { encodeLogEntry, type LogEntry } from './log-entry.js'

const uuidBytes = 16
/** Where the letter of the operation stands. */
const operationAt = 12
/** Of `o`, `o2` around the value of `_id`, `ts`, `wall` and the end of the entry. */
const objectHeaderBytes = 3
const idBytes = 14
const timeBytes = 12
const wallBytes = 14
const endBytes = 1

/** What entries of one namespace begin with, up to the bytes of `ui`. */
const heads = new Map<string, Uint8Array>()
const headsMax = 1024

/** Of what {@link encodeLogEntry} makes of the entry, in bytes; -1: {@link writePlainEntry} does not write such entries. */
export function plainEntryLength({ op, ns, uuid, object, id, session }: LogEntry): number {
  if (session !== null || uuid?.length !== uuidBytes || op === 'n') return -1
  const rest = objectHeaderBytes + object.length + timeBytes + wallBytes + endBytes
  return headOf(ns).length + uuidBytes + rest + (op === 'u' && id !== null ? idBytes + id.end - id.start : 0)
}

/** Writes the bytes that {@link encodeLogEntry} gives. */
export function writePlainEntry(
  { op, ns, uuid, object, id, ts, wallMs }: LogEntry,
  target: Uint8Array,
  start: number,
): void {
  const head = headOf(ns)
  target.set(head, start)
  target[start + operationAt] = op.charCodeAt(0)
  let at = start + head.length
  for (let i = 0; i < uuidBytes; i++) target[at++] = uuid![i]!
  target[at++] = BsonType.object
  target[at++] = letter.o
  target[at++] = 0
  target.set(object, at)
  at += object.length
  if (op === 'u' && id !== null) {
    const length = id.end - id.start
    target[at] = BsonType.object
    target[at + 1] = letter.o
    target[at + 2] = letter.two
    target[at + 3] = 0
    writeInt32(target, at + 4, idBytes - 4 + length)
    target[at + 8] = id.type
    target[at + 9] = letter.underscore
    target[at + 10] = letter.i
    target[at + 11] = letter.d
    target[at + 12] = 0
    at += 13
    for (let i = 0; i < length; i++) target[at + i] = id.bytes[id.start + i]!
    target[at + length] = 0
    at += length + 1
  }
  for (let i = 0; i < times.length; i++) target[at + i] = times[i]!
  writeInt32(target, at + 4, ts[1])
  writeInt32(target, at + 8, ts[0])
  writeInt64Number(target, at + timeBytes + 6, wallMs)
  at += timeBytes + wallBytes + endBytes
  writeInt32(target, start, at - start)
}

function headOf(ns: string): Uint8Array {
  const known = heads.get(ns)
  if (known !== undefined) return known
  const model = encodeLogEntry({ ...emptyInsert, ns })
  const head = model.slice(0, findField(model, 'ui')!.end - uuidBytes)
  if (heads.size >= headsMax) heads.clear()
  heads.set(ns, head)
  return head
}

const letter = { o: 0x6f, two: 0x32, underscore: 0x5f, i: 0x69, d: 0x64 } as const

const emptyInsert: LogEntry = {
  op: 'i',
  ns: '',
  uuid: new Uint8Array(uuidBytes),
  object: new Uint8Array([5, 0, 0, 0, 0]),
  id: null,
  session: null,
  ts: [0, 0],
  wallMs: 0,
}

/** The end of an entry, `ts` and `wall` still 0. */
const times = encodeLogEntry(emptyInsert).slice(-(timeBytes + wallBytes + endBytes))
