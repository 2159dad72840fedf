import t from 'tap'
import { BsonType, CommandError, encode, findField, fieldsOf, ObjectId, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { cursorReply, errorReply, FakeCluster, statementsOf } from './support/fake-cluster.js'
import { threeShards } from './support/three-shards.js'

const updated = (n: number, nModified = n): Document => ({ n, nModified, ok: 1 })

t.test('an update by shard key goes to one shard, and the reply has the field order of a router', async (t) => {
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
  t.equal(
    findField(await cluster.runRaw({ delete: 'c', deletes: [{ q: { x: 5 }, limit: 1 }] }), 'nModified'),
    undefined,
  )
})

t.test('upserted ids have the positions of the client', async (t) => {
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

t.test('a multi-write to several shards goes to every shard without regard to placement', async (t) => {
  const cluster = new FakeCluster()
  cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
  cluster.script(() => updated(2))
  t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } }, multi: true }] }), {
    n: 6,
    nModified: 6,
  })
  t.same(
    ['shard01', 'shard02', 'shard03'].map((shard) => cluster.commandsTo(shard)[0]!.command.shardVersion),
    ['IGNORED', 'IGNORED', 'IGNORED'],
  )
  t.match(await cluster.run({ delete: 'c', deletes: [{ q: { x: { $gt: 5 } }, limit: 0 }] }), { n: 2 })
  t.match(cluster.commandsTo('shard02')[1]!.command.shardVersion, { 3: 1 })
})

t.test('a single-document write without the shard key is accepted or refused by version', async (t) => {
  const byOther = { update: 'c', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } } }] }
  const byId = { update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { z: 1 } } }] }
  const byRange = { update: 'c', updates: [{ q: { x: { $gt: 500 } }, u: { $set: { z: 1 } } }] }
  const upsert = { update: 'c', updates: [{ q: { y: 1 }, u: { $set: { z: 1 } }, upsert: true }] }
  const deletion = { delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }
  for (const [emulate, code] of [
    ['4.0', 61],
    ['5.0', 72],
    ['7.0', 72],
  ] as const) {
    const cluster = threeShards({ emulate })
    cluster.script((shard) => updated(shard === 'shard02' ? 1 : 0))
    t.match(await cluster.run(byOther), { n: 0, writeErrors: [{ index: 0, code }] }, emulate)
    t.match(await cluster.run(deletion), { n: 0, writeErrors: [{ code: 61 }] })
    t.match(await cluster.run(upsert), {
      n: 0,
      writeErrors: [
        {
          code: 61,
          errmsg:
            emulate === '4.0'
              ? /^An upsert on a sharded collection must contain the shard key and have the simple collation\. Update request: \{/
              : 'Failed to target upsert by query :: could not extract exact shard key',
        },
      ],
    })
    t.match(await cluster.run(byId), { n: 1, nModified: 1 })
    t.same(
      ['shard01', 'shard02', 'shard03'].map((shard) => cluster.commandsTo(shard).length),
      [1, 1, 1],
    )
    t.equal(cluster.commandsTo('shard03')[0]!.command.shardVersion, 'IGNORED')
    if (code === 72) t.match(await cluster.run(byRange), { n: 0, ok: 1 })
    else t.match(await cluster.run(byRange), { writeErrors: [{ code: 61 }] })
  }
})

t.test('a value that cannot be a shard key does not target an upsert', async (t) => {
  const noKey = { writeErrors: [{ code: 61 }] }
  for (const emulate of ['2.6', '4.0', '4.4', '7.0'] as const) {
    const cluster = threeShards({ emulate })
    cluster.script(() => updated(1))
    const upsert = (x: unknown) =>
      cluster.run({ update: 'c', updates: [{ q: { x }, u: { $set: { a: 1 } }, upsert: true }] })
    for (const x of [/x/, { $eq: { $gt: 5 } }, { a: { $b: 1 } }, { a: [{ $b: 1 }] }, { $eq: { $ref: 'c', n: 1 } }])
      t.match(await upsert(x), noKey, JSON.stringify(x))
    t.match(await upsert({ $eq: { $ref: 'c', $id: 1, $db: 'd', n: 1 } }), { n: 1 }, 'a DBRef')
    t.match(await upsert({ a: { b: 1 } }), { n: 1 })
    const update = { update: 'c', updates: [{ q: { x: { $eq: { $gt: 5 } } }, u: { $set: { a: 1 } } }] }
    t.match(await cluster.run(update), emulate === '2.6' || emulate === '4.0' ? noKey : { n: 1 })
  }
})

t.test(
  'a collation other than the default matters for a write by _id only where it applies to the value',
  async (t) => {
    for (const emulate of ['4.0', '4.4', '6.0', '7.0'] as const) {
      const cluster = threeShards({ emulate })
      cluster.script((shard) => updated(shard === 'shard02' ? 1 : 0))
      const collation = { locale: 'en', strength: 2 }
      for (const [_id, isExact] of [
        [1, true],
        [new ObjectId(), true],
        ['a', false],
        [{ a: 1 }, false],
      ] as const) {
        const update = { update: 'c', updates: [{ q: { _id }, u: { $set: { z: 1 } }, collation }] }
        const remove = { delete: 'c', deletes: [{ q: { _id }, limit: 1, collation }] }
        const code = emulate === '4.0' ? 61 : 72
        t.match(
          await cluster.run(update),
          isExact ? { n: 1 } : { writeErrors: [{ code }] },
          `${emulate} ${String(_id)}`,
        )
        t.match(await cluster.run(remove), isExact ? { n: 1 } : { writeErrors: [{ code: 61 }] })
      }
    }
  },
)

