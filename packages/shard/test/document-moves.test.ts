import t from 'tap'
import { Binary, encode, Long, type Document } from '@shardlab/bson'
import { createDeferred } from '@shardlab/actor'
import { Shards } from './support/shards.js'

const lsid = { id: new Binary(Buffer.alloc(16, 1), 4) }
const session = encode({ lsid, txnNumber: Long.fromNumber(1), stmtId: 0 })

/** db.c with `a` below 0 on shard01, the rest on shard02, and a document on each. */
async function sharded(): Promise<Shards> {
  const shards = new Shards({ shards: ['shard01', 'shard02'] })
  const { uuid } = await shards.shardCollection('db.c', { key: { a: 1 } })
  await shards.send('shard02', 'shard.create-local-collection', { ns: 'db.c', uuid, options: encode({}), indexes: [] })
  shards.config.shard('db.c', { a: 1 }, [0], ['shard01', 'shard02'], uuid)
  await write(shards, 'shard01', { insert: 'c', documents: [{ _id: 1, a: -1 }] })
  await write(shards, 'shard02', { insert: 'c', documents: [{ _id: 2, a: 2 }] })
  return shards
}

const versionOf = (shards: Shards, shard: string) => ({ shardVersion: shards.config.version('db.c', shard) })
const write = (shards: Shards, shard: string, command: Document) =>
  shards.routed(shard, command, versionOf(shards, shard))
const seen = async (shards: Shards) => [
  await shards.ids('shard01', { find: 'c' }, versionOf(shards, 'shard01')),
  await shards.ids('shard02', { find: 'c' }, versionOf(shards, 'shard02')),
]

const move = async (shards: Shards, requestId: string, before: Document | null, after: Document) => {
  const { error } = await shards.send('shard01', 'shard.move-document', {
    requestId,
    ns: 'db.c',
    before: before === null ? null : encode(before),
    after: encode(after),
    shardVersion: shards.config.version('db.c', 'shard01'),
    session,
    clusterTime: [1, 1],
  })
  return { error }
}

async function reached(shards: Shards, step: string): Promise<void> {
  for (let turns = 0; turns < 1000; turns++) {
    if (shards.contexts.get('shard02')!.reached.includes(step)) return
    await Promise.resolve()
  }
  throw new Error(`shard02 did not come to ${step}`)
}

t.test('a document moves once, however often the request is repeated', async (t) => {
  const shards = await sharded()
  t.same(await move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 }), { error: null })
  t.same(await seen(shards), [[], [2, 1]])
  t.same(await move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 }), { error: null })
  shards.restart('shard01')
  t.same(await move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 }), { error: null }, 'not after a restart either')
  t.same(await seen(shards), [[], [2, 1]])
  const again = { update: 'c', updates: [{ q: { a: -1 }, u: { $set: { a: 1 } } }], lsid, txnNumber: Long.fromNumber(1) }
  for (const shard of ['shard01', 'shard02']) {
    t.match(await write(shards, shard, again), {
      ok: 0,
      code: 217,
      errmsg: 'Cannot retry a retryable write that has been converted into a transaction',
    })
    shards.restart(shard)
    t.match(await write(shards, shard, again), { ok: 0, code: 217 })
  }
})

t.test(
  'D800 before the decision the old document is visible, and the new one to unversioned commands only',
  async (t) => {
    const shards = await sharded()
    const pause = createDeferred<void>()
    shards.contexts.get('shard01')!.pausing.set('shard.document-move.prepared', pause.promise)
    const moved = move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1, b: 1 })
    await reached(shards, 'shard.document-move.insert-prepared')
    t.same(await seen(shards), [[1], [2]])
    t.same(
      await shards.ids('shard02', { find: 'c', filter: { a: 1 } }, versionOf(shards, 'shard02')),
      [],
      'not by its key either',
    )
    t.same(await shards.ids('shard02', { find: 'c' }, 'direct'), [2, 1])
    t.match(
      await write(shards, 'shard02', { update: 'c', updates: [{ q: { b: 1 }, u: { $set: { c: 1 } }, multi: true }] }),
      { n: 0 },
    )
    t.match(await write(shards, 'shard02', { insert: 'c', documents: [{ _id: 1, a: 3 }] }), {
      writeErrors: [{ code: 11000 }],
    })
    pause.resolve()
    t.same(await moved, { error: null })
    t.same(await seen(shards), [[], [2, 1]])
  },
)

