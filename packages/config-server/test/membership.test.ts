import { packChunks, type TimestampPair } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { ShardKeyPattern, type EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { clusterId, ConfigUnderTest } from './support/config.js'

/** @param databases that each new shard already has */
async function cluster(
  version: EmulatedVersion = '7.0',
  databases: Record<string, string[]> = {},
): Promise<ConfigUnderTest> {
  const config = await new ConfigUnderTest(version).initialised(['shard01', 'shard02'])
  config.answers.set('shard.introduce', (to) =>
    /^shard\d\d$/.test(to) ? introduced(to, [`${to}.net:1`], databases[to]) : undefined,
  )
  config.answers.set('shard.initialise', (_to, request: { clusterId: Uint8Array }) => {
    if (Buffer.compare(request.clusterId, clusterId) !== 0) throw new Error('another cluster')
    return { error: null }
  })
  listening(config, { 'c:1': 'config', 'm:1': 'mongos01' })
  config.answers.set('cluster.name-member', (_to, { name }: { name: string }) => ({ isFree: name !== 'shard02' }))
  config.answers.set('shard.set-feature-compatibility-version', () => ({}))
  return config
}

const introduced = (setName: string, hosts: string[], databases: string[] = []) => ({
  ...{
    setName,
    hosts,
    passives: [],
    arbiters: [],
    isImplicitMajority: true,
    databases,
    defaultWriteConcern: null as Uint8Array | null,
  },
})

/** @param others members by host, besides `shardNN.net:1` */
function listening(config: ConfigUnderTest, others: Record<string, string>): void {
  config.answers.set('cluster.member-at', (_to, { host }: { host: string }) => ({
    set: others[host] ?? /^(shard\d\d)\.net:1$/.exec(host)?.[1] ?? null,
  }))
}

async function add(
  config: ConfigUnderTest,
  connectionString: string,
  name: string | null = null,
  maxSizeMb = 0,
): Promise<Document | string> {
  const { shard, error } = await config.send('config.add-shard', { connectionString, name, maxSizeMb })
  return error === null ? shard : decode(error)
}

async function remove(config: ConfigUnderTest, shard: string): Promise<Document> {
  const { error, ...reply } = await config.send('config.remove-shard', { shard })
  return error === null ? reply : decode(error)
}

const codeAndText = ({ code, errmsg }: Document) => [code, errmsg]
const shards = async (config: ConfigUnderTest) => (await config.all('shards')).map((shard) => shard['_id'])

t.test('addShard adds a shard with its databases', async (t) => {
  const config = await cluster('7.0', { shard03: ['own'] })
  t.equal(await add(config, 'shard03/shard03.net:1'), 'shard03')
  t.match(await config.all('shards'), [{}, {}, { _id: 'shard03', host: 'shard03/shard03.net:1', state: 1 }])
  t.match(await config.all('databases'), [{ _id: 'own', primary: 'shard03' }], 'with its databases')
  t.match((await config.all('changelog')).at(-1), {
    what: 'addShard',
    details: { name: 'shard03', host: 'shard03/shard03.net:1' },
  })
  const before = await config.all('shards')
  t.equal(await add(config, 'shard03/shard03.net:1'), 'shard03', 'again is no change')
  t.same(await config.all('shards'), before)
})

t.test('D840, D843: addShard refuses hosts that cannot be shards', async (t) => {
  const config = await cluster('7.0', { shard03: ['taken'] })
  await config.createDatabase('taken', 'shard01')
  const refused: [string, string | null, number, RegExp][] = [
    ['', null, 9, /^Empty host component parsing HostAndPort from ""$/],
    ['a:b:1', null, 9, /^More than one ':' detected/],
    ['a:b', null, 9, /^Did not consume whole string\.$/],
    ['a:70000', null, 9, /^Port number 70000 out of range/],
    ['a:1,b:1', null, 9, /^invalid url \[a:1,b:1\]$/],
    ['a:1,b:1,c:1', null, 9, /^mirrored config server connections/],
    ['shard03/shard03.net:1', '', 2, /^shard name cannot be empty$/],
    ['nobody/x:1', null, 133, /for set nobody$/],
    ['shard03/nobody:1', null, 133, /for set shard03$/],
    ['shard04/shard03.net:1', null, 133, /for set shard04$/],
    ['mongos01/m:1', null, 133, /./],
    ['config/c:1', null, 96, /as a shard since it is a config server$/],
    ['h:1', null, 20, /^'h:1' is already a member of the existing shard 'shard01\/h:1' \(shard01\)\.$/],
    ['h:7', null, 96, /^failed to run command { isMaster: 1 } when attempting to add shard h:7/],
    ['shard03.net:1', null, 96, /^host is part of set shard03; use replica set url format <setname>/],
    ['shard04/shard04.net:1,x:9', null, 96, /^in seed list .*, host x:9 does not belong to replica set shard04/],
    ['shard01/h:1', 'other', 20, /^A shard already exists containing the replica set 'shard01'$/],
    ['shard04/x:1', 'shard01', 20, /^A shard named shard01 already exists$/],
  ]
  for (const [connection, name, code, errmsg] of refused)
    t.match(await add(config, connection, name), { code, errmsg }, `${connection} ${name}`)
  t.match(await add(config, 'shard03/shard03.net:1'), {
    code: 96,
    errmsg: "can't add shard 'shard03/shard03.net:1' because a local database 'taken' exists in another shard01",
  })
  t.match(await add(config, 'shard04/shard04.net:1', 'config'), {
    code: 2,
    errmsg: "use of shard replica set with name 'config' is not allowed",
  })
  await remove(config, 'shard02')
  await remove(config, 'shard02')
  t.match(await add(config, 'shard04/shard04.net:1', 'shard02'), { code: 115 }, 'another member has the name')
  t.equal(await add(config, 'shard04/shard04.net:1', 'east'), 'east')
  t.same((await shards(config)).toSorted(), ['east', 'shard01'])
})

t.test('addShard refuses a set with another default write concern than the cluster', async (t) => {
  const config = await cluster()
  const write = { w: 2, wtimeout: 0 }
  config.answers.set('shard.introduce', () => ({
    ...introduced('shard03', ['shard03.net:1']),
    defaultWriteConcern: encode(write),
  }))
  const host = 'shard03/shard03.net:1'
  const set = (w: number) =>
    config.send('node.command', {
      ...{ db: 'admin', sequences: [], shardVersion: null, databaseVersion: null, stmtIds: null },
      ...{ clusterTime: [1, 1], operationKey: 0, batchBytesMax: 0 },
      body: encode({ setDefaultRWConcern: 1, defaultWriteConcern: { w }, $db: 'admin' }),
    })
  const why = `Cannot add ${host} as a shard since the cluster-wide write concern `
  const end = 'and try again. The CWWC on the shard is ({ w: 2, wtimeout: 0 })'
  t.same(codeAndText((await add(config, host)) as Document), [
    96,
    `${why}is set on the shard and not set on the cluster. Set the CWWC on the cluster to the same CWWC as the shard ${end}.`,
  ])
  await set(1)
  t.same(codeAndText((await add(config, host)) as Document), [
    96,
    `${why}set on the shard doesn't match the one set on the cluster. Make sure they match ${end}, and the CWWC on the cluster is ({ w: 1, wtimeout: 0 }).`,
  ])
  await set(2)
  t.equal(await add(config, host), 'shard03')
})

t.test('addShard stores maxSize in versions that have it', async (t) => {
  const config = await cluster('4.4')
  config.answers.set('shard.introduce', (to) => introduced(to, ['x:1']))
  listening(config, { 'x:1': 'shard03' })
  t.equal(await add(config, 'shard03/x:1', null, 500), 'shard03')
  t.match((await config.all('shards')).at(-1), { maxSize: { low: 500 } })
  t.match(await add(config, 'shard03/x:1', null, 600), { code: 20 }, 'with another one it is another shard')
})

t.test('removeShard goes through started, ongoing and completed', async (t) => {
  const config = await cluster()
  await config.createDatabase('db', 'shard02')
  await config.createDatabase('other', 'shard01')
  await config.createCollection('db.c', [0, 10, 20])
  t.match(await remove(config, 'shard02'), { state: 'started', shard: 'shard02', databasesToMove: ['db'] })
  t.match(await config.all('shards'), [{}, { _id: 'shard02', draining: true }])
  t.match(
    await remove(config, 'shard02/h:1'),
    { state: 'ongoing', shard: 'shard02', chunks: 2, databases: 1, jumboChunks: 0 },
    'by its host, too',
  )
  await config.send('config.commit-drop-collection', { ns: 'db.c' })
  t.match(await remove(config, 'shard02'), { state: 'ongoing', chunks: 0, databases: 1, databasesToMove: ['db'] })
  await config.commitDrop('config.commit-drop-database', 'db')
  t.match(await remove(config, 'shard02'), { state: 'completed', shard: 'shard02' })
  t.same(await shards(config), ['shard01'])
  t.same(
    (await config.all('changelog'))
      .map(({ what, details }) => [what, details])
      .filter(([what]) => String(what).startsWith('removeShard')),
    [
      ['removeShard.start', { shard: 'shard02' }],
      ['removeShard', { shard: 'shard02' }],
    ],
  )
  t.match(await remove(config, 'shard02'), { code: 70, errmsg: 'Shard shard02 not found' })
  t.equal(await add(config, 'shard02/shard02.net:1'), 'shard02', 'and can come back')
})

t.test('a shard with chunks or databases is not removed', async (t) => {
  const lastOne = 'Operation not allowed because it would remove the last shard'
  for (const [version, second, last, unknown] of [
    ['2.6', undefined, [undefined, "Can't remove last shard"], [13129, "can't find shard for: x"]],
    ['4.0', 117, [20, "Can't remove last shard"], [70, "Could not drop shard 'x' because it does not exist"]],
    ['4.4', 20, [20, lastOne], [70, 'Shard x not found']],
    ['8.0', 20, [20, lastOne], [70, 'Shard x not found']],
  ] as const) {
    const config = await cluster(version)
    t.same(codeAndText(await remove(config, 'x')), unknown, version)
    t.match(await remove(config, 'shard01'), { state: 'started' })
    t.equal((await remove(config, 'shard02'))['code'], second, `${version}: one is draining`)
    t.match(await remove(config, 'shard01'), { state: 'completed' })
    t.same(codeAndText(await remove(config, 'shard02')), last, version)
    t.same(await shards(config), ['shard02'])
  }
})

t.test('two shards can drain at the same time if a third one stays', async (t) => {
  const config = await cluster('7.0')
  config.answers.set('shard.introduce', (to) => introduced(to, ['x:3']))
  listening(config, { 'x:3': 'shard03' })
  await add(config, 'shard03/x:3')
  await config.createDatabase('db', 'shard01')
  await config.createDatabase('other', 'shard02')
  t.match(await remove(config, 'shard01'), { state: 'started' })
  t.match(await remove(config, 'shard02'), { state: 'started' })
  t.match(await remove(config, 'shard03'), { code: 20 })
})

t.test('the only shard of a zone with ranges cannot be removed', async (t) => {
  for (const [version, code] of [
    ['4.0', undefined],
    ['4.4', 163],
    ['8.0', 163],
  ] as const) {
    const config = await cluster(version)
    await config.send('config.add-shard-to-zone', { shard: 'shard01', zone: 'EU' })
    await config.send('config.update-zone-key-range', {
      ns: 'db.c',
      min: encode({ a: 0 }),
      max: encode({ a: 1 }),
      zone: 'EU',
    })
    t.equal((await remove(config, 'shard01'))['code'], code, version)
  }
})

async function leave(config: ConfigUnderTest, shard: string): Promise<void> {
  await remove(config, shard)
  if ((await remove(config, shard))['state'] !== 'completed') throw new Error(`${shard} does not leave`)
}

t.test('a shard that leaves while a database is created does not become its primary shard', async (t) => {
  const config = await cluster()
  let isGone = false
  config.answers.set('shard.data-size', async (to) => {
    if (!isGone) {
      isGone = true
      await leave(config, 'shard02')
    }
    return { sizeBytes: to === 'shard01' ? 1000 : 0 }
  })
  t.match(await config.createDatabase('db'), { database: { primary: 'shard01' }, error: null })
})

t.test('a database that a new shard brings while it is created keeps its primary shard', async (t) => {
  const config = await cluster('7.0', { shard03: ['db'] })
  let isJoining = false
  config.answers.set('shard.data-size', async () => {
    if (!isJoining) {
      isJoining = true
      await add(config, 'shard03/shard03.net:1')
    }
    return { sizeBytes: 0 }
  })
  t.match(await config.createDatabase('db'), { database: { primary: 'shard03' }, error: null })
  t.match(await config.all('databases'), [{ _id: 'db', primary: 'shard03' }])
})

t.test('addShard refuses a shard whose database was created while it joined', async (t) => {
  const config = await cluster('7.0', { shard03: ['db'] })
  config.answers.set('shard.initialise', async () => {
    await config.createDatabase('db', 'shard01')
    return { error: null }
  })
  t.match(await add(config, 'shard03/shard03.net:1'), {
    code: 96,
    errmsg: /local database 'db' exists in another shard01$/,
  })
  t.same(await shards(config), ['shard01', 'shard02'])
  t.match(await config.all('databases'), [{ _id: 'db', primary: 'shard01' }])
})

t.test('D854 commits planned before a shard left are refused when it is back', async (t) => {
  for (const version of ['4.4', '7.0'] as const) {
    const before = await cluster(version)
    await before.createCollection('db.c', [0], ['shard01', 'shard01'])
    const plannedAt = await before.clusterTime()
    const { checkedAt } = await before.send('config.check-new-primary', { db: 'db', to: 'shard02' })
    await leave(before, 'shard02')
    t.equal(await add(before, 'shard02/shard02.net:1'), 'shard02')
    const config = before.restarted()
    const { database } = await config.send('config.get-database', { db: 'db' })
    const { version: stored } = decode(database!) as { version: Document }
    const key = ShardKeyPattern.parse(encode({ a: 1 }), { compoundHashed: true })
    const create = async (plan: TimestampPair) =>
      config.send('config.commit-create-collection', {
        ns: 'db.other',
        uuid: Buffer.alloc(16, 1),
        key: key.document,
        unique: false,
        defaultCollation: null,
        chunks: packChunks([[key.globalMin, key.globalMax, 'shard02']]),
        wasTracked: false,
        ...(await config.databaseOf('db')),
        plannedAt: plan,
      })
    const [entry] = await config.all('collections')
    const [seconds, increment] = version === '7.0' ? [entry!['timestamp'].t, entry!['timestamp'].i] : [0, 0]
    const move = (plan: TimestampPair) =>
      config.send('config.commit-chunk-migration', {
        ns: 'db.c',
        min: encode({ a: 0 }),
        max: key.globalMax,
        from: 'shard01',
        to: 'shard02',
        chunkVersion: [entry!['lastmodEpoch'].toHexString(), seconds, increment, 1, 1],
        clusterTime: [0, 0],
        plannedAt: plan,
      })
    const movePrimary = (plan: TimestampPair) =>
      config.send('config.commit-move-primary', {
        db: 'db',
        to: 'shard02',
        databaseVersion: [
          stored['uuid'].toString('hex'),
          stored['timestamp']?.t ?? 0,
          stored['timestamp']?.i ?? 0,
          stored['lastMod'],
        ],
        plannedAt: plan,
      })
    const now = await config.clusterTime()
    for (const [name, commit, plan] of [
      ['shardCollection', create, plannedAt],
      ['moveChunk', move, plannedAt],
      ['movePrimary', movePrimary, checkedAt],
    ] as const) {
      t.match(decode((await commit(plan)).error!), { code: 70 }, `${version} ${name}`)
      t.equal((await commit(now)).error, null, `${version} ${name} with a new plan`)
    }
  }
})
