import { decode, type Document } from '@shardlab/bson'
import t from 'tap'
import { ConfigUnderTest } from './support/config.js'

const cluster = (): Promise<ConfigUnderTest> => new ConfigUnderTest().initialised()

async function startDraining(config: ConfigUnderTest, shard: string): Promise<void> {
  const { state } = await config.send('config.remove-shard', { shard })
  if (state !== 'started') throw new Error(`${shard} does not drain`)
}

async function versionOf(config: ConfigUnderTest): Promise<readonly [string, number, number, number]> {
  const { database } = await config.createDatabase('db', 'shard01')
  const { uuid, timestamp, lastMod } = (database as Document)['version']
  return [uuid.toString('hex'), timestamp.t, timestamp.i, lastMod]
}

t.test('movePrimary changes the primary shard of a database', async (t) => {
  const config = await cluster()
  const { database } = await config.createDatabase('db', 'shard01')
  const { uuid, timestamp, lastMod } = (database as Document)['version']
  const version = [uuid.toString('hex'), timestamp.t, timestamp.i, lastMod] as const
  const commit = async (to: string, databaseVersion = version) => {
    const reply = await config.send('config.commit-move-primary', {
      db: 'db',
      to,
      databaseVersion: databaseVersion as never,
      plannedAt: [0, 0],
    })
    return reply.error === null ? decode(reply.database!) : decode(reply.error)
  }
  t.match(await commit('shard09'), { code: 70, errmsg: 'Requested primary shard shard09 does not exist' })
  t.match(await commit('shard02', ['00', 1, 1, 7] as never), { code: 117 })
  const moved = await commit('shard02')
  t.match(moved, { _id: 'db', primary: 'shard02', version: { lastMod: 2 } })
  t.same(moved['version'].uuid, uuid)
  t.same(await commit('shard02'), moved, 'again is no change')
  await startDraining(config, 'shard01')
  t.match(await commit('shard01', [version[0], version[1], version[2], 2] as never), {
    code: 70,
    errmsg: 'Requested primary shard shard01 is draining',
  })
})

t.test('a refused movePrimary stays refused when its shard does not drain any more', async (t) => {
  const config = await cluster()
  const databaseVersion = await versionOf(config)
  const plan = { db: 'db', to: 'shard02' }
  const { checkedAt: plannedAt } = await config.send('config.check-new-primary', plan)
  await startDraining(config, 'shard02')
  const commit = { ...plan, databaseVersion, plannedAt }
  const refused = (await config.send('config.commit-move-primary', commit)).error
  t.match(decode(refused!), { code: 70, errmsg: 'Requested primary shard shard02 is draining' })
  const updates = [{ q: { _id: 'shard02' }, u: { $unset: { draining: 1 } } }]
  t.match(decode(await config.command({ update: 'shards', updates })), { n: 1 })
  const late = (await config.send('config.commit-move-primary', commit)).error
  t.match(decode(late!), { code: 70 })
  const next = { ...commit, plannedAt: (await config.send('config.check-new-primary', plan)).checkedAt }
  t.match(await config.send('config.commit-move-primary', next), { error: null })
})

t.test('a movePrimary that commits while its database is dropped does not recreate it', async (t) => {
  const config = await cluster()
  const databaseVersion = await versionOf(config)
  const { checkedAt: plannedAt } = await config.send('config.check-new-primary', { db: 'db', to: 'shard02' })
  const commit = { db: 'db', to: 'shard02', databaseVersion, plannedAt }
  await Promise.all([
    config.send('config.commit-drop-database', { db: 'db', databaseUuid: databaseVersion[0] }),
    config.send('config.commit-move-primary', commit),
  ])
  t.strictSame(await config.all('databases'), [])
})

t.test('a dropped database has no refused movePrimary any more', async (t) => {
  const config = await cluster()
  const databaseVersion = await versionOf(config)
  const plannedAt = await config.clusterTime()
  const refusals = async (): Promise<unknown> =>
    decode(await config.command({ count: 'shardlabRefusedMoves' }, 'local'))['n']
  await startDraining(config, 'shard02')
  const commit = { db: 'db', to: 'shard02', databaseVersion, plannedAt }
  t.match(decode((await config.send('config.commit-move-primary', commit)).error!), { code: 70 })
  t.equal(await refusals(), 1)
  await config.commitDrop('config.commit-drop-database', 'db')
  t.equal(await refusals(), 0)
})
