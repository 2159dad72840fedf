import t from 'tap'
import fc from 'fast-check'
import { BsonType, CommandError, decode, findField, fieldsOf, Long, ObjectId, UUID, type Document } from '@shardlab/bson'
import type { NodeCommand } from '@shardlab/actor'
import { cursorReply, errorReply, FakeCluster, staleReply, statementsOf } from './support/fake-cluster.js'

const lsid = { id: new UUID('00000000-0000-4000-8000-000000000001') }

/** test.c over x: below 0 on shard01, 0 to 100 on shard02, the rest on shard03. */
function threeShards(options = {}): FakeCluster {
  const cluster = new FakeCluster(options)
  cluster.shardByRange('test.c', 'x', [0, 100], ['shard01', 'shard02', 'shard03'])
  return cluster
}

function inserted(command: NodeCommand): Document {
  return { n: statementsOf(command, 'documents').length, ok: 1 }
}

t.test('insert', async (t) => {
  t.test('one document: one shard, body and sequences untouched, the types that drivers cast to', async (t) => {
    const cluster = threeShards()
    cluster.scripts.set('shard02', inserted)
    const command = { insert: 'c', ordered: true, lsid, txnNumber: Long.ONE }
    const reply = await cluster.runRaw(command, { sequences: [['documents', [{ _id: 1, x: 5 }]]] })
    t.same(
      fieldsOf(reply)
        .map(([name, value]) => [name, value.type])
        .slice(0, 2),
      [
        ['n', BsonType.int32],
        ['ok', BsonType.double],
      ],
    )
    const [sent] = cluster.commandsTo('shard02')
    t.same(sent!.body, { ...command, $db: 'test' })
    t.same(statementsOf(sent!.command, 'documents'), [{ _id: 1, x: 5 }])
    t.equal(sent!.command.stmtIds, null)
    t.match(cluster.routed(), [{ command: 'insert', kind: 'targeted', shards: ['shard02'], chunks: 1, bounds: [['{"x":5}', '{"x":5}']] }])
  })

  t.test('documents in the body pass as they are; an _id is added where it is missing', async (t) => {
    const cluster = threeShards()
    cluster.script((_shard, command) => inserted(command))
    await cluster.run({ insert: 'c', documents: [{ x: -5 }] })
    const [document] = statementsOf(cluster.commandsTo('shard01')[0]!.command, 'documents')
    t.ok(document!['_id'] instanceof ObjectId)
    t.same(Object.keys(document!), ['_id', 'x'])
    await cluster.run({ insert: 'c', documents: [{ x: -5, _id: 1 }] })
    t.same(cluster.commandsTo('shard01')[1]!.body['documents'], [{ x: -5, _id: 1 }])
  })

  t.test('ordered: runs for the same shard travel together, and the first error ends it', async (t) => {
    const cluster = threeShards()
    cluster.script((shard, command) => {
      const documents = statementsOf(command, 'documents')
      if (shard !== 'shard03') return inserted(command)
      return {
        n: documents.length - 1,
        writeErrors: [{ index: 1, code: 11000, keyPattern: { _id: 1 }, errmsg: 'E11000 duplicate key' }],
        ok: 1,
      }
    })
    const xs = [-1, -2, 5, 200, 300, 6]
    const reply = await cluster.run({ insert: 'c', documents: xs.map((x, _id) => ({ _id, x })), lsid, txnNumber: Long.ONE })
    t.match(reply, { n: 4, writeErrors: [{ index: 4, code: 11000, keyPattern: { _id: 1 } }], ok: 1 })
    t.same(
      cluster.world.sent.filter(({ kind }) => kind === 'node.command').map(({ to, request }) => [to, (request as NodeCommand).stmtIds]),
      [
        ['shard01', [0, 1]],
        ['shard02', [2]],
        ['shard03', [3, 4]],
      ],
    )
  })

  t.test('unordered: grouped by shard, errors collected in the order of the client', async (t) => {
    const cluster = threeShards()
    cluster.script((shard, command) => ({
      n: statementsOf(command, 'documents').length - 1,
      writeErrors: [{ index: 0, code: 11000, errmsg: shard }],
      ok: 1,
    }))
    const reply = await cluster.run({ insert: 'c', ordered: false, documents: [200, -1, 5, -2, 300, 6].map((x, _id) => ({ _id, x })) })
    t.same(
      reply['writeErrors'].map(({ index, errmsg }: Document) => [index, errmsg]),
      [
        [0, 'shard03'],
        [1, 'shard01'],
        [2, 'shard02'],
      ],
    )
    t.equal(reply['n'], 3)
    t.equal(cluster.countSent('node.command'), 3)
  })

  t.test('a document without a place: refused after a look at newer routing', async (t) => {
    const cluster = threeShards()
    cluster.script((_shard, command) => inserted(command))
    const reply = await cluster.run({
      insert: 'c',
      documents: [
        { _id: 1, x: 1 },
        { _id: 2, x: [1, 2] },
        { _id: 3, x: 3 },
      ],
    })
    t.match(reply, {
      n: 1,
      writeErrors: [{ index: 1, code: 61, errmsg: 'Shard key cannot contain array values or array descendants.' }],
      ok: 1,
    })
    t.equal(cluster.countSent('config.get-collection'), 2)
  })

  t.test('missing shard key fields are null from 4.4 on, an error before', async (t) => {
    const modern = threeShards()
    modern.script((_shard, command) => inserted(command))
    t.match(await modern.run({ insert: 'c', documents: [{ _id: 1 }] }), { n: 1 })
    t.equal(modern.commandsTo('shard01').length, 1)
    const old = threeShards({ emulate: '4.0' })
    t.match(await old.run({ insert: 'c', documents: [{ _id: 1 }] }), {
      n: 0,
      writeErrors: [{ code: 61, errmsg: 'document { _id: 1 } does not contain shard key for pattern { x: 1 }' }],
    })
    t.match(await old.run({ insert: 'c', documents: [{ _id: 1, x: 'y'.repeat(600) }] }), { n: 0, writeErrors: [{ code: 13334 }] })
  })

  t.test('the database is made when there is none', async (t) => {
    const cluster = threeShards()
    cluster.scripts.set('shard01', inserted)
    t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], $db: 'fresh' }), { n: 2, ok: 1 })
    t.equal(cluster.countSent('config.create-database'), 1)
    t.equal(cluster.commandsTo('shard01')[0]!.command.shardVersion, 'UNSHARDED')
  })

  t.test('batches to a shard stay below the limit', async (t) => {
    const cluster = threeShards({ limits: { shardBatchBytesMax: 1000 } })
    cluster.script((_shard, command) => inserted(command))
    const documents = Array.from({ length: 10 }, (_, _id) => ({ _id, x: _id % 2 === 0 ? 1 : 200, filler: 'x'.repeat(300) }))
    t.match(await cluster.run({ insert: 'c', ordered: false, documents }), { n: 10, ok: 1 })
    for (const { to, request } of cluster.world.sent.filter(({ kind }) => kind === 'node.command')) {
      t.ok(statementsOf(request, 'documents').length <= 2, to)
    }
  })

  t.test('a shard that miscounts is a broken invariant', async (t) => {
    const cluster = threeShards()
    cluster.script(() => ({ n: 5, ok: 1 }))
    await t.rejects(cluster.run({ insert: 'c', documents: [{ _id: 1, x: 1 }] }), /says that it inserted 5/)
  })

  t.test('indexes of errors are those of the client, whatever the grouping (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ x: fc.integer({ min: -200, max: 300 }), fails: fc.boolean() }), { minLength: 1, maxLength: 12 }),
        fc.boolean(),
        async (rows, ordered) => {
          const cluster = threeShards()
          cluster.script((_shard, command) => {
            const documents = statementsOf(command, 'documents')
            const errors: Document[] = []
            let n = 0
            for (const [index, document] of documents.entries()) {
              if (document['fails'] === true) errors.push({ index, code: 11000, errmsg: String(document['_id']) })
              else n++
              if (errors.length > 0 && ordered) break
            }
            return { n, ...(errors.length > 0 ? { writeErrors: errors } : {}), ok: 1 }
          })
          const reply = await cluster.run({ insert: 'c', ordered, documents: rows.map((row, _id) => ({ _id, ...row })) })
          const failing = rows.flatMap((row, index) => (row.fails ? [index] : []))
          const expected = ordered ? failing.slice(0, 1) : failing
          const actual = (reply['writeErrors'] ?? []).map(({ index, errmsg }: Document) => [index, errmsg])
          const n = ordered && failing.length > 0 ? failing[0]! : rows.length - failing.length
          return JSON.stringify(actual) === JSON.stringify(expected.map((index) => [index, String(index)])) && reply['n'] === n
        },
      ),
      { numRuns: 100 },
    )
  })
})

