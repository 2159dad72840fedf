/**
 * Messages that are damaged below the level of commands: changed bytes, wrong lengths, unknown
 * opcodes.
 */
import { connect } from 'node:net'
import type { Random } from '@shardlab/actor'
import { encode, type Document } from '@shardlab/bson'
import { BSON } from 'mongodb'
import { encodeCommand, FrameReader, MsgFlag, OpCode } from '@shardlab/wire'
import { pick } from './values.js'

const opcodes = [1, 1000, 2001, 2002, 2004, 2005, 2006, 2007, 2010, 2012, 2013, 0, -1]

/** A damaged copy. The result may still be a valid message. */
export function damaged(random: Random, message: Uint8Array): Uint8Array {
  const copy = Buffer.from(message)
  const flips = 1 + random.below(4)
  switch (random.below(6)) {
    case 0:
      copy.writeInt32LE(pick(random, opcodes), 12)
      return copy
    case 1:
      // Its flags: announced checksums that are missing, flags that only replies have.
      copy.writeUInt32LE(random.below(2 ** 31), 16)
      return copy
    case 2: {
      const cut = copy.subarray(0, 16 + random.below(copy.length - 16))
      cut.writeInt32LE(cut.length, 0)
      return cut
    }
    case 3: {
      const longer = Buffer.concat([copy, random.bytes(1 + random.below(40))])
      longer.writeInt32LE(longer.length, 0)
      return longer
    }
    case 4:
      // A length inside: the document's, or a value's.
      copy.writeInt32LE(
        pick(random, [-1, 0, 4, 5, 2 ** 31 - 1, copy.length, copy.length * 2]),
        21 + random.below(Math.max(1, copy.length - 25)),
      )
      return copy
    default:
      for (let i = 0; i < flips; i++) copy[16 + random.below(copy.length - 16)] = random.below(256)
      return copy
  }
}

/**
 * The document of a whole reply. It may repeat parts of the request: invalid UTF-8, and expressions
 * that JavaScript cannot compile. It may be nested deeper than a request may be, because it can
 * contain a document of the greatest depth a few levels down.
 */
export function readReply(frame: Uint8Array): Document {
  const buffer = Buffer.from(frame)
  const { opcode, documentAt } = buffer.readInt32LE(12) === OpCode.reply ? legacyReply : reply
  if (buffer.readInt32LE(12) !== opcode) throw new Error('the answer is no reply')
  // A message whose damage gave it a valid checksum is answered with a checksum.
  const hasChecksum = opcode === OpCode.msg && (buffer.readUInt32LE(16) & MsgFlag.checksumPresent) !== 0
  return BSON.deserialize(frame.subarray(documentAt, hasChecksum ? -4 : undefined), {
    validation: { utf8: false },
    bsonRegExp: true,
  })
}

const reply = { opcode: OpCode.msg, documentAt: 21 }
const legacyReply = { opcode: OpCode.reply, documentAt: 36 }

const pingId = 2 ** 30

/**
 * Sends a message and then a ping on a new connection. Resolves with the replies before the ping's;
 * none when the message wants no reply, or when it made the server close the connection.
 */
export function repliesTo(endpoint: string, message: Uint8Array): Promise<Document[]> {
  const [host, port] = endpoint.split(':') as [string, string]
  return new Promise((resolve, reject) => {
    const replies: Document[] = []
    const reader = new FrameReader()
    const socket = connect({ host, port: Number(port), noDelay: true })
    socket.on('error', () => {})
    socket.on('close', () => resolve(replies))
    socket.on('data', (chunk) => {
      try {
        reader.push(chunk)
        for (let frame = reader.next(); frame !== null; frame = reader.next()) {
          if (Buffer.from(frame).readInt32LE(8) === pingId) socket.destroy()
          else replies.push(readReply(frame))
        }
      } catch (error) {
        socket.destroy()
        reject(error as Error)
      }
    })
    socket.write(message)
    socket.write(encodeCommand(pingId, encode({ ping: 1, $db: 'admin' })))
  })
}
