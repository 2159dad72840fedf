/**
 * Updates that may change a shard key value, and their errors, by version. Manual:
 * core/sharding-change-shard-key-value.
 */
import t from 'tap'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'

const lsid = { id: new Binary(Buffer.alloc(16, 1), 4) }

/** app.c by the hash of k, with documents on known shards, and keys without documents. */
class World {
  readonly cluster: SimulatedCluster
  /** `_id`s, which are also the keys, by shard. */
  readonly on: Readonly<Record<'shard01' | 'shard02', number[]>>
  #txnNumber = 0

  constructor(cluster: SimulatedCluster, on: Record<'shard01' | 'shard02', number[]>) {
    this.cluster = cluster
    this.on = on
  }

  static async start(emulate: EmulatedVersion): Promise<World> {
    const cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate })
    const world = new World(cluster, { shard01: [], shard02: [] })
    await world.run({ enableSharding: 'app', $db: 'admin' })
    await world.run({ shardCollection: 'app.c', key: { k: 'hashed' }, $db: 'admin' })
    await world.run({ insert: 'c', documents: Array.from({ length: 40 }, (_, k) => ({ _id: k, k, n: 0 })) })
    for (const shard of ['shard01', 'shard02'] as const) {
      const { cursor } = await world.run({ find: 'c' }, shard)
      world.on[shard].push(...(cursor.firstBatch as Document[]).map((document) => document['_id'] as number))
    }
    // The second halves are keys without documents.
    for (const keys of Object.values(world.on))
      await world.run({ delete: 'c', deletes: [{ q: { k: { $in: keys.slice(5) } }, limit: 0 }] })
    return world
  }

  async run(command: Document, to = 'mongos01'): Promise<Document> {
    return decode(await this.cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to }), {
      promoteLongs: true,
    })
  }

  /** Runs the command as a retryable write. */
  retryably(command: Document): Promise<Document> {
    return this.run({ ...command, lsid, txnNumber: Long.fromNumber(++this.#txnNumber) })
  }

  update(q: Document, u: unknown, options: Document = {}): Promise<Document> {
    return this.retryably({ update: 'c', updates: [{ q, u, ...options }] })
  }

  async find(filter: Document): Promise<Document[]> {
    return (await this.run({ find: 'c', filter, sort: { _id: 1 } }))['cursor'].firstBatch as Document[]
  }

  stop(): Promise<void> {
    return this.cluster.stop()
  }
}

const error = (code: number, errmsg?: string | RegExp) => ({
  n: 0,
  writeErrors: [{ index: 0, code, ...(errmsg === undefined ? {} : { errmsg }) }],
})
const fullKeyNeeded = 'Shard key update is not allowed without specifying the full shard key in the query'
const retryNeeded = 'Must run update to shard key field in a multi-statement transaction or with retryWrites: true.'

for (const emulate of ['2.6', '4.0'] as const) {
  t.test(`${emulate}: shard key values are immutable`, async (t) => {
    const world = await World.start(emulate)
    const [k, other] = world.on.shard01
    const changed = "Performing an update on the path 'k' would modify the immutable field 'k'"
    t.match(await world.update({ k }, { $set: { k: other } }), error(66, changed))
    t.match(await world.update({ k }, { $unset: { k: 1 } }), error(66, changed))
    t.match(
      await world.update({ k }, { k: other }),
      error(66, `After applying the update, the (immutable) field 'k' was found to have been altered to k: ${other}`),
    )
    t.match(
      await world.update({ k }, { n: 1 }),
      error(61, /^A single update on a sharded collection must contain an exact match on _id/),
    )
    t.match(
      await world.update({ _id: k }, { n: 1 }),
      error(66, /^After applying the update, the \(immutable\) field 'k' was found to have been removed --\{/),
    )
    t.match(await world.update({ k: 1000 }, { $set: { k: 1001 } }, { upsert: true }), error(66, changed))
    t.match(await world.update({ k }, { $set: { k, n: 1 } }), { n: 1, nModified: 1 }, 'the same value is none')
    t.match(await world.find({ k }), [{ _id: k, n: 1 }])
    await world.stop()
  })
}

for (const emulate of ['2.6', '4.0'] as const)
  t.test(`${emulate}: a replacement that is inserted keeps every shard key value of its filter`, async (t) => {
    const world = await World.start(emulate)
    await world.run({ shardCollection: 'app.pairs', key: { a: 1, b: 1 }, $db: 'admin' })
    const upsert = (q: Document, u: Document) => world.run({ update: 'pairs', updates: [{ q, u, upsert: true }] })
    const altered = "After applying the update, the (immutable) field 'a' was found to have been altered to a: 2"
    t.match(await upsert({ a: 1 }, { a: 2, b: 3 }), error(66, altered))
    t.match(await upsert({ b: 1, c: 5 }, { a: 2, b: 3 }), error(66))
    t.match(await upsert({ a: 1, b: 3 }, { a: 2, b: 3 }), error(66, altered))
    t.match(await world.run({ count: 'pairs' }), { n: 0 })
    t.match(await upsert({ a: 2, c: 5 }, { a: 2, b: 3 }), { n: 1, upserted: [{ index: 0 }] })
    await world.stop()
  })

for (const emulate of ['4.4', '6.0', '7.0', '8.0'] as const) {
  t.test(`${emulate}: a change of the value needs the key in the query and a retryable write`, async (t) => {
    const world = await World.start(emulate)
    const [k] = world.on.shard01
    const here = world.on.shard01[10]!
    const there = world.on.shard02[10]!
    for (const next of [here, there]) {
      const unretried = await world.run({ update: 'c', updates: [{ q: { k }, u: { $set: { k: next } } }] })
      t.match(unretried, error(20, retryNeeded), 'no retryable write, even where the document stays')
      const needsKey = emulate === '8.0' ? null : error(31025, fullKeyNeeded)
      const byId = await world.update({ _id: k }, { $set: { k: next } }, { multi: false })
      if (needsKey !== null) t.match(byId, needsKey, 'by _id')
      else {
        t.match(byId, { n: 1, nModified: 1 }, 'by _id')
        t.match(await world.update({ _id: k }, { $set: { k } }), { n: 1, nModified: 1 })
      }
      t.match(
        await world.update({ k }, { $set: { k: [next] } }),
        error(
          54,
          "After applying the update to the document, the field 'k' was found to be an array or array descendant.",
        ),
      )
      const many = { update: 'c', updates: [{ q: { k }, u: { $set: { k: next } }, multi: true }] }
      t.match(
        await world.run(many),
        error(72, 'Multi-update operations are not allowed when updating the shard key field.'),
      )
      const manyWithoutKey = { update: 'c', updates: [{ q: { _id: k }, u: { $set: { k: next } }, multi: true }] }
      t.match(await world.run(manyWithoutKey), error(emulate === '4.4' || emulate === '6.0' ? 31025 : 72))
    }
    t.match(await world.update({ k }, { $set: { _id: 77 } }), error(66))
    t.match(await world.update({ k }, { $set: { k: here } }), { n: 1, nModified: 1 }, 'it stays on its shard')
    t.match(await world.update({ k: here }, { $set: { k: there } }), { n: 1, nModified: 1 }, 'it goes')
    t.match(await world.find({ _id: k }), [{ _id: k, k: there }])
    await world.stop()
  })

  t.test(`${emulate}: a changed value moves the document`, async (t) => {
    const world = await World.start(emulate)
    const [a, b, c, d] = world.on.shard01 as [number, number, number, number]
    const [a2, b2, c2, d2, e2, f2] = world.on.shard02.slice(10) as [number, number, number, number, number, number]
    const plain = await world.update({ k: b }, { $set: { n: 0, seen: 1 } })
    t.same(
      Object.keys(await world.update({ k: a }, { $set: { k: a2 } })),
      Object.keys(plain),
      'the reply is that of any update',
    )
    t.match(await world.find({ k: a2 }), [{ _id: a, k: a2, n: 0 }])
    t.match(await world.update({ k: b }, { _id: b, k: b2, replaced: true }), { n: 1, nModified: 1 })
    t.match(await world.update({ k: c }, [{ $set: { k: c2 } }]), { n: 1, nModified: 1 })
    const old = await world.retryably({
      findAndModify: 'c',
      query: { k: d },
      update: { $set: { k: d2 } },
      fields: { _id: 1 },
    })
    t.match(
      old,
      { lastErrorObject: { n: 1, updatedExisting: true }, value: { _id: d, k: d, n: 0 }, ok: 1 },
      'with all fields, whatever the projection',
    )
    const back = await world.retryably({ findAndModify: 'c', query: { k: d2 }, update: { $set: { k: d } }, new: true })
    t.match(back, { lastErrorObject: { n: 1, updatedExisting: true }, value: { _id: d, k: d, n: 0 }, ok: 1 })
    const upserted = await world.update({ k: 1000 }, { $set: { k: e2, up: 1 } }, { upsert: true })
    t.match(upserted, { n: 1, nModified: 0, upserted: [{ index: 0 }] })
    t.match(await world.find({ k: e2 }), [{ _id: upserted['upserted'][0]._id, up: 1 }])
    const command = { findAndModify: 'c', query: { k: 1001 }, update: { $set: { k: f2 } }, upsert: true }
    t.match(await world.retryably(command), { lastErrorObject: { n: 1, updatedExisting: false }, value: null })
    const [found] = await world.find({ k: f2 })
    t.ok(found)
    for (const shard of ['shard01', 'shard02']) {
      const direct = (await world.run({ find: 'c', projection: { _id: 1 } }, shard))['cursor'].firstBatch as Document[]
      const owned = (
        await world.run({
          aggregate: 'c',
          pipeline: [{ $match: { _id: { $in: direct.map(({ _id }) => _id) } } }],
          cursor: {},
        })
      )['cursor']
      t.equal(owned.firstBatch.length, direct.length, `nothing on ${shard} is hidden from routers`)
    }
    await world.stop()
  })

  t.test(`${emulate}: moves that fail change nothing`, async (t) => {
    const world = await World.start(emulate)
    const [a, b] = world.on.shard01 as [number, number]
    const [there, other] = world.on.shard02.slice(10) as [number, number]
    await world.run({ insert: 'c', documents: [{ _id: a, k: there, twin: true }] })
    const duplicate = {
      n: 0,
      writeErrors: [
        {
          code: 11000,
          // Routers before 5.0 keep only the message of an error.
          ...(emulate === '4.4' ? {} : { keyPattern: { _id: 1 }, keyValue: { _id: a } }),
          errmsg:
            /^Failed to update document's shard key field\. There is either an orphan for this document or _id for this collection is not globally unique\. :: caused by :: During insert stage of updating a shard key :: caused by :: E11000 duplicate key error/,
        },
      ],
    }
    t.match(await world.update({ k: a }, { $set: { k: other } }), duplicate)
    const command = { findAndModify: 'c', query: { k: a }, update: { $set: { k: other } } }
    t.match(await world.retryably(command), {
      ok: 0,
      code: 11000,
      errmsg: /^findAndModify :: caused by :: Failed to update document's shard key field/,
    })
    t.match(await world.find({ k: a }), [{ _id: a }])
    await world.run({ collMod: 'c', validator: { n: { $lt: 5 } } })
    t.match(
      await world.update({ k: b }, { $set: { k: other, n: 9 } }),
      error(121, /^Update operation was converted into a distributed transaction/),
    )
    t.match(await world.find({ k: b }), [{ _id: b, n: 0 }])
    const two = [
      { q: { k: b }, u: { $set: { k: other } } },
      { q: { k: a }, u: { $set: { n: 1 } } },
    ]
    const alone =
      'Document shard key value updates that cause the doc to move shards must be sent with write batch of size 1'
    t.match(await world.retryably({ update: 'c', updates: two }), {
      n: 0,
      writeErrors: [{ index: 0, code: 72, errmsg: alone }],
    })
    t.match(await world.retryably({ update: 'c', updates: two.toReversed(), ordered: false }), {
      n: 1,
      writeErrors: [{ index: 1, code: 72, errmsg: alone }],
    })
    const here = world.on.shard01[12]!
    const stays = [
      { q: { k: b }, u: { $set: { k: here } } },
      { q: { k: a }, u: { $set: { n: 2 } } },
    ]
    t.match(
      await world.retryably({ update: 'c', updates: stays }),
      { n: 2, nModified: 2 },
      'what stays may come with others',
    )
    const unretried = await world.run({
      update: 'c',
      updates: [{ q: { k: 1002 }, u: { $set: { k: other } }, upsert: true }],
    })
    const place = await world.run({ find: 'c', filter: { k: other } })
    if (place['cursor'].firstBatch.length === 0)
      t.match(unretried, error(20, /^The upsert document could not be inserted onto the shard targeted by the query/))
    await world.stop()
  })
}

t.test('setting a missing value to null is not a change', async (t) => {
  const world = await World.start('7.0')
  await world.run({ insert: 'c', documents: [{ _id: 'missing' }] })
  t.match(await world.run({ update: 'c', updates: [{ q: { _id: 'missing', k: null }, u: { $set: { k: null } } }] }), {
    n: 1,
    nModified: 1,
  })
  t.match(await world.find({ k: null }), [{ _id: 'missing', k: null }])
  await world.stop()
})

t.test('another number type is a change since 5.0', async (t) => {
  for (const [emulate, needsRetry] of [
    ['4.4', false],
    ['5.0', true],
  ] as const) {
    const cluster = await createSimulatedCluster({ seed: 1, shards: 1, emulate })
    const run = async (command: Document) =>
      decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' })), { promoteLongs: true })
    await run({ enableSharding: 'app', $db: 'admin' })
    await run({ shardCollection: 'app.r', key: { k: 1 }, $db: 'admin' })
    await run({ insert: 'r', documents: [{ _id: 1, k: 5 }] })
    const reply = await run({ update: 'r', updates: [{ q: { k: 5 }, u: { $set: { k: Long.fromNumber(5) } } }] })
    if (needsRetry) t.match(reply, { writeErrors: [{ code: 20 }] }, emulate)
    else t.match(reply, { n: 1, nModified: 1 }, emulate)
    await cluster.stop()
  }
})

t.test('bulkWrite of 8.0 moves documents, one at a time', async (t) => {
  const world = await World.start('8.0')
  const [a, b] = world.on.shard01 as [number, number]
  const [there, other] = world.on.shard02.slice(10) as [number, number]
  const bulk = (ops: Document[]) => world.retryably({ bulkWrite: 1, ops, nsInfo: [{ ns: 'app.c' }], $db: 'admin' })
  const move = { update: 0, filter: { k: a }, updateMods: { $set: { k: there } } }
  t.match(await bulk([move]), {
    nErrors: 0,
    nMatched: 1,
    nModified: 1,
    cursor: { firstBatch: [{ ok: 1, idx: 0, n: 1, nModified: 1 }] },
  })
  t.match(await world.find({ k: there }), [{ _id: a }])
  const upsert = { update: 0, filter: { k: 1000 }, updateMods: { $set: { k: world.on.shard02[12]! } }, upsert: true }
  t.match(await bulk([upsert]), {
    nErrors: 0,
    nUpserted: 1,
    cursor: { firstBatch: [{ ok: 1, idx: 0, n: 1, nModified: 0, upserted: {} }] },
  })
  const second = { update: 0, filter: { k: b }, updateMods: { $set: { k: other } } }
  t.match(await bulk([second, { insert: 0, document: { k: 1 } }]), {
    nErrors: 1,
    cursor: { firstBatch: [{ ok: 0, idx: 0, code: 72, n: 0, nModified: 0 }] },
  })
  await world.stop()
})

t.test('clients of the shard itself cannot change a value', async (t) => {
  const world = await World.start('7.0')
  const [k] = world.on.shard01
  const command = { update: 'c', updates: [{ q: { k }, u: { $set: { k: 1000 } } }] }
  t.match(await world.run({ ...command, lsid, txnNumber: Long.fromNumber(99) }, 'shard01'), error(66))
  await world.stop()
})
