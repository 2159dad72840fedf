/**
 * Conflicts with a running migration: other migrations, changes of the collection, documents that
 * change their shard.
 */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { donor, heldAt, move, recipient, start, third } from './held-migration.js'

t.test('continuous writes do not prevent a migration', async (t) => {
  const writers = 4
  for (const version of ['4.0', '7.0'] as const) {
    const { cluster, run } = await start(t, 2, version)
    // Each time the recipient requests changes, there are new ones.
    await cluster.faults.apply(`delay between ${donor} and ${recipient} by 20ms`)
    const begunAtMs = cluster.now()
    let isMoving = true
    let updates = 0
    const writing = Array.from({ length: writers }, async (_, writer) => {
      for (let i = writer; isMoving; i += writers) {
        const reply = await run({
          update: 'c',
          updates: [{ q: { k: 10 + (i % 10) }, u: { $inc: { n: 1 } } }],
          $db: 'app',
        })
        updates += reply['n'] as number
      }
    })
    t.equal((await run(move('c', 15, recipient)))['ok'], 1)
    isMoving = false
    await Promise.all(writing)
    t.ok(cluster.now() - begunAtMs < 60_000, `${version}: moved after ${cluster.now() - begunAtMs} ms`)
    const { cursor } = await run({
      aggregate: 'c',
      pipeline: [{ $group: { _id: null, n: { $sum: '$n' } } }],
      cursor: {},
      $db: 'app',
    })
    t.equal(cursor.firstBatch[0].n, updates, 'no update is lost')
  }
})

t.test('a write that waits for a critical section ends with its time, or when it is killed', async (t) => {
  const { cluster, run } = await start(t, 2)
  const held = await heldAt(cluster, 'shard.migration.writes-blocked', () => run(move('c', 15, recipient)))
  const write = (comment: string, maxTimeMS: number) =>
    run({ update: 'c', updates: [{ q: { k: 15 }, u: { $inc: { n: 1 } } }], comment, maxTimeMS, $db: 'app' })
  t.match(await write('late', 50), { ok: 0, code: 50, codeName: 'MaxTimeMSExpired' })

  const killed = write('killed', 60_000)
  const find = { aggregate: 1, pipeline: [{ $currentOp: {} }, { $match: { 'command.comment': 'killed' } }], cursor: {} }
  let operations: Document[] = []
  for (let tries = 0; operations.length === 0 && tries < 100; tries++)
    operations = (await run(find, donor))['cursor'].firstBatch
  t.match(await run({ killOp: 1, op: operations[0]!['opid'] }, donor), { ok: 1 })
  t.match(await killed, { ok: 1, n: 0, writeErrors: [{ index: 0, code: 11601 }] })
  await held.release()
  t.match(await held.reply, { ok: 1 })
})

t.test('a busy shard refuses a migration with the error of its version', async (t) => {
  for (const [version, text] of [
    [
      '4.0',
      'migration because this shard is currently donating chunk [{ k: 10 }, { k: MaxKey }) for namespace app.c to shard02',
    ],
    [
      '4.4',
      'migration because this shard is currently donating chunk [{ k: 10 }, { k: MaxKey }) for namespace app.c to shard02',
    ],
    [
      '5.0',
      'balancer operation because this shard is currently donating chunk [{ k: 10 }, { k: MaxKey }) for namespace app.c to shard02',
    ],
    [
      '6.0.2',
      "balancer operation because this shard is currently donating range 'min: { k: 10 } - max: { k: MaxKey }' for namespace app.c to shard shard02",
    ],
  ] as [EmulatedVersion, string][]) {
    const { cluster, run } = await start(t, 3, version)
    const { reply, release } = await heldAt(cluster, 'shard.migration.caught-up', () => run(move('c', 10, recipient)))
    t.match(await run(move('e', 10, recipient)), { code: 117, errmsg: `Unable to start new ${text}` }, version)
    await release()
    t.match(await reply, { ok: 1 })
  }
})

