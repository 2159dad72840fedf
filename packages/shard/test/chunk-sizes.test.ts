import { CommandError, encode } from '@shardlab/bson'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { checkChunkSize } from '../src/ranges/chunk-sizes.js'
import { KeyedRange } from '../src/ranges/key-range.js'

const cloned = { ns: 'app.c', range: new KeyedRange(encode({ x: 0 }), encode({ x: 10 })) }

/** The most documents of a range that can move. */
function most(emulate: EmulatedVersion, averageBytes: number, maxChunkSizeBytes: number): number {
  const totals = { documents: 10, bytes: 10 * averageBytes }
  try {
    checkChunkSize(behavioursOf(emulate), cloned, totals, 10_000_000, maxChunkSizeBytes)
  } catch (error) {
    t.match(error, { code: 153 })
    return Number(/maximum number of documents for a chunk is (\d+)/.exec((error as CommandError).message)![1])
  }
  throw new Error('the range can move')
}

t.test('a range is too large to move at 1.3 or 2 times the documents of a full chunk', (t) => {
  t.equal(most('2.6', 100, 100_000), 1300)
  t.equal(most('2.6', 100, 64 << 20), 250_001, 'at most')
  for (const emulate of ['4.0', '4.4', '5.0', '6.0', '8.0'] as const)
    t.equal(most(emulate, 100, 100_000), 2000, emulate)
  t.equal(most('4.0', 100, 64 << 20), 2 * 671_088)
  t.end()
})

t.test('a range with one document that is larger than a chunk can move since 4.4', (t) => {
  t.equal(most('4.0', 2000, 1000), 0)
  t.equal(most('4.4', 2000, 1000), 2)
  t.equal(most('8.0', 2000, 1000), 2)
  t.end()
})
