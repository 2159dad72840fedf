/**
 * Writes log entries for single documents outside of sessions, the usual case, in place: their
 * length is known before they are written.
 */
import { BsonType, DocumentWriter, emptyDocument, findField, writeInt32, writeInt64Number } from '@shardlab/bson'
import { encodeLogEntry, uninitializedTerm, type LogEntry } from './log-entry.js'

const uuidBytes = 16
const operationAt = 12
/** Sizes of `o`, of `o2`, and of `o2` around the value of `_id`. */
const objectHeaderBytes = 3
const keyHeaderBytes = 4
const idBytes = 14
/** In the {@link tail}: where the values of `ts`, `t` and `wall` begin. */
const timeAt = 4
const termAt = 12 + 3
const wallAt = 12 + 11 + 11 + 6

/** The bytes of an entry up to `ui`, by namespace. */
const prefixes = new Map<string, Uint8Array>()
const prefixesMax = 1024

/**
 * Size in bytes of {@link encodeLogEntry}'s result; -1: {@link writePlainEntry} does not support
 * the entry.
 */
export function plainEntryLength(entry: LogEntry): number {
  const { op, ns, uuid, object, id, session, difference, term, o2 } = entry
  if (session !== null || uuid?.length !== uuidBytes || op === 'n' || term === uninitializedTerm) return -1
  if (entry.fromMigrate === true) return -1
  const objectBytes = difference === null ? object.length : deltaBytes + difference.length
  const rest = objectHeaderBytes + objectBytes + tail.length
  const before = prefixOf(ns).length + uuidBytes + rest
  if (o2 !== undefined) return before + keyElementLength(o2)
  return before + (op === 'u' && id !== null ? idBytes + id.end - id.start : 0)
}

/** Writes the same bytes as {@link encodeLogEntry}. */
export function writePlainEntry(
  { op, ns, uuid, object, id, ts, term, wallMs, difference, o2 }: LogEntry,
  target: Uint8Array,
  start: number,
): void {
  const prefix = prefixOf(ns)
  target.set(prefix, start)
  target[start + operationAt] = op.charCodeAt(0)
  let at = start + prefix.length
  for (let i = 0; i < uuidBytes; i++) target[at++] = uuid![i]!
  target[at++] = BsonType.object
  target[at++] = letter.o
  target[at++] = 0
  if (difference === null) {
    target.set(object, at)
    at += object.length
  } else at = writeDelta(difference, target, at)
  if (o2 !== undefined) at = writeKey(o2, target, at)
  else if (op === 'u' && id !== null) {
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
  for (let i = 0; i < tail.length; i++) target[at + i] = tail[i]!
  writeInt32(target, at + timeAt, ts[1])
  writeInt32(target, at + timeAt + 4, ts[0])
  writeInt32(target, at + termAt, term)
  writeInt64Number(target, at + wallAt, wallMs)
  at += tail.length
  writeInt32(target, start, at - start)
}

export const keyElementLength = (o2: Uint8Array | null): number => (o2 === null ? 0 : keyHeaderBytes + o2.length)

/** @returns the end */
export function writeKey(o2: Uint8Array, target: Uint8Array, at: number): number {
  target[at] = BsonType.object
  target[at + 1] = letter.o
  target[at + 2] = letter.two
  target[at + 3] = 0
  target.set(o2, at + keyHeaderBytes)
  return at + keyHeaderBytes + o2.length
}

/** `{ $v: 2, diff }`. @returns the end */
function writeDelta(difference: Uint8Array, target: Uint8Array, start: number): number {
  target.set(emptyDelta, start)
  const at = start + deltaBytes - 1
  target.set(difference, at)
  target[at + difference.length] = 0
  const end = at + difference.length + 1
  writeInt32(target, start, end - start)
  return end
}

function prefixOf(ns: string): Uint8Array {
  const known = prefixes.get(ns)
  if (known !== undefined) return known
  const model = encodeLogEntry({ ...emptyInsert, ns })
  // A view would keep the whole block of its writer.
  const prefix = Uint8Array.from(model.subarray(0, findField(model, 'ui')!.end - uuidBytes))
  if (prefixes.size >= prefixesMax) prefixes.clear()
  prefixes.set(ns, prefix)
  return prefix
}

/** Up to the value of `diff`. */
const emptyDelta = new DocumentWriter().int32('$v', 2).document('diff', emptyDocument).finish().slice(0, -6)
/** Of `{ $v: 2, diff }` around the difference. */
const deltaBytes = emptyDelta.length + 1

const letter = { o: 0x6f, two: 0x32, underscore: 0x5f, i: 0x69, d: 0x64 } as const

const emptyInsert: LogEntry = {
  op: 'i',
  ns: '',
  uuid: new Uint8Array(uuidBytes),
  object: new Uint8Array([5, 0, 0, 0, 0]),
  id: null,
  session: null,
  ts: [0, 0],
  term: 0,
  wallMs: 0,
  difference: null,
}

const tailBytes = 12 + 11 + 11 + 14 + 1

/** The end of an entry, from `ts` on, with `ts`, `t` and `wall` 0. */
const tail = encodeLogEntry(emptyInsert).slice(-tailBytes)
