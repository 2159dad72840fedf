/**
 * The cluster's logical clock. Manual: reference/command, $clusterTime; parameter
 * maxAcceptableLogicalClockDriftSecs.
 */
import t from 'tap'
import { encode, Timestamp } from '@shardlab/bson'
import { ClusterClock } from '../src/index.js'

const nowSeconds = 1_800_000_000
const sent = (seconds: number) =>
  encode({ ping: 1, $clusterTime: { clusterTime: new Timestamp({ t: seconds, i: 7 }) } })

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
  for (const body of [{ ping: 1 }, { ping: 1, $clusterTime: 1 }, { ping: 1, $clusterTime: { clusterTime: 1 } }])
    clock.advanceFrom(encode(body))
  t.same(clock.time, [nowSeconds + year, 7])
})
