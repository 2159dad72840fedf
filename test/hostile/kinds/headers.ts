/** Lengths, operations and request ids. */
import { pick } from '../../fuzz/values.js'
import { bodySection, cstring, document, int32, message, msg, Op, ping } from '../messages.js'
import { kind, type Kind } from './kind.js'

const rare = 2

function withLength(bytes: Buffer, length: number): Buffer {
  bytes.writeInt32LE(length | 0)
  return bytes
}

const whole = (requestId: number): Buffer => msg(requestId, 0, bodySection(ping()))

export const headerKinds: readonly Kind[] = [
  kind('a length below that of the header', 'closed', (random, id) => withLength(whole(id), random.below(16)), rare),
  kind('a negative length', 'closed', (random, id) => withLength(whole(id), -1 - random.below(2 ** 31)), rare),
  kind(
    'a length above 48,000,000',
    'closed',
    (random, id) => withLength(whole(id), 48_000_001 + random.below(2 ** 31 - 48_000_001)),
    rare,
  ),
  kind('a request of HTTP', 'closed', () => Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'), 1),
  kind('random bytes', 'derived', (random) => Buffer.from(random.bytes(16 + random.below(300))), rare),
  kind('any request id', 'ok', (random) => {
    const id = pick(random, [0, -1, 1, 2 ** 31 - 1, -(2 ** 31), random.below(2 ** 31)])
    return whole(id)
  }),
  kind('a response to something', 'ok', (random, id) => {
    const bytes = whole(id)
    bytes.writeUInt32LE(random.uint32(), 8)
    return bytes
  }),
  kind(
    'an unknown operation',
    'closed',
    (random, id) =>
      message(
        id,
        pick(random, [0, 1, 2, 1000, 2000, 2003, 2008, 2009, 2010, 2011, 2014, -1, -2013, 2 ** 31 - 1]),
        Buffer.alloc(random.below(60)),
      ),
    rare,
  ),
  kind(
    'a removed operation without reply',
    'closed',
    (random, id) => {
      const opcode = pick(random, [Op.update, Op.insert, Op.delete, Op.killCursors])
      return message(id, opcode, int32(0), cstring('hostile.plain'), document({ _id: 1, x: random.uint32() }))
    },
    rare,
  ),
  kind('a removed OP_GET_MORE', 'removed operation', (random, id) =>
    message(id, Op.getMore, int32(0), cstring('hostile.plain'), random.bytes(random.below(20))),
  ),
  kind(
    'an operation whose namespace does not end',
    'closed',
    (random, id) => message(id, pick(random, [Op.getMore, Op.query]), int32(0), Buffer.from('hostile.plain')),
    rare,
  ),
  kind(
    'a message that ends after its header',
    'closed',
    (random, id) =>
      message(id, pick(random, [Op.msg, Op.query, Op.getMore, Op.compressed]), random.bytes(random.below(4))),
    rare,
  ),
]