t.test('a shard takes part in one migration at a time; an equal request joins', async (t) => {
  const { cluster, run } = await start(t, 3)
  const { reply, release } = await heldAt(cluster, 'shard.migration.caught-up', () => run(move('c', 10, recipient)))
  const busy = await run(move('e', 10, recipient))
  t.match(busy, { ok: 0, code: 117, codeName: 'ConflictingOperationInProgress' })
  t.match(
    busy['errmsg'],
    /currently donating range 'min: \{ k: 10 \} - max: \{ k: MaxKey \}' for namespace app\.c to shard shard02/,
  )
  const joined = run(move('c', 10, recipient))
  await run({ split: 'app.e', middle: { k: 15 } })
  await cluster.advance(5)
  await release()
  t.match(await reply, { ok: 1 })
  t.match(await joined, { ok: 1 })
  t.match(await run(move('e', 10, third)), { ok: 1 })
  const receiving = await heldAt(cluster, 'shard.migration.caught-up', () => run(move('e', 10, recipient)))
  t.match(
    (await run(move('c', 0, recipient)))['errmsg'],
    /currently receiving chunk \[\{ k: 10 \}, \{ k: 15 \}\) for namespace app\.e from shard03/,
  )
  t.match(await run(move('c', 0, third)), { ok: 0, code: 117 }, 'nor does a donor receive')
  await receiving.release()
  t.match(await receiving.reply, { ok: 1 })
})

t.test('a change of the collection aborts its migration, which leaves no records or documents', async (t) => {
  const { cluster, run } = await start(t, 2)
  const changes: readonly Document[] = [
    { createIndexes: 'c', indexes: [{ key: { n: 1 }, name: 'n_1' }], $db: 'app' },
    { collMod: 'c', validator: { k: { $exists: true } }, $db: 'app' },
    { dropIndexes: 'c', index: 'n_1', $db: 'app' },
  ]
  for (const change of changes) {
    const { reply, release } = await heldAt(cluster, 'shard.migration.caught-up', () => run(move('c', 10, recipient)))
    t.match(await run(change), { ok: 1 })
    await release()
    t.match(await reply, { ok: 0, code: 11601 }, Object.keys(change)[0]!)
    await cluster.advance(2000)
    t.equal((await run({ count: 'c', $db: 'app' }, recipient))['n'], 0, 'the recipient has deleted its part')
  }
  const { reply, release } = await heldAt(cluster, 'shard.migration.caught-up', () => run(move('c', 10, recipient)))
  t.match(await run({ drop: 'c', $db: 'app' }), { ok: 1 })
  await release()
  t.match(await reply, { ok: 0 })
  await cluster.advance(30_000)
  for (const shard of cluster.shards)
    for (const name of ['rangeDeletions', 'migrationCoordinators'])
      t.same((await run({ find: name, $db: 'config' }, shard))['cursor']['firstBatch'], [], `${shard} ${name}`)
  t.match(await run(move('e', 10, recipient)), { ok: 1 })
})

t.test('the critical section blocks writes, and reads only during the commit', async (t) => {
  const { cluster, run } = await start(t, 2)
  const { reply, release } = await heldAt(cluster, 'shard.migration.writes-blocked', () =>
    run(move('c', 10, recipient)),
  )
  let written = false
  const write = run({ update: 'c', updates: [{ q: { k: 12 }, u: { $inc: { n: 1 } } }], $db: 'app' }).then((done) => {
    written = true
    return done
  })
  t.equal((await run({ find: 'c', filter: { k: 12 }, $db: 'app' }))['cursor']['firstBatch'].length, 1)
  t.match(
    await run({ update: 'e', updates: [{ q: { k: 12 }, u: { $inc: { n: 1 } } }], $db: 'app' }),
    { n: 1 },
    'other collections are free',
  )
  t.equal(written, false)
  await release()
  t.match(await write, { n: 1, nModified: 1 })
  t.match(await reply, { ok: 1 })
  t.equal((await run({ find: 'c', filter: { k: 12 }, $db: 'app' }))['cursor']['firstBatch'][0].n, 1)
  t.equal(
    (await run({ find: 'c', filter: { k: 12 }, $db: 'app' }, recipient))['cursor']['firstBatch'][0].n,
    1,
    'on its new shard',
  )
})