t.test('stale routing', async (t) => {
  t.test('a batch refused as a whole is refreshed and sent again, only what is not done', async (t) => {
    const cluster = threeShards()
    cluster.script((shard, command) => (cluster.isCurrent('test.c', shard, command) ? inserted(command) : staleReply()))
    await cluster.run({ insert: 'c', documents: [{ _id: 0, x: 1 }] })
    cluster.move('test.c', 2, 'shard01')
    const reply = await cluster.run({
      insert: 'c',
      ordered: false,
      documents: [
        { _id: 1, x: 1 },
        { _id: 2, x: 500 },
        { _id: 3, x: -1 },
      ],
    })
    t.match(reply, { n: 3, ok: 1 })
    t.notOk('writeErrors' in reply)
    t.equal(cluster.countSent('config.get-collection'), 2)
    t.same(
      cluster.commandsTo('shard01').map(({ command }) => statementsOf(command, 'documents').map(({ _id }) => _id)),
      [[3], [2, 3]],
    )
  })

  t.test('a batch that turns stale in its middle goes on from there', async (t) => {
    const cluster = threeShards()
    let calls = 0
    cluster.script((_shard, command) => {
      const documents = statementsOf(command, 'documents')
      if (calls++ > 0) return { n: documents.length, ok: 1 }
      return {
        n: 1,
        writeErrors: [
          { index: 0, code: 11000, errmsg: 'dup' },
          { index: 2, code: 13388, ns: 'test.c', errmsg: 'stale' },
        ],
        ok: 1,
      }
    })
    const reply = await cluster.run({ insert: 'c', ordered: false, documents: [1, 2, 3, 4].map((_id) => ({ _id, x: 1 })) })
    t.match(reply, { n: 3, writeErrors: [{ index: 0, code: 11000 }], ok: 1 })
    t.equal(reply['writeErrors'].length, 1)
    t.same(
      statementsOf(cluster.commandsTo('shard02')[1]!.command, 'documents'),
      [3, 4].map((_id) => ({ _id, x: 1 })),
    )
  })

  t.test('a stale database version', async (t) => {
    const cluster = new FakeCluster()
    cluster.scripts.set('shard01', () => ({ ok: 0, code: 249, errmsg: 'moved', db: 'test' }))
    cluster.scripts.set('shard02', inserted)
    await cluster.run({ count: 'warm' })
    cluster.databases.set('test', { primary: 'shard02', lastMod: 2 })
    t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1 }] }), { n: 1, ok: 1 })
    t.same(cluster.commandsTo('shard02')[0]!.command.databaseVersion, ['00112233445566778899aabbccddeeff', 3, 1, 2])
  })

  t.test('rounds without progress end', async (t) => {
    const cluster = threeShards()
    cluster.script(() => staleReply())
    const reply = await cluster.run({
      insert: 'c',
      documents: [
        { _id: 1, x: 1 },
        { _id: 2, x: 1 },
      ],
    })
    t.match(reply, {
      n: 0,
      writeErrors: [
        {
          index: 0,
          code: 82,
          errmsg: 'no progress was made executing batch write op in test.c after 5 rounds (0 ops completed in 6 rounds total)',
        },
      ],
      ok: 1,
    })
    t.equal(reply['writeErrors'].length, 1)
  })
})

