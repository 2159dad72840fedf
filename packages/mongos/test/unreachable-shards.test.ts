import t from 'tap'
import { decode, Long, UUID } from '@shardlab/bson'
import { inserted, threeShards } from './support/three-shards.js'
import { Gone } from './support/fake-world.js'

const lsid = { id: new UUID('00000000-0000-4000-8000-000000000001') }

t.test(
  'an unreachable shard is reported in writeErrors after the time-out, and other shards are written',
  async (t) => {
    const cluster = threeShards()
    cluster.script((_shard, command) => inserted(command))
    await cluster.run({ insert: 'c', documents: [{ _id: 0, x: 1 }] })
    cluster.kill('shard02')
    const before = cluster.world.nowMs
    const blocked = cluster.start({
      insert: 'c',
      ordered: false,
      documents: [
        { _id: 1, x: 1 },
        { _id: 2, x: 500 },
        { _id: 3, x: 2 },
      ],
    })
    await cluster.world.drain()
    t.match(
      await cluster.run({ insert: 'c', documents: [{ _id: 4, x: -1 }] }),
      { n: 1 },
      'another operation is not held up',
    )
    const reply = decode(await cluster.world.settle(blocked))
    t.equal(cluster.world.nowMs - before, 15_000)
    const errmsg =
      'Write results unavailable from failing to target a host in the shard shard02 :: caused by :: Could not find host matching read preference { mode: "primary" } for set shard02'
    t.match(reply, {
      n: 1,
      writeErrors: [
        { index: 0, code: 133, errmsg },
        { index: 2, code: 133, errmsg },
      ],
      ok: 1,
    })
  },
)

t.test('a write to a shard that restarts in time succeeds', async (t) => {
  const cluster = threeShards()
  cluster.script((_shard, command) => inserted(command))
  cluster.kill('shard02')
  const waiting = cluster.start({ insert: 'c', documents: [{ _id: 1, x: 1 }] })
  await cluster.world.drain()
  cluster.revive('shard02')
  t.match(decode(await cluster.world.settle(waiting)), { n: 1, ok: 1 })
})

t.test('after a crash in the middle of a write, only a retryable write is repeated', async (t) => {
  const cluster = threeShards()
  await cluster.world.fire(cluster.mongos, 'ping')
  let calls = 0
  cluster.script((_shard, command) => {
    if (calls++ === 0) throw new Gone()
    return inserted(command)
  })
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1, x: 1 }], lsid, txnNumber: Long.ONE }), { n: 1, ok: 1 })
  calls = 0
  t.match(
    await cluster.run({
      insert: 'c',
      documents: [
        { _id: 2, x: 1 },
        { _id: 3, x: 1 },
      ],
    }),
    {
      n: 0,
      writeErrors: [
        {
          index: 0,
          code: 6,
          errmsg: /^Write results unavailable from 127\.0\.0\.1:5001 :: caused by :: network error/,
        },
      ],
      ok: 1,
    },
  )
})

t.test('maxTimeMS ends the command as a whole', async (t) => {
  const cluster = threeShards()
  cluster.script((_shard, command) => inserted(command))
  await cluster.run({ insert: 'c', documents: [{ _id: 0, x: 1 }] })
  cluster.kill('shard02')
  const before = cluster.world.nowMs
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1, x: 1 }], maxTimeMS: 100 }), {
    ok: 0,
    code: 50,
    codeName: 'MaxTimeMSExpired',
  })
  t.equal(cluster.world.nowMs - before, 100)
})
