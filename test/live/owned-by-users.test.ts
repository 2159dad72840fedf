/** Sessions, cursors, operations and names belong to users. */
import { Binary, Long, UUID } from '@shardlab/bson'
import type { Document, MongoClient, MongoServerError } from 'mongodb'
import t, { type Test } from 'tap'
import { RawClient } from '../support/raw-client.js'
import { logIn } from '../support/scram-client.js'
import { Deployment, failure } from './support/deployment.js'

const readShop = [{ role: 'readWrite', db: 'shop' }]

async function fill(root: MongoClient): Promise<void> {
  await root
    .db('shop')
    .collection<{ _id: number }>('rows')
    .insertMany(Array.from({ length: 10 }, (_, _id) => ({ _id })))
}

/** A connection without the driver's sessions, logged in as a user with the password `pass`. */
async function rawAs(t: Test, deployment: Deployment, user: string, password = 'pass'): Promise<RawClient> {
  const { set } = deployment.cluster
  const endpoint = set === null ? deployment.cluster.uri : await deployment.primaryUri()
  const client = await RawClient.connect(endpoint.replace(/^mongodb:\/\//, '').replace(/[/,].*$/, ''))
  t.teardown(() => client.close())
  await logIn(client, { user, password })
  return client
}

for (const topology of ['replica-set', 'sharded'] as const) {
  t.test(`${topology}: only its user continues a cursor, and kills it`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    await fill(root)
    for (const user of ['ann', 'ben']) await deployment.createUser(root, user, readShop)
    const [ann, ben] = [await rawAs(t, deployment, 'ann'), await rawAs(t, deployment, 'ben')]
    const { cursor } = await ann.command({ find: 'rows', batchSize: 2, $db: 'shop' })
    const id = Long.fromBigInt(BigInt((cursor as { id: bigint }).id))
    const more = { getMore: id, collection: 'rows', batchSize: 2, $db: 'shop' }
    t.match(await ben.command(more), {
      code: 13,
      errmsg: `cursor id ${id.toString()} was not created by the authenticated user`,
    })
    const kill = { killCursors: 'rows', cursors: [id], $db: 'shop' }
    t.match(await ben.command(kill), {
      code: 13,
      errmsg: /^not authorized on shop to execute command \{ killCursors: "rows"/,
    })
    t.match(await ann.command(more), { cursor: { nextBatch: [{ _id: 2 }, { _id: 3 }] } })
    const admin = await rawAs(t, deployment, 'root', 'secret')
    t.match(await admin.command(more), { code: 13 }, 'not even root')
    t.match(await admin.command(kill), { ok: 1, cursorsNotFound: [] })
    t.match(await ann.command(more), { code: 43 })
  })

  t.test(`${topology}: sessions with the same id of two users are two sessions`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    await fill(root)
    for (const user of ['ann', 'ben']) await deployment.createUser(root, user, readShop)
    const [ann, ben] = [await rawAs(t, deployment, 'ann'), await rawAs(t, deployment, 'ben')]
    const lsid = { id: new UUID() }
    const insert = (_id: string) => ({
      insert: 'rows',
      documents: [{ _id }],
      lsid,
      txnNumber: Long.fromNumber(1),
      $db: 'shop',
    })
    for (const [client, name] of [[ann, 'ann'] as const, [ben, 'ben'] as const])
      t.match(await client.command(insert(name)), { ok: 1, n: 1 })
    t.match(await ann.command({ count: 'rows', $db: 'shop' }), { n: 12 }, 'the second write is no retry of the first')
    const spoofed = { find: 'rows', lsid: { ...lsid, uid: new Binary(Buffer.alloc(32)) }, $db: 'shop' }
    t.match(await ann.command(spoofed), {
      code: 13,
      errmsg: 'Unauthorized to set user digest in LogicalSessionId',
    })
    const listed = (client: RawClient, $listLocalSessions: Document) =>
      client.command({ aggregate: 1, pipeline: [{ $listLocalSessions }], cursor: {}, $db: 'admin' })
    const own = (await listed(ann, {}))['cursor'] as { firstBatch: { _id: { id: UUID } }[] }
    t.same(own.firstBatch.map(({ _id }) => _id.id.toString()).filter((id) => id === lsid.id.toString()).length, 1)
    t.match(await listed(ann, { allUsers: true }), { code: 13 })
    const all = (await listed(await rawAs(t, deployment, 'root', 'secret'), { allUsers: true }))['cursor']
    t.equal(
      (all as typeof own).firstBatch.filter(({ _id }) => _id.id.toString() === lsid.id.toString()).length,
      2,
      'the same id twice',
    )
    const begin = { find: 'rows', lsid, txnNumber: Long.fromNumber(2), startTransaction: true, autocommit: false }
    t.match(await ann.command({ ...begin, $db: 'shop' }), { ok: 1 })
    const end = { commitTransaction: 1, lsid, txnNumber: Long.fromNumber(2), autocommit: false, $db: 'admin' }
    t.match(await ben.command(end), { ok: 0 }, 'the transaction of another user')
    t.match(await ann.command(end), { ok: 1 })
  })

  t.test(`${topology}: D911 a user kills and sees its own operations`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    const ann = await deployment.createUser(root, 'ann', readShop)
    t.match(await failure(ann.db('admin').command({ currentOp: 1 })), { code: 13 })
    const own = await ann.db('admin').command({ currentOp: 1, $ownOps: true })
    t.match(own['inprog'], [{ command: { currentOp: 1 } }])
    t.match(
      await failure(
        ann
          .db('admin')
          .aggregate([{ $currentOp: { allUsers: true } }])
          .toArray(),
      ),
      { code: 13 },
    )
    const shown = await ann
      .db('admin')
      .aggregate([{ $currentOp: {} }])
      .toArray()
    t.match(shown, [{ command: { aggregate: 1 } }])
    t.equal(shown.length, 1)
    if (topology === 'sharded') t.match(await failure(ann.db('admin').command({ killOp: 1, op: 1 })), { code: 13 })
    else t.match(await ann.db('admin').command({ killOp: 1, op: 1 }), { ok: 1 })
  })

  t.test(`${topology}: lists show the names that a user may know`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    await fill(root)
    await root.db('shop').collection('secrets').insertOne({})
    await root.db('other').collection('rows').insertOne({})
    await root.db('admin').command({
      createRole: 'reader',
      privileges: [{ resource: { db: 'shop', collection: 'rows' }, actions: ['find'] }],
      roles: [],
    })
    const ann = await deployment.createUser(root, 'ann', ['reader'])
    const names = (listed: Document, field: string): unknown[] =>
      (listed[field] as { name: string }[]).map(({ name }) => name)
    t.same(names(await ann.db('admin').command({ listDatabases: 1, nameOnly: true }), 'databases'), ['shop'])
    t.match(await failure(ann.db('admin').command({ listDatabases: 1, authorizedDatabases: false })), {
      code: 13,
      message: 'Insufficient permissions to list all databases',
    })
    t.match(await failure(ann.db('shop').command({ listCollections: 1 })), { code: 13 })
    const authorized = { listCollections: 1, nameOnly: true, authorizedCollections: true }
    t.same(names((await ann.db('shop').command(authorized))['cursor'], 'firstBatch'), ['rows'])
    const all = names((await root.db('shop').command(authorized))['cursor'], 'firstBatch')
    t.same(all.sort(), ['rows', 'secrets'])
  })

  t.test(`${topology}: D913 fail points and control need root or an action of their own`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    const off = { configureFailPoint: 'failCommand', mode: 'off' }
    const ann = await deployment.createUser(root, 'ann', ['clusterAdmin', 'readWriteAnyDatabase'])
    t.match(await failure(ann.db('admin').command(off)), { code: 13 })
    t.match(await failure(ann.db('admin').command({ shardlab: 'describe' })), { code: 13 })
    await root.db('admin').command(off)
    await root.db('admin').command({
      createRole: 'breaker',
      privileges: [{ resource: { cluster: true }, actions: ['controlEmulation'] }],
      roles: [],
    })
    await root.db('admin').command({ grantRolesToUser: 'ann', roles: ['breaker'] })
    await ann.db('admin').command(off)
  })
}