t.test('unreachable shards', async (t) => {
  t.test('nobody there: inside writeErrors after the timeout, other shards unharmed', async (t) => {
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
    t.match(await cluster.run({ insert: 'c', documents: [{ _id: 4, x: -1 }] }), { n: 1 }, 'another operation is not held up')
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
  })

  t.test('it comes back in time', async (t) => {
    const cluster = threeShards()
    cluster.script((_shard, command) => inserted(command))
    cluster.kill('shard02')
    const waiting = cluster.start({ insert: 'c', documents: [{ _id: 1, x: 1 }] })
    await cluster.world.drain()
    cluster.revive('shard02')
    t.match(decode(await cluster.world.settle(waiting)), { n: 1, ok: 1 })
  })

  t.test('gone in the middle: a retryable write is repeated, another is not', async (t) => {
    const { Gone } = await import('./support/fake-world.js')
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
        writeErrors: [{ index: 0, code: 6, errmsg: /^Write results unavailable from 127\.0\.0\.1:5001 :: caused by :: network error/ }],
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
})

t.test('update and delete', async (t) => {
  const updated = (n: number, nModified = n): Document => ({ n, nModified, ok: 1 })

  t.test('by shard key: one shard, counts in the order of the router', async (t) => {
    const cluster = threeShards()
    cluster.script(() => updated(1))
    const reply = await cluster.runRaw({ update: 'c', updates: [{ q: { x: 5 }, u: { $set: { y: 1 } } }] })
    t.same(
      fieldsOf(reply)
        .slice(0, 3)
        .map(([name, value]) => [name, value.type]),
      [
        ['nModified', BsonType.int32],
        ['n', BsonType.int32],
        ['ok', BsonType.double],
      ],
    )
    t.equal(cluster.countSent('node.command'), 1)
    t.equal(findField(await cluster.runRaw({ delete: 'c', deletes: [{ q: { x: 5 }, limit: 1 }] }), 'nModified'), undefined)
  })

  t.test('upserted ids keep the positions of the client', async (t) => {
    const cluster = threeShards()
    cluster.script((_shard, command) => {
      const statements = statementsOf(command, 'updates')
      return {
        n: statements.length,
        nModified: 0,
        upserted: statements.map((statement, index) => ({ index, _id: statement['q'].x })),
        ok: 1,
      }
    })
    const updates = [200, 1, 300].map((x) => ({ q: { x }, u: { $set: { y: 1 } }, upsert: true }))
    t.match(await cluster.run({ update: 'c', ordered: false, updates }), {
      n: 3,
      upserted: [
        { index: 0, _id: 200 },
        { index: 1, _id: 1 },
        { index: 2, _id: 300 },
      ],
    })
  })

  t.test('multi beyond one shard goes to every shard without regard to placement', async (t) => {
    const cluster = new FakeCluster()
    cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
    cluster.script(() => updated(2))
    t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } }, multi: true }] }), { n: 6, nModified: 6 })
    t.same(
      ['shard01', 'shard02', 'shard03'].map((shard) => cluster.commandsTo(shard)[0]!.command.shardVersion),
      ['IGNORED', 'IGNORED', 'IGNORED'],
    )
    t.match(await cluster.run({ delete: 'c', deletes: [{ q: { x: { $gt: 5 } }, limit: 0 }] }), { n: 2 })
    t.match(cluster.commandsTo('shard02')[1]!.command.shardVersion, { 3: 1 })
  })

  t.test('one document without the key, by version', async (t) => {
    const byOther = { update: 'c', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } } }] }
    const byId = { update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { z: 1 } } }] }
    const byRange = { update: 'c', updates: [{ q: { x: { $gt: 500 } }, u: { $set: { z: 1 } } }] }
    const upsert = { update: 'c', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } }, upsert: true }] }
    const deletion = { delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }
    for (const [emulate, code] of [
      ['4.0', 61],
      ['5.0', 72],
    ] as const) {
      const cluster = threeShards({ emulate })
      cluster.script((shard) => updated(shard === 'shard02' ? 1 : 0))
      t.match(await cluster.run(byOther), { n: 0, writeErrors: [{ index: 0, code }] }, emulate)
      t.match(await cluster.run(deletion), { n: 0, writeErrors: [{ code: 61 }] })
      t.match(await cluster.run(upsert), {
        n: 0,
        writeErrors: [{ code: 61, errmsg: 'Failed to target upsert by query :: could not extract exact shard key' }],
      })
      t.match(await cluster.run(byId), { n: 1, nModified: 1 })
      t.same(
        ['shard01', 'shard02', 'shard03'].map((shard) => cluster.commandsTo(shard).length),
        [1, 1, 1],
      )
      if (emulate === '5.0') t.match(await cluster.run(byRange), { n: 0, ok: 1 })
      else t.match(await cluster.run(byRange), { writeErrors: [{ code: 61 }] })
    }
  })

  t.test('a replacement finds its shard by its own key below 7.0', async (t) => {
    const cluster = threeShards({ emulate: '5.0' })
    cluster.script(() => updated(1))
    t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { x: 500, y: 2 } }] }), { n: 1 })
    t.equal(cluster.commandsTo('shard03').length, 1)
  })

  t.test('7.0, exact _id: shards are asked in turn until one has it', async (t) => {
    const cluster = threeShards()
    cluster.script((shard) => updated(shard === 'shard02' ? 1 : 0))
    t.match(await cluster.run({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { z: 1 } } }] }), { n: 1, nModified: 1 })
    t.same(
      ['shard01', 'shard02', 'shard03'].map((shard) => cluster.commandsTo(shard).length),
      [1, 1, 0],
    )
  })

  t.test('7.0, any filter: a match is found first, then changed where it is', async (t) => {
    const cluster = threeShards()
    cluster.script((shard, _command, name) => {
      if (name === 'find') return cursorReply(shard === 'shard02' ? [{ _id: 42 }] : [])
      return name === 'update' ? updated(1) : { n: 1, ok: 1 }
    })
    t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { $inc: { z: 1 } }, upsert: true }] }), { n: 1, nModified: 1 })
    t.same(
      cluster.commandsTo('shard02').map(({ name }) => name),
      ['find', 'update'],
    )
    t.same(statementsOf(cluster.commandsTo('shard02')[1]!.command, 'updates'), [
      { q: { $and: [{ _id: 42 }, { y: 1 }] }, u: { $inc: { z: 1 } } },
    ])
    t.match(await cluster.run({ delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }), { n: 1 })
    t.equal(cluster.commandsTo('shard03').length, 0)
  })

  t.test('7.0, no match: an upsert goes where the new document belongs', async (t) => {
    const cluster = threeShards()
    cluster.script((_shard, command, name) => {
      if (name === 'find') return cursorReply([])
      return statementsOf(command, 'updates')[0]!['upsert'] === true
        ? { n: 1, nModified: 0, upserted: [{ index: 0, _id: 9 }], ok: 1 }
        : updated(0)
    })
    t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { $set: { x: 500 } }, upsert: true }] }), {
      n: 1,
      nModified: 0,
      upserted: [{ index: 0, _id: 9 }],
    })
    t.equal(cluster.commandsTo('shard03').filter(({ name }) => name === 'update').length, 1)
    t.equal(cluster.commandsTo('shard01').filter(({ name }) => name === 'update').length, 0)
  })

  t.test('7.0, a deletion without match does nothing', async (t) => {
    const cluster = threeShards()
    cluster.script(() => cursorReply([]))
    t.match(await cluster.run({ delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }), { n: 0, ok: 1 })
  })

  t.test('a filter that is none fails its statement', async (t) => {
    const cluster = threeShards()
    cluster.script(() => updated(1))
    t.match(
      await cluster.run({
        update: 'c',
        ordered: false,
        updates: [
          { q: { $foo: 1 }, u: { $set: { a: 1 } } },
          { q: { x: 1 }, u: { $set: { a: 1 } } },
        ],
      }),
      { n: 1, writeErrors: [{ index: 0, code: 2 }] },
    )
  })

  t.test('errors and concern errors of several shards come together', async (t) => {
    const cluster = threeShards()
    cluster.script((shard) =>
      shard === 'shard01'
        ? errorReply(new CommandError('BadValue', 'one'))
        : shard === 'shard02'
          ? errorReply(new CommandError('BadValue', 'two'))
          : { ...updated(1), writeConcernError: { code: 64, errmsg: 'late' } },
    )
    t.match(await cluster.run({ update: 'c', updates: [{ q: {}, u: { $set: { z: 1 } }, multi: true }] }), {
      n: 1,
      writeErrors: [{ index: 0, code: 65, errmsg: 'multiple errors for op : one :: and :: two' }],
      writeConcernError: { code: 64, errmsg: 'late' },
    })
  })
})
