/** Commands with impossible requests change nothing, and get the server's error. */
import t from 'tap'
import { Decimal128, type Document } from '@shardlab/bson'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'

t.test('a mongos refuses impossible commands, and nothing changes', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })
  const crashed: string[] = []
  cluster.on('member', ({ member, state }) => void (state === 'crashed' && crashed.push(member)))
  const client = await RawClient.connect(cluster.mongos[0]!)
  t.teardown(async () => {
    client.close()
    await cluster.stop()
  })
  const run = (command: Document, db = 'app') => client.command({ ...command, $db: db })
  await run({ shardCollection: 'app.things', key: { _id: 'hashed' } }, 'admin')
  await run({ insert: 'things', documents: [{ _id: 1 }, { _id: 2 }] })

  await run({ insert: 'plain', documents: [{ _id: 1 }] })
  const refused: [Document, number, string | RegExp][] = [
    [
      { delete: 'things', deletes: [{ q: 1, limit: 1 }] },
      14,
      "BSON field 'delete.deletes.q' is the wrong type 'int', expected type 'object'",
    ],
    [
      { delete: 'things', deletes: [{ q: {} }] },
      40414,
      "BSON field 'delete.deletes.limit' is missing but a required field",
    ],
    [
      { delete: 'things', deletes: [{ q: {}, limit: 2 }] },
      9,
      'The limit field in delete objects must be 0 or 1. Got 2',
    ],
    [{ update: 'things', updates: [{ q: 1, u: { a: 1 } }] }, 14, /update\.updates\.q/],
    [
      { update: 'things', updates: [{ q: {}, u: 1, multi: true }] },
      9,
      'Update argument must be either an object or an array',
    ],
    [
      {
        update: 'things',
        updates: [
          { q: {}, u: { $set: { a: 1 } }, multi: true },
          { q: {}, u: {}, foo: 1 },
        ],
      },
      40415,
      /foo/,
    ],
    [{ aggregate: 1, pipeline: [], cursor: {} }, 73, '{aggregate: 1} is not valid for an empty pipeline.'],
    [
      { aggregate: 1, pipeline: [{ $group: { _id: 1 } }], cursor: {} },
      73,
      "{aggregate: 1} is not valid for '$group'; a collection is required.",
    ],
    [
      { create: 'c', capped: true, size: Decimal128.fromString('NaN') },
      51024,
      /^BSON field 'size' value must be >= 1, actual value '0'$/,
    ],
    [
      { create: 'c', capped: true, size: Decimal128.fromString('1E+6144') },
      51024,
      /^BSON field 'size' value must be <= /,
    ],
    [{ convertToCapped: 'plain', size: Decimal128.fromString('-Infinity') }, 72, /greater than zero/],
    [{ create: 'a$b' }, 73, 'Invalid collection name: a$b'],
    [{ create: 'system.things' }, 73, 'Invalid system namespace: app.system.things'],
    [{ create: 'x'.repeat(252) }, 73, /^Fully qualified namespace is too long\. Namespace: app\.x+ Max: 255$/],
  ]
  for (const [command, code, errmsg] of refused)
    t.match(await run(command), { ok: 0, code, errmsg }, JSON.stringify(command).slice(0, 80))
  const deep = (levels: number): Document =>
    Array.from({ length: levels - 1 }).reduce<Document>((value) => ({ a: value }), { a: 1 })
  const path = (names: number) => Array.from({ length: names }, () => 'a').join('.')
  const tooDeep: [Document, string][] = [
    [
      { insert: 'deep', documents: [{ _id: 1, a: deep(180) }] },
      'cannot insert document because it exceeds 180 levels of nesting',
    ],
    [
      { update: 'deep', updates: [{ q: { _id: 1 }, u: { $set: { [path(181)]: 1 } } }] },
      'Document exceeds maximum nesting depth of 180',
    ],
  ]
  t.match(await run({ insert: 'deep', documents: [{ _id: 1 }, { _id: 2, a: deep(179) }] }), { ok: 1, n: 2 })
  for (const [command, errmsg] of tooDeep)
    t.match(await run(command), { ok: 1, n: 0, writeErrors: [{ code: 15, errmsg }] })
  t.match(await run({ find: 'deep', projection: { [path(201)]: 1 } }), {
    ok: 0,
    code: 15,
    errmsg: 'FieldPath is too long',
  })
  t.match(
    await run({ aggregate: 'deep', pipeline: [{ $project: { [path(100)]: { $literal: deep(101) } } }], cursor: {} }),
    {
      ok: 0,
      code: 15,
      errmsg: /cannot convert document to BSON because it exceeds the limit of 200 levels of nesting$/,
    },
  )
  t.match(
    await run({ cloneCollectionAsCapped: 'plain', toCollection: 'capped', size: Decimal128.fromString('Infinity') }),
    { ok: 1 },
  )
  t.match(await run({ insert: '$cmd', documents: [{}] }), { n: 0, writeErrors: [{ code: 73 }] })
  t.match(await run({ find: 'things', sort: { _id: 1 } }), { cursor: { firstBatch: [{ _id: 1 }, { _id: 2 }] } })

  t.test('invalid catalog documents that clients wrote are ignored', async (t) => {
    await run({ insert: 'databases', documents: [{ _id: 5 }, { _id: 'broken' }] }, 'config')
    await run({ insert: 'collections', documents: [{ _id: 'app.broken' }] }, 'config')
    await run({ insert: 'shards', documents: [{ _id: 5 }] }, 'config')
    await run({ insert: 'chunks', documents: [{ _id: 5 }] }, 'config')
    for (const db of ['broken', 'app', 'new'])
      t.match(await run({ insert: 'broken', documents: [{ _id: 1 }] }, db), { ok: 1, n: 1 })
    t.equal(((await run({ listShards: 1 }, 'admin'))['shards'] as Document[]).length, 2)
    for (const name of ['settings', 'chunks', 'databases', 'mongos']) await run({ drop: name }, 'config')
    t.match(await run({ balancerStop: 1 }, 'admin'), { ok: 1 })
    t.match(await run({ insert: 'things', documents: [{ _id: 1 }] }, 'newer'), { ok: 1, n: 1 })
    t.match(await run({ shardCollection: 'newer.sharded', key: { a: 1 } }, 'admin'), { ok: 1 })
  })
  t.same(crashed, [])
})
