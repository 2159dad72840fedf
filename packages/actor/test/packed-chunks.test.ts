import { encode } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import fc from 'fast-check'
import t from 'tap'
import { packChunks, packedCount, unpackChunks, type ChunkAssignment } from '../src/index.js'

t.test('unpacked chunks are those that were packed', async () => {
  await check(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string({ maxLength: 40 }), fc.integer({ min: 0, max: 300 })), {
        minLength: 1,
        maxLength: 80,
      }),
      async (parts) => {
        const bounds = ['', ...parts.map(([text]) => text)].map((text) => encode({ k: text }))
        const chunks = parts.map(([, shard], i): ChunkAssignment => [bounds[i]!, bounds[i + 1]!, `shard${shard}`])
        const packed = packChunks(chunks)
        if (packedCount(packed) !== chunks.length) throw new Error(`${packedCount(packed)} of ${chunks.length}`)
        const text = (all: Iterable<ChunkAssignment>) =>
          JSON.stringify(
            Array.from(all, ([min, max, shard]) => [
              Buffer.from(min).toString('hex'),
              Buffer.from(max).toString('hex'),
              shard,
            ]),
          )
        if (text(unpackChunks(packed)) !== text(chunks)) throw new Error('other chunks')
      },
    ),
    100,
  )
})