t.test('a router refuses a replacement of many documents with 72 since 4.4', async (t) => {
  for (const emulate of ['4.0', '4.4', '7.0', '8.0'] as const) {
    const cluster = threeShards({ emulate })
    cluster.script(() => updated(1))
    const reply = await cluster.run({ update: 'c', updates: [{ q: { x: 1 }, u: { x: 1, a: 1 }, multi: true }] })
    if (emulate === '4.0') t.match(reply, { n: 1 }, 'it is left to the shard')
    else
      t.match(reply, {
        n: 0,
        writeErrors: [{ code: 72, errmsg: 'Replacement-style updates cannot be {multi:true}' }],
      })
  }
})

t.test('until 4.4 routers check updates of unsharded collections, too', async (t) => {
  const multi = { q: {}, u: { a: 1 }, multi: true }
  const mixed = { q: {}, u: { $set: { a: 1 }, b: 1 } }
  const codes = async (emulate: EmulatedVersion, collection: string) => {
    const cluster = threeShards({ emulate })
    cluster.script(() => updated(1))
    const { writeErrors = [] } = await cluster.run({ update: collection, updates: [multi, mixed], ordered: false })
    return (writeErrors as Document[]).map(({ index, code }) => [index, code])
  }
  for (const emulate of ['2.6', '4.0'] as const) t.same(await codes(emulate, 'plain'), [[1, 12]], emulate)
  t.same(await codes('4.4', 'plain'), [
    [0, 72],
    [1, 12],
  ])
  for (const emulate of ['5.0', '8.0'] as const) {
    t.same(await codes(emulate, 'plain'), [], emulate)
    t.same(
      await codes(emulate, 'c'),
      [
        [0, 72],
        [1, 12],
      ],
      emulate,
    )
  }
})

t.test('an ordered batch ends at an update that the router refuses', async (t) => {
  const cluster = threeShards({ emulate: '4.4' })
  cluster.script(() => updated(1))
  const set = { q: {}, u: { $set: { a: 1 } } }
  const reply = await cluster.run({ update: 'plain', updates: [set, { q: {}, u: { $set: { a: 1 }, b: 1 } }, set] })
  t.match(reply, { n: 1, writeErrors: [{ index: 1, code: 12 }] })
  t.equal(['shard01', 'shard02', 'shard03'].flatMap((shard) => cluster.commandsTo(shard)).length, 1)
})

t.test('until 7.0 a replacement is targeted by its own key, too', async (t) => {
  const cluster = threeShards({ emulate: '7.0' })
  cluster.script(() => updated(1))
  t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { x: 500, y: 2 } }] }), { n: 1 })
  t.equal(cluster.commandsTo('shard03').length, 1)
})

t.test('until 4.0 a replacement is targeted by its own key alone', async (t) => {
  const cluster = threeShards({ emulate: '4.0' })
  cluster.script(() => updated(1))
  t.match(await cluster.run({ update: 'c', updates: [{ q: { x: 5 }, u: { x: 500, y: 2 } }] }), { n: 1 })
  t.equal(cluster.commandsTo('shard03').length, 1)
  const nowhere = { code: 61, errmsg: /^A single update on a sharded collection must contain an exact match on _id/ }
  t.match(await cluster.run({ update: 'c', updates: [{ q: { x: 5 }, u: { y: 2 } }] }), { n: 0, writeErrors: [nowhere] })
  t.match(await cluster.run({ update: 'c', updates: [{ q: { _id: 5 }, u: { y: 2 } }] }), { n: 3 })
})

t.test('since 8.0 a write by _id asks the shards in turn until one matches', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  cluster.script((shard) => updated(shard === 'shard02' ? 1 : 0))
  t.match(await cluster.run({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { z: 1 } } }] }), {
    n: 1,
    nModified: 1,
  })
  t.same(
    ['shard01', 'shard02', 'shard03'].map((shard) => cluster.commandsTo(shard).length),
    [1, 1, 0],
  )
})

t.test('since 8.0 a write by another filter searches for a match and changes it in one transaction', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  cluster.script((shard, _command, name) => {
    if (name === 'find') return cursorReply(shard === 'shard02' ? [{ _id: 42 }] : [])
    return name === 'update' ? updated(1) : { n: 1, ok: 1 }
  })
  t.match(await cluster.run({ update: 'c', updates: [{ q: { y: 1 }, u: { $inc: { z: 1 } }, upsert: true }] }), {
    n: 1,
    nModified: 1,
  })
  t.same(
    cluster.commandsTo('shard02').map(({ name }) => name),
    ['find', 'update', 'commitTransaction'],
  )
  for (const shard of ['shard01', 'shard03'])
    t.same(
      cluster.commandsTo(shard).map(({ name }) => name),
      ['find', 'commitTransaction'],
      'every shard takes part, so that a repetition finds no other document',
    )
  t.same(statementsOf(cluster.commandsTo('shard02')[1]!.command, 'updates'), [
    { q: { $and: [{ _id: 42 }, { y: 1 }] }, u: { $inc: { z: 1 } } },
  ])
  t.match(await cluster.run({ delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }), { n: 1 })
})