t.test('a range is deleted after the cursors that were open before its migration', async (t) => {
  const delayMs = 10_000
  // Time after the migration, and after the end of the cursor, which is 60 seconds later.
  for (const [version, unreadMs, readMs] of [
    ['2.6', 0, 0],
    ['4.0', delayMs, 0],
    ['4.4', delayMs, delayMs],
    ['8.0', delayMs, delayMs],
  ] as const) {
    const { cluster, run } = await start(t, 2, version)
    for (const shard of cluster.shards) await run({ setParameter: 1, orphanCleanupDelaySecs: delayMs / 1000 }, shard)
    const onDonor = async (name: string) => (await run({ count: name, $db: 'app' }, donor))['n'] as number
    const { cursor } = await run({ find: 'c', filter: {}, sort: { k: 1 }, batchSize: 2, $db: 'app' })
    const direct = (await run({ find: 'e', filter: {}, batchSize: 2, $db: 'app' }, donor))['cursor']
    for (const name of ['c', 'e']) t.match(await run(move(name, 10, recipient)), { ok: 1 }, version)
    const later = (await run({ find: 'c', filter: { k: { $lt: 10 } }, batchSize: 2, $db: 'app' }))['cursor']
    await cluster.advance(unreadMs + 500)
    t.same(
      [await onDonor('c'), await onDonor('e')],
      [20, version === '2.6' ? 20 : 10],
      'a direct read of the shard sees orphans and does not delay the deletion',
    )
    const back = run(move('c', 10, donor))
    await cluster.advance(60_000)
    t.match(await back, { ok: 0, errmsg: /orphans cleanup|range deletion|deletion/ }, 'the range cannot come back')
    t.equal(await onDonor('c'), 20)
    const rest = await run({ getMore: cursor.id, collection: 'c', batchSize: 100, $db: 'app' })
    const seen = [cursor.firstBatch, rest['cursor']['nextBatch']].flat() as { k: number }[]
    t.same(
      seen.map(({ k }) => k),
      Array.from({ length: 20 }, (_, i) => i),
    )
    if (readMs > 0) {
      await cluster.advance(readMs - 500)
      t.equal(await onDonor('c'), 20)
    }
    await cluster.advance(1000)
    t.equal(await onDonor('c'), 10, 'a cursor that was opened later is not waited for')
    t.ok(later.id > 0 && direct.id > 0)
    t.match(await run(move('c', 10, donor)), { ok: 1 })
  }
})

t.test('_waitForDelete waits until an open cursor has timed out', async (t) => {
  const { cluster, run } = await start(t, 2)
  const { cursor } = await run({ find: 'c', filter: {}, batchSize: 2, $db: 'app' })
  const moving = run({ ...move('c', 10, recipient), _waitForDelete: true })
  let isAnswered = false
  void moving.then(() => (isAnswered = true))
  await cluster.advance(9 * 60_000)
  t.notOk(isAnswered)
  await cluster.advance(3 * 60_000)
  t.match(await moving, { ok: 1 })
  t.match(await run({ getMore: cursor.id, collection: 'c', $db: 'app' }), { code: 43 })
  t.equal((await run({ count: 'c', $db: 'app' }, donor))['n'], 10)
})

t.test('a document with the same _id on the recipient aborts the migration', async (t) => {
  const { cluster, run } = await start(t, 2)
  await run({ split: 'app.c', middle: { k: 5 } })
  t.match(await run(move('c', 5, recipient)), { ok: 1 })
  t.match(await run({ insert: 'c', documents: [{ _id: 15, k: 7 }], $db: 'app' }), { n: 1 })
  const reply = await run(move('c', 10, recipient))
  t.match(reply, { ok: 0, code: 96 })
  t.match(reply['errmsg'], /has same _id as cloned remote document/)
  await cluster.advance(2000)
  t.equal((await run({ count: 'c', query: {}, $db: 'app' }, recipient))['n'], 6, 'its own documents alone')
})

