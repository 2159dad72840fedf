/** OP_COMPRESSED: wrong sizes, wrong data, wrong compressors, and data that grows. */
import { deflateSync } from 'node:zlib'
import type { Random } from '@shardlab/actor'
import { compressSync } from 'snappy'
import { pick } from '../../fuzz/values.js'
import { bodySection, compressed, int32, message, msg, Op, ping, query, document } from '../messages.js'
import { kind, type Kind } from './kind.js'

const rare = 2
const snappy = 1
const zlib = 2

interface Content {
  readonly opcode: number
  readonly size: number
  readonly compressor: number
  readonly data: Buffer
}

const compress = (compressor: number, bytes: Uint8Array): Buffer =>
  compressor === snappy ? (compressSync(Buffer.from(bytes)) as Buffer) : deflateSync(bytes)

function contentOf(inner: Buffer, compressor: number): Content {
  const payload = inner.subarray(16)
  return { opcode: inner.readInt32LE(12), size: payload.length, compressor, data: compress(compressor, payload) }
}

const both = (inner: Buffer): Content[] => [snappy, zlib].map((compressor) => contentOf(inner, compressor))

const body = bodySection(ping())
// Compressed once: a call of zlib takes longer than the whole of the rest.
const pings = both(msg(0, 0, body))
const twoBodies = both(msg(0, 0, body, body))
const silent = both(msg(0, 2, body))
const handshakes = both(query(0, 'admin.$cmd', document({ hello: 1 })))
const nested = both(message(0, Op.compressed, int32(Op.msg), int32(0), Buffer.of(zlib)))
const unknown = both(message(0, 2010, body))
const bombs = both(message(0, Op.msg, Buffer.alloc(1_000_000)))
const largest = both(message(0, Op.msg, Buffer.alloc(47_999_984)))

const of = (id: number, content: Content, changes: Partial<Content> = {}): Buffer => {
  const { data, ...parts } = { ...content, ...changes }
  return compressed(id, parts, data)
}

function damaged(random: Random, data: Buffer): Buffer {
  const copy = Buffer.from(data)
  copy[random.below(copy.length)]! ^= 1 << random.below(8)
  return copy
}

export const compressionKinds: readonly Kind[] = [
  kind('a compressed command', 'ok', (random, id) => of(id, pick(random, pings))),
  kind('a compressed handshake', 'ok', (random, id) => of(id, pick(random, handshakes))),
  kind('a compressed error', 40430, (random, id) => of(id, pick(random, twoBodies))),
  kind('a compressed command that wants no reply', 'none', (random, id) => of(id, pick(random, silent))),
  kind(
    'a compressor that is not offered',
    'closed',
    (random, id) => of(id, pick(random, pings), { compressor: 3 + random.below(253) }),
    rare,
  ),
  kind(
    'the compressor that does nothing',
    'closed',
    (_random, id) => compressed(id, { size: 4 + body.length, compressor: 0 }, Buffer.concat([int32(0), body])),
    rare,
  ),
  kind(
    'data of another compressor',
    'closed',
    (random, id) => {
      const content = pick(random, pings)
      return of(id, content, { compressor: 3 - content.compressor })
    },
    rare,
  ),
  kind(
    'a size that is not that of the content',
    'closed',
    (random, id) => {
      const content = pick(random, pings)
      const size = pick(random, [
        content.size - 1,
        content.size + 1,
        0,
        -1,
        -16,
        -17,
        47_999_984,
        47_999_985,
        2 ** 31 - 1,
        -(2 ** 31),
      ])
      return of(id, content, { size })
    },
    rare,
  ),
  kind(
    'content that is much longer than its size',
    'closed',
    (random, id) => of(id, pick(random, bombs), { size: 1 + random.below(1000) }),
    1,
  ),
  kind('content of the largest size', 22, (random, id) => of(id, pick(random, largest)), 0.02),
  kind(
    'data that are cut off',
    'closed',
    (random, id) => {
      const content = pick(random, pings)
      return of(id, content, { data: content.data.subarray(0, random.below(content.data.length >> 1)) })
    },
    rare,
  ),
  kind(
    'damaged data',
    'derived',
    (random, id) => {
      const content = pick(random, pings)
      return of(id, content, { data: damaged(random, content.data) })
    },
    rare,
  ),
  kind('a compressed message in a compressed message', 'closed', (random, id) => of(id, pick(random, nested)), rare),
  kind('a compressed unknown operation', 'closed', (random, id) => of(id, pick(random, unknown)), rare),
  kind(
    'a compressed message without content',
    'closed',
    (random, id) => message(id, Op.compressed, random.bytes(random.below(9))),
    rare,
  ),
]
