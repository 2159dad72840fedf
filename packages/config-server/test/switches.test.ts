import { decode, encode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { ConfigUnderTest } from './support/config.js'

const versions: EmulatedVersion[] = ['2.6', '4.0', '4.4', '5.0', '6.0.2', '6.0', '7.0', '8.0']

async function sharded(version: EmulatedVersion = '7.0'): Promise<ConfigUnderTest> {
  const config = await new ConfigUnderTest(version).initialised()
  await config.createDatabase('db', 'shard01', true)
  await config.createCollection('db.c', [0])
  return config
}

async function configure(
  config: ConfigUnderTest,
  ns: string,
  chunkSizeMb: number | null,
  enableAutoMerger: boolean | null = null,
): Promise<Document | null> {
  const { error } = await config.send('config.configure-collection-balancing', {
    ns,
    chunkSizeMb,
    defragmentCollection: null,
    enableAutoMerger,
  })
  return error === null ? null : decode(error)
}

t.test('the balancer mode is stored as stopped and mode', async (t) => {
  for (const version of versions) {
    const config = await sharded(version)
    await config.send('config.set-balancer-mode', { mode: 'off' })
    const settings = Object.fromEntries((await config.all('settings')).map(({ _id, ...setting }) => [_id, setting]))
    t.same(settings['balancer'], { mode: 'off', stopped: true }, version)
    t.same(
      settings['autosplit'],
      version === '4.4' || version === '5.0' || version === '6.0.2' ? { enabled: false } : undefined,
      version,
    )
  }
})

t.test('setting the balancer mode leaves other switches unchanged', async (t) => {
  const config = await sharded()
  const settings = async () => (await config.all('settings')).find(({ _id }) => _id === 'balancer')
  await config.send('config.set-balancer-mode', { mode: 'off' })
  t.same(await settings(), { _id: 'balancer', mode: 'off', stopped: true })
  await config.send('config.set-balancer-mode', { mode: 'full' })
  t.same(await settings(), { _id: 'balancer', mode: 'full', stopped: false })
})

t.test('configure-collection-balancing stores its fields in the entry', async (t) => {
  const config = await sharded()
  const collection = async () => (await config.all('collections'))[0]
  t.equal(await configure(config, 'db.c', 256), null)
  t.match(await collection(), { maxChunkSizeBytes: { low: 256 * 1024 * 1024 } })
  t.equal(await configure(config, 'db.c', null, false), null)
  t.match(await collection(), { maxChunkSizeBytes: { low: 256 * 1024 * 1024 }, enableAutoMerge: false })
  t.equal(await configure(config, 'db.c', 0), null)
  t.notOk('maxChunkSizeBytes' in (await collection())!, '0: that of the cluster')
  for (const size of [-1, 1025, 8_796_093_022_209])
    t.match(await configure(config, 'db.c', size), { code: 72, errmsg: `Chunk size '${size}' out of range [1MB, 1GB]` })
  t.match(await configure(config, 'db.none', 1), {
    code: 118,
    errmsg: 'Expected to match one doc for query { _id: "db.none" } but matched 0',
  })
})

t.test('configuring nothing succeeds or fails by version', async (t) => {
  t.match(await configure(await sharded('6.0.2'), 'db.c', null), {
    code: 72,
    errmsg: 'invalid configure collection balancing update',
  })
  t.match(await configure(await sharded('6.0'), 'db.c', null), { code: 72 })
  t.equal(await configure(await sharded('7.0'), 'db.c', null), null)
})

t.test('set-allow-migrations stores its switch in the entry', async (t) => {
  const config = await sharded()
  const collection = async () => (await config.all('collections'))[0]!
  await config.send('config.set-allow-migrations', { ns: 'db.c', allowMigrations: false })
  t.equal((await collection())['permitMigrations'], false)
  await config.send('config.set-allow-migrations', { ns: 'db.c', allowMigrations: true })
  t.notOk('permitMigrations' in (await collection()))
  const { error } = await config.send('config.set-allow-migrations', { ns: 'db.none', allowMigrations: false })
  t.match(decode(error!), { code: 118, errmsg: 'Collection must be sharded so migrations can be blocked' })
})

t.test('the validator of config.settings restricts chunk sizes', async (t) => {
  const insert = async (config: ConfigUnderTest, setting: Document) => {
    const { body } = await config.send('node.command', {
      db: 'config',
      body: encode({ insert: 'settings', documents: [setting] }),
      sequences: [],
      shardVersion: null,
      databaseVersion: null,
      stmtIds: null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
    })
    return ((decode(body)['writeErrors'] ?? []) as Document[])[0]?.['code']
  }
  for (const [version, code] of [
    ['4.4', undefined],
    ['6.0', undefined],
    ['7.0', 121],
    ['8.0', 121],
  ] as const) {
    const fresh = async () => {
      const config = new ConfigUnderTest(version)
      await config.send('config.initialise', { clusterId: Buffer.alloc(12), shards: [], chunkSizeBytes: 0 })
      return config
    }
    for (const setting of [
      { _id: 'chunksize', value: 0 },
      { _id: 'chunksize', value: 1025 },
      { _id: 'chunksize', value: '5' },
      { _id: 'chunksize', value: 5, more: 1 },
      { _id: 'other' },
    ])
      t.equal(await insert(await fresh(), setting), code, `${version} ${JSON.stringify(setting)}`)
    for (const setting of [
      { _id: 'chunksize', value: 1 },
      { _id: 'chunksize', value: 3.5 },
      { _id: 'balancer', anything: true },
      { _id: 'automerge', enabled: false },
    ])
      t.equal(await insert(await fresh(), setting), undefined, `${version} ${JSON.stringify(setting)}`)
  }
})

t.test('setting the feature compatibility version reaches all shards', async (t) => {
  const told: string[] = []
  const set = async (config: ConfigUnderTest, version: string) => {
    config.answers.set('shard.set-feature-compatibility-version', (to, request: { version: string }) => {
      told.push(`${to} ${request.version}`)
      return {}
    })
    const { error } = await config.send('config.set-feature-compatibility-version', { version })
    return error === null ? null : decode(error)
  }
  const config = await sharded('7.0')
  t.equal(await set(config, '6.0'), null)
  t.same(told.splice(0), ['shard01 6.0', 'shard02 6.0'])
  const stored = async () =>
    decode(
      (
        await config.send('node.command', {
          db: 'admin',
          body: encode({ find: 'system.version', filter: { _id: 'featureCompatibilityVersion' } }),
          sequences: [],
          shardVersion: null,
          databaseVersion: null,
          stmtIds: null,
          clusterTime: [1, 1],
          operationKey: 0,
          batchBytesMax: 0,
        })
      ).body,
    )
  t.match(await stored(), { cursor: { firstBatch: [{ version: '6.0' }] } })
  t.match(await set(config, '6.3'), { code: 5147403 })
  t.match(await set(config, '5.0'), {
    code: 4926900,
    errmsg: /^Invalid feature compatibility version value '5\.0'; expected '6\.0' or '6\.3' or '7\.0\. See /,
  })
  t.same(told.splice(0), [])
  t.match(await stored(), { cursor: { firstBatch: [{ version: '6.0' }] } })
  t.match(await set(await sharded('5.0'), '4.2'), {
    code: 4926900,
    errmsg: /value, expected '4\.4' or '4\.9' or '5\.0\. /,
  })
  t.match(await set(await sharded('4.4'), '4.0'), { code: 2 })
})
