/**
 * The cluster's logical clock. Manual: reference/command, $clusterTime; parameter
 * maxAcceptableLogicalClockDriftSecs.
 */
import t from 'tap'
import { Binary, encode, Long, Timestamp, type Document } from '@shardlab/bson'
import { ClusterClock } from '../src/index.js'

const nowSeconds = 1_800_000_000
const signature = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO }
const sent = (seconds: number) =>
  encode({ ping: 1, $clusterTime: { clusterTime: new Timestamp({ t: seconds, i: 7 }), signature } })

t.test('a tick is later than all earlier times', async (t) => {
  const clock = new ClusterClock(() => nowSeconds * 1000)
  t.same(clock.tick(), [nowSeconds, 1])
  t.same(clock.tick(), [nowSeconds, 2])
  clock.advance([nowSeconds + 5, 3])
  t.same(clock.tick(), [nowSeconds + 5, 4])
  clock.advance([nowSeconds, 9])
  t.same(clock.time, [nowSeconds + 5, 4], 'never back')
})

t.test('the clock advances to the time of a client, if that is at most a year ahead', async (t) => {
  const clock = new ClusterClock(() => nowSeconds * 1000)
  const year = 31_536_000
  clock.advanceFrom(sent(nowSeconds + year))
  t.same(clock.time, [nowSeconds + year, 7])
  t.throws(() => clock.advanceFrom(sent(nowSeconds + year + 1)), {
    code: 205,
    codeName: 'ClusterTimeFailsRateLimiter',
    message: `New cluster time, ${nowSeconds + year + 1}, is too far from this node's wall clock time, ${nowSeconds}.`,
  })
  t.throws(() => clock.advanceFrom(sent(0xffff_ffff)), { code: 205 })
  t.same(clock.time, [nowSeconds + year, 7], 'unchanged')
  clock.advanceFrom(encode({ ping: 1 }))
  t.same(clock.time, [nowSeconds + year, 7])
})

t.test('a malformed $clusterTime is refused', async (t) => {
  const clock = new ClusterClock(() => nowSeconds * 1000)
  const clusterTime = new Timestamp({ t: nowSeconds, i: 7 })
  clock.advanceFrom(sent(nowSeconds))
  const refusals: [Document, number, string][] = [
    [{}, 4, 'Missing expected field "clusterTime"'],
    [{ clusterTime: 1 }, 14, '"clusterTime" had the wrong type. Expected timestamp, found int'],
    [{ clusterTime }, 4, 'Missing expected field "signature"'],
    [{ clusterTime, signature: 1 }, 14, '"signature" had the wrong type. Expected object, found int'],
    [{ clusterTime, signature: {} }, 4, 'Missing expected field "hash"'],
    [
      { clusterTime, signature: { ...signature, hash: 'x' } },
      14,
      '"hash" had the wrong type. Expected binData, found string',
    ],
    [
      { clusterTime, signature: { ...signature, hash: new Binary(Buffer.alloc(19)) } },
      12,
      'Unsupported SHA1Block hash length: 19',
    ],
    [
      { clusterTime, signature: { ...signature, hash: new Binary(Buffer.alloc(20), 5) } },
      12,
      'SHA1Block only accepts BinDataGeneral type',
    ],
    [{ clusterTime, signature: { hash: signature.hash } }, 4, 'Missing expected field "keyId"'],
    [
      { clusterTime, signature: { ...signature, keyId: 'x' } },
      14,
      'Expected field "keyId" to have numeric type, but found string',
    ],
  ]
  for (const [$clusterTime, code, message] of refusals)
    t.throws(() => clock.advanceFrom(encode({ ping: 1, $clusterTime })), { code, message })
  clock.advanceFrom(encode({ ping: 1, $clusterTime: { signature: { keyId: 0, hash: signature.hash }, clusterTime } }))
})