t.test('D801 a concurrent change of the document wins, and the statement has to run again', async (t) => {
  const shards = await sharded()
  const pause = createDeferred<void>()
  shards.contexts.get('shard01')!.pausing.set('shard.document-move.prepared', pause.promise)
  const moved = move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 })
  await reached(shards, 'shard.document-move.insert-prepared')
  t.match(await write(shards, 'shard01', { update: 'c', updates: [{ q: { a: -1 }, u: { $set: { n: 1 } } }] }), { n: 1 })
  pause.resolve()
  const { error } = await moved
  t.match(error, Buffer)
  await shards.wake('shard02', 'document-moves')
  t.same(await seen(shards), [[1], [2]])
  t.same(await shards.ids('shard02', { find: 'c' }, 'direct'), [2], 'the prepared document is gone')
})

t.test(
  'a restarted recipient asks for the outcome, at the latest before a command enters the collection',
  async (t) => {
    for (const committed of [true, false]) {
      const shards = await sharded()
      const step = committed ? 'shard.document-move.decided' : 'shard.document-move.prepared'
      shards.contexts.get('shard01')!.failing.add(step)
      if (!committed) shards.contexts.get('shard02')!.failing.add('shard.document-move.deciding')
      await move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 })
      shards.restart('shard02')
      t.same(await seen(shards), committed ? [[], [2, 1]] : [[1], [2]])
      shards.contexts.get('shard02')!.failing.clear()
      await shards.wake('shard02', 'document-moves')
      t.same(await seen(shards), committed ? [[], [2, 1]] : [[1], [2]])
      t.same(await shards.ids('shard02', { find: 'c' }, 'direct'), committed ? [2, 1] : [2])
    }
  },
)

t.test('a decided document is found and changed before the recipient has received the decision', async (t) => {
  const shards = await sharded()
  shards.contexts.get('shard02')!.failing.add('shard.document-move.deciding')
  t.same(await move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 }), { error: null })
  t.match(await write(shards, 'shard02', { update: 'c', updates: [{ q: { a: 1, _id: 1 }, u: { $set: { n: 1 } } }] }), {
    n: 1,
    nModified: 1,
  })
  t.same(await seen(shards), [[], [2, 1]])
})

t.test('undecided moves do not block commands, and a coordinator that is down does not block reads', async (t) => {
  const shards = await sharded()
  const pause = createDeferred<void>()
  shards.contexts.get('shard01')!.pausing.set('shard.document-move.prepared', pause.promise)
  const moved = move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 })
  await reached(shards, 'shard.document-move.insert-prepared')
  t.same(await seen(shards), [[1], [2]])
  shards.down.add('shard01')
  t.same(await seen(shards), [[1], [2]])
  const { sleeps } = shards.contexts.get('shard02')!
  const before = sleeps.length
  t.match(await write(shards, 'shard02', { update: 'c', updates: [{ q: { a: 5 }, u: { $set: { n: 1 } } }] }), { n: 0 })
  t.ok(sleeps.length > before, 'a write waits for a limited time')
  shards.down.clear()
  pause.resolve()
  await moved
  t.same(await seen(shards), [[], [2, 1]])
})

t.test('a restarted donor sends its decisions', async (t) => {
  const shards = await sharded()
  shards.contexts.get('shard01')!.failing.add('shard.document-move.decided')
  t.same(await move(shards, 'r1', { _id: 1, a: -1 }, { _id: 1, a: 1 }), { error: null })
  shards.restart('shard01')
  await shards.wake('shard01', 'document-moves')
  t.same(await seen(shards), [[], [2, 1]])
  shards.contexts.get('shard01')!.nowMs += 60_000
  await shards.wake('shard01', 'document-moves')
  t.same(
    await shards.ids('shard01', { find: 'transaction_coordinators', $db: 'config' }, 'direct'),
    [],
    'the decision is deleted after a minute',
  )
})
