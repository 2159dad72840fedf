import t from 'tap'
import fc from 'fast-check'
import { encode, findField } from '@shardlab/bson'
import {
  decodeReply,
  decodeRequest,
  encodeCommand,
  encodeLegacyCommand,
  FrameReader,
  ProtocolError,
} from '../src/index.js'
import { inverting, lookup, raw } from './helpers.js'

/** Only a ProtocolError may be thrown, and accepted documents must be readable. */
function swallow(frame: Uint8Array): void {
  try {
    const request = decodeRequest(frame, lookup)
    if (request.kind === 'command') findField(request.body, '$db')
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
  try {
    decodeReply(frame, lookup)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
}

const body = encode({ insert: 'c', filter: { a: [1, 'x', null, { b: true }], r: /a/i, d: new Date(5) }, $db: 'test' })
const seeds = [
  encodeCommand(1, body, { sequences: [['documents', [encode({ _id: 1 }), encode({ s: 'text' })]]] }),
  encodeCommand(2, body, { checksum: true }),
  encodeCommand(3, body, { compressor: inverting }),
  encodeLegacyCommand(4, 'admin', encode({ $query: { hello: 1 }, $readPreference: { mode: 'nearest' } }), 4),
]

t.test('random bytes give a request or a ProtocolError', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(2013, 2004, 2012, 2005, 1, 2002),
      fc.uint8Array({ maxLength: 200 }),
      (opCode, payload) => swallow(raw(opCode, payload)),
    ),
    { numRuns: 3000 },
  )
})

t.test('flipped bits and truncations give a request or a ProtocolError', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(10_000), fc.nat(255)), { maxLength: 4 }),
      fc.option(fc.nat(10_000)),
      (seed, changes, cut) => {
        let frame = Buffer.from(seed)
        for (const [at, value] of changes) frame[16 + (at % (frame.length - 16))] = value
        if (cut !== null) frame = frame.subarray(0, 16 + (cut % (frame.length - 16)))
        swallow(frame)
      },
    ),
    { numRuns: 5000 },
  )
})

t.test('every truncation and extreme bytes at every place give a request or a ProtocolError', async () => {
  for (const seed of seeds) {
    for (let at = 16; at < seed.length; at++) {
      swallow(Buffer.from(seed.subarray(0, at)))
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const frame = Buffer.from(seed)
        frame[at] = value
        swallow(frame)
      }
    }
  }
})

t.test('a stream of random bytes gives messages or a ProtocolError', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }), (chunks) => {
      const reader = new FrameReader()
      try {
        for (const chunk of chunks) {
          reader.push(chunk)
          for (let frame; (frame = reader.next());) swallow(frame)
        }
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        t.equal(error.code, 17)
      }
    }),
    { numRuns: 1000 },
  )
})
