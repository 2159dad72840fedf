import { Timestamp } from '@shardlab/bson'
import t from 'tap'
import { mayLackEvents } from '../src/swarm/checkers/stream-gaps.js'

const departure = { sinceMs: 8000, until: new Timestamp({ t: 0x6955b908, i: 1 }) }
const opening = (atMs: number, seconds: string) => ({ atMs, token: { _data: `82${seconds}0000017F` } })

t.test('only a stream that is opened after a shard has left, and at an earlier event, may lack events', async (t) => {
  t.equal(mayLackEvents([opening(7000, '6955B901')], [departure]), false, 'opened before')
  t.equal(mayLackEvents([opening(7000, '6955B901'), opening(9000, '6955B901')], [departure]), true)
  t.equal(mayLackEvents([opening(9000, '6955B908')], [departure]), true, 'in the second of the departure')
  t.equal(mayLackEvents([opening(9000, '6955B909')], [departure]), false, 'had read everything')
  t.equal(mayLackEvents([opening(9000, '6955B901')], []), false, 'all shards stayed')
})
