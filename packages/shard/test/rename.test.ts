import { decode, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { Shards } from './support/shards.js'

async function rename(shards: Shards, ns: string, to: string, dropTarget = false): Promise<Document> {
  const { primary, version } = shards.config.databases.get(ns.split('.', 1)[0]!)!
  const { error } = await shards.send(primary, 'shard.rename-collection', {
    ns,
    to,
    dropTarget,
    collectionUuid: null,
    databaseVersion: version,
  })
  return error === null ? { ok: 1 } : decode(error)
}

/** A hashed collection; the document is on shard02. */
async function sharded(version: '4.4' | '6.0' = '6.0'): Promise<Shards> {
  const shards = new Shards({ version })
  await shards.shardCollection('db.c', { key: { a: 'hashed' } })
  await shards.routed(
    'shard02',
    { insert: 'c', documents: [{ _id: 1, a: 3 }] },
    { shardVersion: shards.config.version('db.c', 'shard02') },
  )
  return shards
}

t.test(
  'a renamed sharded collection has its new name in the catalog and on all shards, and keeps its UUID',
  async (t) => {
    const shards = await sharded()
    const old = shards.config.version('db.c', 'shard02')
    const { uuid } = shards.config.collections.get('db.c')!
    t.same(await rename(shards, 'db.c', 'db.d'), { ok: 1 })
    t.same([...shards.config.collections.keys()], ['db.d'])
    t.equal(shards.config.collections.get('db.d')!.uuid, uuid)
    for (const shard of shards.config.shards) {
      t.match(await shards.direct(shard, { listIndexes: 'c' }), { code: 26 })
      t.match(await shards.direct(shard, { listIndexes: 'd' }), { ok: 1 })
    }
    t.match(
      await shards.routed('shard02', { find: 'c' }, { shardVersion: old }),
      { code: 13388 },
      'routers with the old name are stale',
    )
    const shardVersion = shards.config.version('db.d', 'shard02')
    t.same(await shards.ids('shard02', { find: 'd' }, { shardVersion }), [1])
    t.same(
      shards.config.changes.slice(-2).map(([what, ns, details]) => [what, ns, details]),
      [
        ['renameCollection.start', 'db.c', { source: 'db.c', destination: 'db.d' }],
        ['renameCollection.end', 'db.d', { source: 'db.c', destination: 'db.d' }],
      ],
    )
  },
)

t.test("a sharded collection's name has at most 235 bytes", async (t) => {
  const shards = await sharded()
  const long = `db.${'x'.repeat(233)}`
  t.match(await rename(shards, 'db.c', long), {
    code: 73,
    errmsg: `Namespace of target collection too long. Namespace: ${long} Max: 235`,
  })
  t.match(await shards.shardCollection(long, { key: { a: 1 } }), { error: { code: 73 } })
  t.match(await shards.shardCollection(long.slice(0, -1), { key: { a: 1 } }), { error: null })
})

t.test('renaming, dropping and sharding with a wrong collectionUUID are refused', async (t) => {
  const shards = await sharded()
  const { uuid } = shards.config.collections.get('db.c')!
  await shards.direct('shard01', { insert: 'plain', documents: [{ _id: 1 }] })
  const { primary, version: databaseVersion } = shards.config.databases.get('db')!
  const mismatch = { code: 361, expectedCollection: 'plain', actualCollection: 'c' }
  const collectionUuid = uuid
  const dropped = await shards.send(primary, 'shard.drop-collection', {
    ns: 'db.plain',
    collectionUuid,
    databaseVersion,
  })
  t.match(decode(dropped.error!), mismatch)
  const renamed = await shards.send(primary, 'shard.rename-collection', {
    ns: 'db.plain',
    to: 'db.other',
    dropTarget: false,
    collectionUuid,
    databaseVersion,
  })
  t.match(decode(renamed.error!), mismatch)
  t.match(await shards.shardCollection('db.plain', { key: { a: 1 }, collectionUUID: new UUID(uuid) }), {
    error: mismatch,
  })
  t.match(await shards.send(primary, 'shard.drop-collection', { ns: 'db.c', collectionUuid, databaseVersion }), {
    existed: true,
    error: null,
  })
})

/** Resolves when the coordinator is blocked and pauses before its next attempt. */
async function pausing(shards: Shards): Promise<void> {
  const { sleeps } = shards.contexts.get('shard01')!
  const before = sleeps.length
  while (sleeps.length === before) await Promise.resolve()
}

t.test('a rename waits for a shard that is down, whose copy is found by its UUID meanwhile', async (t) => {
  const shards = await sharded()
  shards.down.add('shard02')
  const renaming = rename(shards, 'db.c', 'db.d')
  await pausing(shards)
  t.match(await shards.direct('shard02', { count: 'c' }), { n: 1 })
  const shardVersion = shards.config.version('db.d', 'shard02')
  t.same(await shards.ids('shard02', { find: 'd' }, { shardVersion }), [1])
  t.match(await shards.direct('shard02', { count: 'c' }), { n: 0 })
  shards.down.clear()
  t.same(await renaming, { ok: 1 })
})

t.test('a rename that is interrupted after the commit completes, also after a restart', async (t) => {
  for (const restarts of [false, true]) {
    const shards = await sharded()
    const context = shards.contexts.get('shard01')!
    context.failing.add('shard.rename-collection.committed')
    context.holdSleeps = restarts
    const renaming = rename(shards, 'db.c', 'db.d')
    await pausing(shards)
    t.match(await shards.direct('shard01', { listIndexes: 'd' }), { code: 26 })
    context.failing.clear()
    if (restarts) {
      shards.restart('shard01')
      t.match(await renaming, { code: Number })
    } else t.same(await renaming, { ok: 1 })
    t.match(await rename(shards, 'db.c', 'db.d'), { code: 26 }, 'done')
    for (const shard of shards.config.shards) t.match(await shards.direct(shard, { listIndexes: 'd' }), { ok: 1 })
    t.same(await shards.ids('shard02', { find: 'd' }, { shardVersion: shards.config.version('db.d', 'shard02') }), [1])
  }
})

t.test('an unsharded collection is renamed', async (t) => {
  const shards = new Shards()
  await shards.direct('shard01', { insert: 'c', documents: [{ _id: 1 }] })
  await shards.direct('shard01', { insert: 'd', documents: [{ _id: 2 }] })
  t.match(await rename(shards, 'db.none', 'db.x'), { code: 26 })
  t.match(await rename(shards, 'db.c', 'db.d'), { code: 48 })
  t.same(await rename(shards, 'db.c', 'db.d', true), { ok: 1 })
  t.same(await shards.ids('shard01', { find: 'd' }, 'direct'), [1])
  t.same(await rename(shards, 'db.d', 'db.e'), { ok: 1 })
  t.same(await shards.ids('shard01', { find: 'e' }, 'direct'), [1])
})

t.test('an unsharded collection replaces a sharded one with dropTarget', async (t) => {
  const shards = await sharded()
  await shards.direct('shard01', { insert: 'u', documents: [{ _id: 7 }] })
  t.match(await rename(shards, 'db.u', 'db.c'), {
    code: 48,
    errmsg: 'Target collection db.c exists but dropTarget is not set',
  })
  t.same(await rename(shards, 'db.u', 'db.c', true), { ok: 1 })
  t.equal(shards.config.collections.size, 0)
  t.same(await shards.ids('shard01', { find: 'c' }, 'direct'), [7])
  t.match(await shards.direct('shard02', { listIndexes: 'c' }), { code: 26 })
})

t.test('invalid requests are refused', async (t) => {
  const shards = await sharded()
  shards.config.addDatabase('other', 'shard01')
  t.match(await rename(shards, 'db.c', 'other.c'), {
    code: 125,
    errmsg: 'Source and destination collections must be on the same database because db.c is sharded.',
  })
  shards.config.zones.add('db.z')
  t.match(await rename(shards, 'db.c', 'db.z'), {
    code: 125,
    errmsg: "Can't rename to target collection db.z because it must not have associated tags",
  })
  t.same([...shards.config.collections.keys()], ['db.c'])
  t.match(await rename(await sharded('4.4'), 'db.c', 'db.d'), {
    code: 13138,
    errmsg: "You can't rename a sharded collection",
  })
})