t.test('since 8.0 an upsert without a match goes to the owner of the new document', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  cluster.script((_shard, command, name) => {
    if (name !== 'update') return name === 'find' ? cursorReply([]) : { ok: 1 }
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

t.test('since 8.0 a deletion without a match changes nothing', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  cluster.script(() => cursorReply([]))
  t.match(await cluster.run({ delete: 'c', deletes: [{ q: { y: 1 }, limit: 1 }] }), { n: 0, ok: 1 })
})

t.test('an invalid filter fails its statement', async (t) => {
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

t.test('equal errors of several shards are reported once', async (t) => {
  const cluster = threeShards()
  cluster.script((shard) => errorReply(new CommandError('InvalidOptions', `no, says ${shard}`)))
  const reply = await cluster.run({ update: 'c', updates: [{ q: {}, u: { $set: { z: 1 } }, multi: true }] })
  t.match(reply, { n: 0, writeErrors: [{ index: 0, code: 72, errmsg: 'no, says shard01' }] })
})

t.test('different errors of several shards are combined', async (t) => {
  const cluster = threeShards()
  cluster.script((shard) =>
    shard === 'shard01'
      ? errorReply(new CommandError('BadValue', 'one'))
      : shard === 'shard02'
        ? errorReply(new CommandError('TypeMismatch', 'two'))
        : { ...updated(1), writeConcernError: { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'late' } },
  )
  const reply = await cluster.run({ update: 'c', updates: [{ q: {}, u: { $set: { z: 1 } }, multi: true }] })
  t.match(reply, { n: 1, writeErrors: [{ index: 0, code: 65, errmsg: 'multiple errors for op : one :: and :: two' }] })
  t.same(reply['writeErrors'][0].errInfo, {
    causedBy: [
      { index: 0, code: 2, errmsg: 'one' },
      { index: 0, code: 14, errmsg: 'two' },
    ],
  })
  t.notOk('writeConcernError' in reply, 'of a batch that failed nothing is said about its concern')
})

t.test('errors of statements have the form of the version', async (t) => {
  const extra = encode({ keyPattern: { _id: 1 }, errInfo: { why: 1 } })
  const told = async (emulate: EmulatedVersion, shards: number) => {
    const cluster = threeShards({ emulate })
    cluster.script((shard) =>
      shard === 'shard01'
        ? errorReply(new CommandError('DuplicateKey', 'E11000', { extra }))
        : shard === 'shard02' && shards > 1
          ? errorReply(new CommandError('BadValue', 'two'))
          : updated(1),
    )
    return (await cluster.run({ update: 'c', updates: [{ q: {}, u: { $set: { z: 1 } }, multi: true }] }))[
      'writeErrors'
    ][0] as Document
  }
  const fields = async (emulate: EmulatedVersion) => Object.keys(await told(emulate, 1)).join(' ')
  t.equal(await fields('2.6'), 'index code keyPattern errInfo errmsg')
  for (const emulate of ['4.0', '5.0'] as const) {
    t.equal(await fields(emulate), 'index code codeName errmsg errInfo')
    t.same((await told(emulate, 2))['errInfo'], {
      causedBy: [
        {
          index: 0,
          code: 11000,
          codeName: 'DuplicateKey',
          errmsg: 'E11000',
          keyPattern: { _id: 1 },
          errInfo: { why: 1 },
        },
        { index: 0, code: 2, codeName: 'BadValue', errmsg: 'two' },
      ],
    })
  }
  for (const emulate of ['6.0.2', '8.0'] as const)
    t.equal(await fields(emulate), 'index code errmsg keyPattern errInfo')
})

t.test('write concern errors of several shards are combined', async (t) => {
  const cluster = threeShards()
  const update = { update: 'c', updates: [{ q: {}, u: { $set: { z: 1 } }, multi: true }] }
  const late = { code: 64, codeName: 'WriteConcernFailed', errmsg: 'late' }
  cluster.script((shard) => (shard === 'shard02' ? { ...updated(1), writeConcernError: late } : updated(1)))
  t.same((await cluster.run(update))['writeConcernError'], { ...late, errmsg: 'late at shard02' })
  cluster.script((shard) => (shard === 'shard02' ? updated(1) : { ...updated(1), writeConcernError: late }))
  t.same((await cluster.run(update))['writeConcernError'], {
    code: 64,
    codeName: 'WriteConcernFailed',
    errmsg:
      'multiple errors reported : WriteConcernFailed: late at shard01 :: and :: WriteConcernFailed: late at shard03',
  })
})
