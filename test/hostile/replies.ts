/** Compares the bytes that a server sent with the answers that it had to give. */
import { inflateSync } from 'node:zlib'
import { uncompressSync } from 'snappy'
import { BSON, type Document } from 'mongodb'
import { checksumOf } from './checksum.js'
import type { Declared } from './kinds/kind.js'
import type { Answer, Command } from './wire-rules.js'

/** Messages of JavaScript's own errors, which no code raises on purpose. */
const accident =
  /is not a function|not iterable|Cannot (read|set|mix|convert)|^Invalid (array|typed array|string) length$|call stack/

const databaseName = /^[^/\\ ".\0]{1,63}$/s

/** @returns the codes of which the reply must have one; 0: success */
function expectedCodes({ reply }: Answer, declared: Declared): readonly number[] {
  if (reply === 'removed operation') throw new Error('no code')
  if ('code' in reply) return [reply.code]
  if (declared === 'ok') return [0]
  return typeof declared === 'number' ? [declared] : codesOfPing(reply)
}

/** Damage left a valid message: a ping, unless the damage is in its names. */
function codesOfPing({ name, db, fields }: Command): readonly number[] {
  if (name !== 'ping') return [59]
  const codes = [
    ...(databaseName.test(db) ? [] : [73]),
    ...(fields.some((each) => !['ping', 'comment', '$db'].includes(each)) ? [40415] : []),
    ...(new Set(fields).size === fields.length ? [] : [40413]),
  ]
  return codes.length === 0 ? [0] : codes
}

const clientDisconnect = 279

/**
 * @param interruptible whether the client had ended the connection: a read may notice that
 * @returns what is wrong with the reply; null: it is as expected
 */
export function complaint(frame: Buffer, answer: Answer, declared: Declared, interruptible: boolean): string | null {
  const message = uncompressed(frame, answer.compressor)
  if (message === null)
    return `compressor ${frame.readInt32LE(12) === 2012 ? frame[24]! : 'none'}, not ${answer.compressor}`
  if (message.readInt32LE(8) !== answer.requestId)
    return `a response to ${message.readInt32LE(8)}, not to ${answer.requestId}`
  const opcode = message.readInt32LE(12)
  if (opcode !== (answer.legacy ? 1 : 2013)) return `operation ${opcode}`
  const flags = message.readUInt32LE(16)
  const removed = answer.reply === 'removed operation'
  const expectedFlags = answer.legacy ? (removed ? 2 : 8) : Number(answer.checksum)
  if (flags !== expectedFlags) return `flags ${flags}, not ${expectedFlags}`
  if (answer.checksum && message.readUInt32LE(message.length - 4) !== checksumOf(message.subarray(0, -4)))
    return 'a wrong checksum'
  const body = message.subarray(answer.legacy ? 36 : 21, answer.checksum ? -4 : undefined)
  const reply = BSON.deserialize(body, { validation: { utf8: false }, bsonRegExp: true })
  return removed
    ? complaintAboutRemoved(reply)
    : complaintAboutReply(reply, [...expectedCodes(answer, declared), ...(interruptible ? [clientDisconnect] : [])])
}

function complaintAboutRemoved(reply: Document): string | null {
  return reply['code'] === 5739101 && reply['ok'] === 0 && /no longer supported/.test(String(reply['$err']))
    ? null
    : `${JSON.stringify(reply)}`
}

function complaintAboutReply(reply: Document, codes: readonly unknown[]): string | null {
  const { ok, errmsg, codeName } = reply
  const got = ok === 1 ? 0 : reply['code']
  if (!codes.includes(got)) return `code ${got} (${errmsg}), not ${codes.join(' or ')}`
  if (got === 0) return null
  if (ok !== 0 || typeof codeName !== 'string' || codeName === '') return `ok ${ok}, codeName ${codeName}`
  return typeof errmsg !== 'string' || errmsg === '' || accident.test(errmsg) ? `an accident: ${errmsg}` : null
}

/** null: another compressor. */
function uncompressed(frame: Buffer, compressor: number | null): Buffer | null {
  const used = frame.readInt32LE(12) === 2012 ? frame[24]! : null
  if (used !== compressor) return null
  if (used === null) return frame
  const data = frame.subarray(25)
  const message = Buffer.concat([
    frame.subarray(0, 16),
    used === 1 ? (uncompressSync(data) as Buffer) : inflateSync(data),
  ])
  message.writeInt32LE(frame.readInt32LE(16), 12)
  return message
}