t.test('a change through one router reaches another one', async (t) => {
  const deployment = await Deployment.start(t, { mongos: 2, clock: 'manual', autoAdvance: false })
  const root = await deployment.createRoot()
  await fill(root)
  const second = `mongodb://${deployment.cluster.mongos[1]!}/`
  const ann = await deployment.createUser(root, 'ann', readShop, second)
  const rows = ann.db('shop').collection('rows')
  t.equal(await rows.countDocuments(), 10)
  await root.db('admin').command({ revokeRolesFromUser: 'ann', roles: readShop })
  // The reply to the ping may arrive after the clock has advanced.
  const untilRefused = async (): Promise<Pick<MongoServerError, 'code'>> => {
    for (;;) {
      await deployment.cluster.advance(30_000)
      try {
        await rows.countDocuments()
      } catch (error) {
        return error as MongoServerError
      }
    }
  }
  t.match(await untilRefused(), { code: 13 })
  await root.db('admin').command({ grantRolesToUser: 'ann', roles: readShop })
  const other = await deployment.connect({ user: 'root', password: 'secret' }, second)
  await other.db('admin').command({ invalidateUserCache: 1 })
  t.equal(await rows.countDocuments(), 10)
})

for (const topology of ['standalone', 'sharded'] as const)
  t.test(`${topology}: a cursor ends when its user loses the privilege with which it began`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    await fill(root)
    await deployment.createUser(root, 'ann', [{ role: 'read', db: 'shop' }])
    const ann = await rawAs(t, deployment, 'ann')
    const begin = async (command: Document): Promise<Document> => {
      const { cursor } = await ann.command({ ...command, $db: 'shop' })
      const { id, ns } = cursor as { id: bigint; ns: string }
      return { getMore: Long.fromBigInt(BigInt(id)), collection: ns.slice('shop.'.length), batchSize: 1, $db: 'shop' }
    }
    const lookup = { $lookup: { from: 'secrets', localField: '_id', foreignField: '_id', as: 'x' } }
    const found = await begin({ find: 'rows', batchSize: 1 })
    const joined = await begin({ aggregate: 'rows', pipeline: [lookup], cursor: { batchSize: 1 } })
    const own = { role: 'taker', db: 'admin' }
    await root.db('admin').command({
      createRole: 'taker',
      privileges: [{ resource: { db: 'shop', collection: 'rows' }, actions: ['find'] }],
      roles: [],
    })
    await root.db('admin').command({ updateUser: 'ann', roles: [own] })
    t.match(await ann.command(found), { ok: 1 }, 'another role grants the same')
    t.match(await ann.command(joined), {
      code: 13,
      errmsg: `not authorized for getMore with cursor id ${String(joined['getMore'])}`,
    })
    await root.db('admin').command({ updateUser: 'ann', roles: [{ role: 'read', db: 'other' }] })
    t.match(await ann.command(found), { code: 13, errmsg: /^not authorized for getMore with cursor id/ })
    await root.db('admin').command({ updateUser: 'ann', roles: [{ role: 'read', db: 'shop' }] })
    for (const each of [found, joined]) t.match(await ann.command(each), { ok: 1 }, 'it is still there')
  })

