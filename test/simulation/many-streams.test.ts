/** Hundreds of change streams on one cluster wait without polling. */
import type { Document } from '@shardlab/bson'
import t from 'tap'
import { ask, insert, start } from './two-shard-cluster.js'
import { Stream, types } from './stream-client.js'

const count = 300

t.test(`${count} streams wait without polling, and each gets every event`, async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  const streams: Stream[] = []
  for (let i = 0; i < count; i++) streams.push(await Stream.open(cluster, 'mongos01'))
  const waiting = streams.map((each) => each.read({ maxTimeMS: 120_000 }))
  await cluster.advance(1000)
  const getMores = async () => {
    const all: number[] = []
    for (const to of ['mongos01', 'shard01', 'shard02']) {
      const { opcounters } = await ask(cluster, { serverStatus: 1, $db: 'admin' }, to)
      all.push(Number((opcounters as Document)['getmore']))
    }
    return all
  }
  const before = await getMores()
  await cluster.advance(60_000)
  t.same(await getMores(), before, 'no getMore in a minute without events')
  await insert(cluster, 1000)
  const received = (await Promise.all(waiting)).map((events) => types(events).join())
  t.same(new Set(received), new Set(['insert']))
  t.equal(received.length, count)
})
