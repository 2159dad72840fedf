import { ShardedCluster } from 'shardlab'
import { Long, MongoClient, Timestamp, type Document } from 'mongodb'
import t from 'tap'

async function connect(emulate: '5.0' | '6.0' | '7.0' | '8.0') {
  const cluster = await ShardedCluster.start({ shards: 1, standby: ['rs1'], runtime: 'inline', emulate })
  const clients = await Promise.all(
    [cluster.uri, cluster.shards[0]!.uri, cluster.standby[0]!.uri].map((uri) => MongoClient.connect(uri)),
  )
  const [router, shard, standby] = clients.map((client) => client.db('admin'))
  return {
    cluster,
    router: router!,
    shard: shard!,
    standby: standby!,
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close()
      await cluster.stop()
    },
  }
}

const options = (expireAfterSeconds: unknown) => ({ changeStreamOptions: { preAndPostImages: { expireAfterSeconds } } })
const initial = {
  _id: 'changeStreamOptions',
  clusterParameterTime: new Timestamp(0n),
  preAndPostImages: { expireAfterSeconds: 'off' },
}

t.test('a cluster parameter is stored on all members, and new shards get it', async (t) => {
  await using lab = await connect('6.0')
  const { cluster, router, shard, standby } = lab
  const read = async (db: typeof router): Promise<Document> =>
    (await db.command({ getClusterParameter: 'changeStreamOptions' }))['clusterParameters'][0]
  t.same(await read(router), initial)
  t.same(await read(shard), initial)
  await router.command({ setClusterParameter: options(100) })
  const stored = await read(router)
  t.same(stored['preAndPostImages'], { expireAfterSeconds: 100 })
  t.ok(stored['clusterParameterTime'].greaterThan(Timestamp.fromNumber(0)))
  t.same(await read(shard), stored)
  await router.command({ setClusterParameter: options(Long.fromNumber(100)) })
  t.same(await read(router), stored, 'the same value keeps its time')
  await router.command({ addShard: cluster.standby[0]!.host })
  t.same(await read(standby), stored)
  await cluster.crash('config')
  await cluster.restart('config')
  t.same(await read(router), stored)
})

t.test('D719 cluster parameters by version', async (t) => {
  const names: Record<string, string[]> = {}
  for (const emulate of ['5.0', '6.0', '7.0', '8.0'] as const) {
    await using lab = await connect(emulate)
    const reply = await lab.router.command({ getClusterParameter: '*' }).catch((error: Document) => error)
    names[emulate] = reply['clusterParameters']?.map(({ _id }: Document) => _id) ?? [reply['code']]
  }
  t.same(names, {
    '5.0': [59],
    '6.0': ['changeStreamOptions'],
    '7.0': ['changeStreamOptions'],
    '8.0': [
      'changeStreamOptions',
      'configServerReadPreferenceForCatalogQueries',
      'defaultMaxTimeMS',
      'fleCompactionOptions',
      'internalQueryCutoffForSampleFromRandomCursor',
      'internalSearchOptions',
      'pauseMigrationsDuringMultiUpdates',
    ],
  })
})

t.test('refused cluster parameters', async (t) => {
  await using lab = await connect('8.0')
  const refusal = (db: typeof lab.router, command: Document) =>
    db.command(command).then(
      () => null,
      ({ code, message }: { code: number; message: string }) => [code, message],
    )
  const set = (value: unknown) => refusal(lab.router, { setClusterParameter: value })
  t.same(await refusal(lab.shard, { setClusterParameter: options(1) }), [
    238,
    'setClusterParameter can only run on mongos in sharded clusters',
  ])
  t.same(await set({ unknown: {} }), [4, 'Unknown server parameter: unknown'])
  t.same(await set({ changeStreamOptions: 1 }), [2, 'Cluster parameter value must be an object'])
  t.same(await set(options('on')), [2, "Non-numeric value of 'expireAfterSeconds' should be 'off'"])
  t.same(await set(options(0)), [2, "Numeric value of 'expireAfterSeconds' should be positive"])
  t.match(await set({ changeStreamOptions: { preAndPostImages: {}, x: 1 } }), [40415])
  t.match(await set({ defaultMaxTimeMS: { readOperations: 5 } }), [115])
  t.match(await set({ pauseMigrationsDuringMultiUpdates: { enabled: true } }), [115])
  t.match(await refusal(lab.router, { getClusterParameter: [] }), [2])
  t.match(await refusal(lab.router, { getClusterParameter: ['defaultMaxTimeMS', 'unknown'] }), [4])
  t.match(await refusal(lab.router, { getClusterParameter: 1 }), [14])
})
