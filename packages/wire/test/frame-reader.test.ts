import t from 'tap'
import fc from 'fast-check'
import { FrameReader, maxMessageSizeBytes, ProtocolError } from '../src/index.js'
import { message } from './helpers.js'

function drain(reader: FrameReader, count = Number.POSITIVE_INFINITY): Uint8Array[] {
  const frames: Uint8Array[] = []
  for (let frame; frames.length < count && (frame = reader.next());) frames.push(frame)
  return frames
}

t.test('a message in one chunk is a view of it', async (t) => {
  const chunk = Buffer.concat([message(10), message(0), message(3)])
  const reader = new FrameReader()
  reader.push(chunk)
  const frames = drain(reader)
  t.same(
    frames.map((frame) => frame.length),
    [26, 16, 19],
  )
  for (const frame of frames) t.equal(frame.buffer, chunk.buffer)
  t.equal(reader.bufferedBytes, 0)
})

t.test('the messages of a stream do not depend on its chunks', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat(40), fc.nat(20_000)), { maxLength: 12 }),
      // Null: a chunk that ends with a message.
      fc.array(fc.option(fc.integer({ min: 1, max: 9000 })), { minLength: 1, maxLength: 30 }),
      // After a chunk a reader may be asked for fewer messages than have arrived.
      fc.array(fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(2)), { minLength: 1, maxLength: 30 }),
      (payloads, cuts, reads) => {
        const messages = payloads.map((size, index) => message(size, index))
        const stream = Buffer.concat(messages)
        const reader = new FrameReader()
        const frames: Uint8Array[] = []
        const ends = messages.map((_, index) =>
          messages.slice(0, index + 1).reduce((sum, { length }) => sum + length, 0),
        )
        for (let at = 0, i = 0; at < stream.length; i++) {
          const cut = cuts[i % cuts.length]!
          const end = cut === null ? ends.find((each) => each > at)! : at + cut
          reader.push(stream.subarray(at, end))
          frames.push(...drain(reader, reads[i % reads.length]))
          at = end
        }
        frames.push(...drain(reader))
        t.equal(frames.length, messages.length)
        frames.forEach((frame, index) => t.ok(messages[index]!.equals(frame)))
        t.equal(reader.bufferedBytes, 0)
      },
    ),
    { numRuns: 100 },
  )
})

t.test('invalid lengths are errors', async (t) => {
  for (const length of [0, 15, -1, -(2 ** 31), maxMessageSizeBytes + 1, 2 ** 31 - 1]) {
    for (const cut of [4, 2]) {
      const header = Buffer.alloc(16)
      header.writeInt32LE(length)
      const reader = new FrameReader()
      const before = process.memoryUsage().arrayBuffers
      t.throws(
        () => {
          reader.push(header.subarray(0, cut))
          reader.next()
          reader.push(header.subarray(cut))
          reader.next()
        },
        { name: 'ProtocolError', code: 17, codeName: 'ProtocolError', farewell: null },
      )
      t.ok(process.memoryUsage().arrayBuffers - before < 1_000_000, 'nothing is allocated for it')
    }
  }
})

t.test('memory for a message is allocated as its bytes arrive', async (t) => {
  const header = Buffer.alloc(16)
  header.writeInt32LE(maxMessageSizeBytes)
  const before = process.memoryUsage().arrayBuffers
  const readers = Array.from({ length: 50 }, () => {
    const reader = new FrameReader()
    reader.push(header)
    t.equal(reader.next(), null)
    return reader
  })
  t.equal(readers[0]!.bufferedBytes, 16)
  t.ok(process.memoryUsage().arrayBuffers - before < 5_000_000)
})

t.test('an HTTP request gets the answer of the server', async (t) => {
  const reader = new FrameReader()
  reader.push(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
  try {
    reader.next()
    t.fail('not rejected')
  } catch (error) {
    t.ok(error instanceof ProtocolError && error.closingBytes)
    t.match(
      Buffer.from((error as ProtocolError).closingBytes!).toString(),
      /^HTTP\/1\.0 200 OK\r\n.*native driver port/s,
    )
  }
})

t.test('a refused message is skipped, whatever the chunks, and the others are read', async (t) => {
  const limitBytes = 60
  fc.assert(
    fc.property(
      fc.array(fc.nat(100), { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 30 }),
      (payloads, cuts) => {
        const messages = payloads.map((size, index) => message(size, index))
        const asked: number[] = []
        const reader = new FrameReader((lengthBytes) => {
          asked.push(lengthBytes)
          return lengthBytes <= limitBytes
        })
        const frames: [Uint8Array, isRefused: boolean][] = []
        const stream = Buffer.concat(messages)
        for (let at = 0, i = 0; at < stream.length; i++) {
          const end = at + cuts[i % cuts.length]!
          reader.push(stream.subarray(at, end))
          for (let frame; (frame = reader.next());) frames.push([frame, reader.isRefused])
          at = end
        }
        t.same(
          asked,
          messages.map(({ length }) => length),
          'each message is asked about once',
        )
        t.equal(frames.length, messages.length)
        frames.forEach(([frame, isRefused], index) => {
          const sent = messages[index]!
          t.equal(isRefused, sent.length > limitBytes)
          t.ok(Buffer.from(frame).equals(isRefused ? sent.subarray(0, 20) : sent))
        })
        t.equal(reader.bufferedBytes, 0)
      },
    ),
    { numRuns: 60 },
  )
})

t.test('a message that arrives slowly is admitted in parts, and refused with any of them', async (t) => {
  const [long, next] = [message(1_000_000, 7), message(10, 8)]
  const stream = Buffer.concat([long, next])
  for (const limitBytes of [4000, 4096, 300_000, 2_000_000]) {
    const admitted: number[] = []
    let held = 0
    const reader = new FrameReader((bytes) => {
      if (held + bytes > limitBytes) return false
      held += bytes
      admitted.push(bytes)
      return true
    })
    reader.push(stream.subarray(0, 20))
    t.equal(reader.next(), null)
    t.ok(held <= 4096, 'the length alone reserves little')
    const frames: [number, boolean][] = []
    for (let at = 20; at < stream.length; at += 10_000) {
      reader.push(stream.subarray(at, at + 10_000))
      for (let frame; (frame = reader.next());) {
        frames.push([frame.length, reader.isRefused])
        t.ok(Buffer.from(frame).equals((frames.length === 1 ? long : next).subarray(0, frame.length)))
        held = 0
      }
    }
    const isRefused = limitBytes < long.length
    t.same(frames, [
      [isRefused ? 20 : long.length, isRefused],
      [next.length, false],
    ])
    if (!isRefused)
      t.equal(
        admitted.slice(0, -1).reduce((sum, bytes) => sum + bytes, 0),
        long.length,
      )
    t.equal(admitted[0], limitBytes < 4096 ? next.length : 4096)
  }
})