// Seed 56 of the swarm: the donor took the old name for a dropped collection, and the recipient
// deleted what it owned.
t.test(
  'a commit whose reply was lost is valid, although the collection was renamed before the donor asks',
  async (t) => {
    for (const [version, unheard] of [
      ['5.0', 'config.ensure-chunk-version-is-greater-than'],
      ['8.0', 'config.get-collection'],
    ] as const) {
      const { cluster, run } = await start(t, 3, version)
      t.match(await run(move('c', 10, recipient)), { ok: 1 })
      await cluster.advance(1_000_000)
      await cluster.faults.apply(`cut replies of config to ${recipient} only config.commit-chunk-migration first 1`)
      await cluster.faults.apply(`drop from ${recipient} to config only ${unheard} for 10s`)
      const moving = run(move('c', 10, third))
      while ((cluster.faults.list()[0]!.strikes ?? 0) === 0) await cluster.advance(1)
      await cluster.advance(100)
      t.match(await run({ renameCollection: 'app.c', to: 'app.d' }), { ok: 1 })
      await cluster.faults.heal()
      await moving
      await cluster.advance(1_000_000)
      t.match(await run({ count: 'd', $db: 'app' }), { n: 20 }, version)
      t.match(await run({ count: 'd', $db: 'app' }, third), { n: 10 }, 'the recipient has its part')
    }
  },
)

// Seed 434 of the swarm: the primary shard recreated the collection for received documents after
// its drop.
t.test('documents received during a drop are not kept', async (t) => {
  for (const [step, version] of [
    ['shard.migration.recipient-started', '5.0'],
    ['shard.migration.recipient-started', '7.0'],
    ['shard.migration.recipient-prepared', '7.0'],
    ['shard.migration.recipient-batch-stored', '7.0'],
  ] as const) {
    for (const drop of [{ drop: 'c' }, { dropDatabase: 1 }]) {
      const { cluster, run } = await start(t, 2, version)
      // The primary shard owns nothing of it: its documents after the drop would be those of an
      // unsharded collection.
      for (const k of [5, 15]) t.match(await run({ ...move('c', k, recipient), _waitForDelete: true }), { ok: 1 })
      await cluster.advance(1_000_000)
      const { reply, release } = await heldAt(cluster, step, () => run(move('c', 15, donor)))
      t.match(await run({ ...drop, $db: 'app' }), { ok: 1 })
      await release()
      t.match(await reply, { ok: 0 })
      t.match(await run({ count: 'c', $db: 'app' }), { n: 0 }, `${version}, ${step}, ${Object.keys(drop)[0]}`)
      for (const shard of cluster.shards) {
        const { cursor } = await run({ listCollections: 1, filter: { name: 'c' }, $db: 'app' }, shard)
        t.same(cursor.firstBatch, [], `no collection on ${shard}`)
      }
    }
  }
})

t.test('a migration waits for all documents in config.rangeDeletions', async (t) => {
  for (const version of ['4.4', '7.0'] as const) {
    const { run } = await start(t, 2, version)
    t.match(await run(move('c', 10, recipient)), { ok: 1 }, version)
    const tasks = async () =>
      (await run({ find: 'rangeDeletions', $db: 'config' }, donor))['cursor']['firstBatch'] as Document[]
    const [task] = await tasks()
    t.match(task, { nss: 'app.c', donorShardId: donor })
    const back = () => run(move('c', 10, donor))
    t.match(await back(), { ok: 0 }, 'it has not been deleted yet')
    await run({ delete: 'rangeDeletions', deletes: [{ q: { _id: task!['_id'] }, limit: 1 }], $db: 'config' }, donor)
    t.match(await run(move('c', 0, recipient)), { ok: 1 }, 'another range')
    await run({ insert: 'rangeDeletions', documents: [task!], $db: 'config' }, donor)
    t.match(await back(), { ok: 0 }, 'it is noted again')
    const elsewhere = { range: { min: { k: -2 }, max: { k: -1 } } }
    await run(
      { update: 'rangeDeletions', updates: [{ q: { _id: task!['_id'] }, u: { $set: elsewhere } }], $db: 'config' },
      donor,
    )
    t.match(await back(), { ok: 1 }, 'it is about another range')
    t.equal((await tasks()).length, 2)
    t.match(await run(move('c', 0, donor)), { ok: 0 })
    await run({ drop: 'rangeDeletions', $db: 'config' }, donor)
    t.match(await run(move('c', 0, donor)), { ok: 1 }, 'nothing is noted')
  }
})
