import t from 'tap'
import { deflateSync, inflateSync } from 'node:zlib'
import { decode, encode } from '@shardlab/bson'
import {
  crc32c,
  decodeReply,
  decodeRequest,
  encodeCommand,
  encodeLegacyCommand,
  encodeReply,
  isCompressible,
  negotiateCompression,
  replySizeBytes,
  writeReply,
  type Compressor,
  type ReplyFormat,
} from '../src/index.js'
import { inverting, lookup } from './helpers.js'

const plain: ReplyFormat = { responseTo: 7, legacy: false, legacyFlags: 0, checksum: false, compressorId: null }
const ok = encode({ ok: 1 })

t.test('CRC-32C gives the published test vectors', async (t) => {
  t.equal(crc32c(Buffer.from('123456789')), 0xe3069283)
  t.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa)
  t.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43)
  t.equal(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i))), 0x46dd794e)
  t.equal(crc32c(new Uint8Array(0)), 0)
})

t.test('OP_MSG and OP_REPLY have the bytes of the specification', async (t) => {
  t.equal(
    Buffer.from(encodeReply(plain, 9, Buffer.from('0500000000', 'hex'))).toString('hex'),
    '1a000000' + '09000000' + '07000000' + 'dd070000' + '00000000' + '00' + '0500000000',
  )
  t.equal(
    Buffer.from(encodeReply({ ...plain, legacy: true, legacyFlags: 8 }, 9, Buffer.from('0500000000', 'hex'))).toString(
      'hex',
    ),
    '29000000' +
      '09000000' +
      '07000000' +
      '01000000' +
      '08000000' +
      '0000000000000000' +
      '00000000' +
      '01000000' +
      '0500000000',
  )
})

t.test('encoded replies are decoded unchanged', async (t) => {
  for (const format of [plain, { ...plain, checksum: true }, { ...plain, legacy: true, legacyFlags: 8 }]) {
    for (const compressor of [undefined, inverting]) {
      const reply = decodeReply(encodeReply(format, 3, ok, compressor), lookup)
      t.match(reply, { responseTo: 7, requestId: 3, legacy: format.legacy, compressed: compressor !== undefined })
      t.same(decode(reply.body), { ok: 1 })
    }
    const size = replySizeBytes(format, ok.length)
    const target = Buffer.alloc(size * 2 + 10, 0xaa)
    t.equal(writeReply(target, 10, format, 3, ok), 10 + size)
    t.equal(writeReply(target, 10 + size, format, 4, ok), 10 + size * 2)
    t.equal(decodeReply(target.subarray(10 + size)).requestId, 4)
    t.same([...target.subarray(0, 10)], Array(10).fill(0xaa))
  }
})

t.test('encoded commands are decoded with their sequences, checksum and compression', async (t) => {
  const body = encode({ insert: 'c', $db: 'test' })
  const documents = [encode({ _id: 1 }), encode({ _id: 2 })]
  for (const checksum of [false, true]) {
    for (const compressor of [undefined, inverting]) {
      const frame = encodeCommand(12, body, {
        sequences: [['documents', documents]],
        checksum,
        ...(compressor && { compressor }),
      })
      const request = decodeRequest(frame, lookup)
      t.match(request, { kind: 'command', format: { responseTo: 12, checksum, compressorId: compressor?.id ?? null } })
      if (request.kind === 'command')
        t.same(
          request.sequences[0]![1].map((document) => decode(document)),
          [{ _id: 1 }, { _id: 2 }],
        )
    }
  }
  t.match(decodeRequest(encodeLegacyCommand(4, 'admin', encode({ hello: 1 })), lookup), {
    kind: 'command',
    format: { legacy: true, responseTo: 4 },
  })
})

t.test('malformed compression closes the connection', async (t) => {
  const zlib: Compressor = {
    id: 2,
    compress: (bytes) => deflateSync(bytes),
    uncompress: (bytes, size) => inflateSync(bytes, { maxOutputLength: Math.max(1, size) }),
  }
  const find = (id: number) => (id === 2 ? zlib : undefined)
  const frame = Buffer.from(encodeCommand(1, encode({ ping: 1, $db: 'admin' }), { compressor: zlib }))
  t.equal(decodeRequest(frame, find).kind, 'command')
  const patched = (at: number, value: number) => {
    const copy = Buffer.from(frame)
    copy.writeInt32LE(value, at)
    return copy
  }
  const size = frame.readInt32LE(20)
  for (const wrong of [size - 1, size + 1, 0, -1, -(2 ** 31), 2 ** 31 - 1, 47_999_985]) {
    t.throws(() => decodeRequest(patched(20, wrong), find), { name: 'ProtocolError', code: 2 }, `size ${wrong}`)
  }
  t.throws(() => decodeRequest(patched(16, 2012), find), { code: 20 }, 'nested')
  t.throws(() => decodeRequest(patched(24, 3), find), { code: 1 }, 'unknown compressor')
  t.throws(() => decodeRequest(patched(28, 0), find), { code: 2 }, 'broken data')
  t.throws(() => decodeRequest(frame.subarray(0, 24), find), { code: 2 }, 'no header')
})

t.test('compression is negotiated in the order of the client', async (t) => {
  t.same(negotiateCompression(['zlib', 'zstd', 'snappy']), ['zlib', 'snappy'])
  t.same(negotiateCompression(['none']), [])
  t.same(['find', 'hello', 'isMaster', 'ismaster', 'saslStart', 'createUser'].map(isCompressible), [
    true,
    false,
    false,
    false,
    false,
    false,
  ])
})