for (const topology of ['standalone', 'sharded'] as const)
  t.test(`${topology}: each command that opens a cursor keeps the privileges for its getMore`, async (t) => {
    const deployment = await Deployment.start(t, { topology, emulate: '8.0' })
    const root = await deployment.createRoot()
    await fill(root)
    await root
      .db('shop')
      .collection('rows')
      .insertMany(Array.from({ length: 300 }, () => ({})))
    await root.db('shop').createCollection('seen', { viewOn: 'rows', pipeline: [] })
    const client = await rawAs(t, deployment, 'root', 'secret')
    const ops = Array.from({ length: 3 }, () => ({ insert: 0, document: {} }))
    const cursor = { batchSize: 0 }
    const commands: readonly Document[] = [
      { find: 'rows', batchSize: 0 },
      { find: 'seen', batchSize: 0 },
      { aggregate: 'rows', pipeline: [], cursor },
      { aggregate: 'seen', pipeline: [], cursor },
      { listCollections: 1, cursor },
      { listIndexes: 'rows', cursor },
      { bulkWrite: 1, ops, nsInfo: [{ ns: 'shop.rows' }], cursor: { batchSize: 1 }, $db: 'admin' },
      ...(topology === 'sharded'
        ? [
            { checkMetadataConsistency: 1, cursor },
            { aggregate: 'rows', pipeline: [{ $changeStream: {} }], cursor },
          ]
        : []),
    ]
    for (const command of commands) {
      const name = JSON.stringify(command)
      const opened = (await client.command({ ...command, $db: command['$db'] ?? 'shop' }))['cursor'] as {
        id: bigint
        ns: string
      }
      t.ok(opened?.id, name)
      const dot = opened.ns.indexOf('.')
      const collection = opened.ns.slice(dot + 1)
      const more = { getMore: Long.fromBigInt(BigInt(opened.id)), collection, $db: opened.ns.slice(0, dot) }
      t.match(await client.command(more), { ok: 1, cursor: { nextBatch: Array } }, name)
    }
    for (const of of ['rows', 'seen'])
      for (const command of [
        { count: of },
        { distinct: of, key: '_id' },
        { explain: { find: of } },
        { explain: { aggregate: of, pipeline: [], cursor: {} } },
      ])
        t.match(await client.command({ ...command, $db: 'shop' }), { ok: 1 }, JSON.stringify(command))
  })
