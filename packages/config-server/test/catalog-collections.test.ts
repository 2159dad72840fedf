import { decode, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { ConfigUnderTest, documentsIn, uuid } from './support/config.js'

t.test('commit-rename-collection keeps chunks and zones', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  await config.createDatabase('db')
  const other = Buffer.alloc(16, 9)
  await config.createCollection('db.c', [0])
  await config.createCollection('db.d', [], ['shard01'], other)
  const rename = async (ns: string, to: string, id: Uint8Array = uuid) => {
    const { error } = await config.send('config.commit-rename-collection', { ns, to, uuid: id })
    return error === null ? null : decode(error)
  }
  const [before] = await config.all('collections')
  t.match(await rename('db.c', 'db.e', Buffer.alloc(16, 3)), { code: 26 }, 'the name belongs to another collection')
  t.equal(await rename('db.c', 'db.d'), null)
  const [after, ...none] = await config.all('collections')
  t.same(none, [], 'what had the name is gone')
  t.match(after, { _id: 'db.d', uuid: before!['uuid'], key: { a: 1 } })
  t.not(String(after!['lastmodEpoch']), String(before!['lastmodEpoch']), 'a new generation')
  t.ok(after!['timestamp'].greaterThan(before!['timestamp']))
  t.equal((await config.all('chunks')).length, 2, 'the chunks of what had the name are gone')
  const reply = await config.send('config.get-collection', {
    ns: 'db.d',
    since: [String(before!['lastmodEpoch']), before!['timestamp'].t, before!['timestamp'].i, 1, 1],
  })
  t.same(
    [reply.collection !== null, documentsIn(reply).length, reply.full],
    [true, 2, true],
    'who knew the old one gets it all',
  )
  t.equal((await config.send('config.get-collection', { ns: 'db.c', since: null })).collection, null)
  t.equal(await rename('db.c', 'db.d'), null, 'again: it has the name')
  t.match((await config.restarted().all('collections'))[0], { _id: 'db.d' })
})

t.test('commit-drop-collections leaves the database and its neighbours', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  for (const db of ['db', 'dbx']) {
    await config.createDatabase(db)
    await config.createCollection(`${db}.c`, [0], undefined, Buffer.from(db.padEnd(16, '.')))
  }
  t.same(await config.commitDrop('config.commit-drop-collections', 'db'), { error: null })
  t.same(
    (await config.all('collections')).map((each) => each['_id']),
    ['dbx.c'],
  )
  t.equal((await config.all('chunks')).length, 2)
  t.equal((await config.all('databases')).length, 2)
  t.same(await config.commitDrop('config.commit-drop-collections', 'db'), { error: null }, 'again')
})

t.test('clients of the config server may neither drop the catalog nor create collections', async (t) => {
  for (const version of ['4.4', '5.0', '8.0'] as const) {
    const config = await new ConfigUnderTest(version).initialised()
    const run = async (db: string, command: Document) => {
      const request = {
        connectionId: 1,
        body: encode({ ...command, $db: db }),
        sequences: [],
        legacy: false,
        remote: '',
      }
      return decode((await config.send('client.command', request)).body)
    }
    const before = await config.collections()
    const code = version === '4.4' ? 14037 : 73
    t.match(await run('db', { create: 'c' }), { ok: 0, code }, version)
    t.match(await run('db', { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] }), { ok: 0, code })
    t.match(await run('db', { insert: 'c', documents: [{}] }), { writeErrors: [{ code }] })
    t.match(await run('config', { dropDatabase: 1 }), { ok: 0, code: 20 })
    t.same(await config.collections(), before)
    t.match(await run('config', { insert: 'mine', documents: [{}] }), { ok: 1, n: 1 })
    t.match(await run('config', { drop: 'mine' }), { ok: 1 }, 'its own collections are theirs to spoil')
  }
})
