/** Manual: reference/command/refineCollectionShardKey. */
import { packChunks } from '@shardlab/actor'
import { decode, encode, MaxKey, MinKey, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { ConfigUnderTest, uuid } from './support/config.js'

const min = new MinKey()
const max = new MaxKey()

async function withCollection(version: EmulatedVersion): Promise<ConfigUnderTest> {
  const config = await new ConfigUnderTest(version).initialised()
  await config.createDatabase('db', 'shard01', true)
  const bounds = [{ a: min }, { a: 0 }, { a: 5 }, { a: max }].map((bound) => encode(bound))
  await config.send('config.commit-create-collection', {
    ns: 'db.c',
    uuid,
    key: encode({ a: 1 }),
    unique: true,
    defaultCollation: null,
    chunks: packChunks([0, 1, 2].map((i) => [bounds[i]!, bounds[i + 1]!, i === 1 ? 'shard02' : 'shard01'] as const)),
    wasTracked: false,
    ...(await config.databaseOf('db')),
  })
  for (const [low, high, zone] of [
    [{ a: min }, { a: 0 }, 'x'],
    [{ a: 5 }, { a: max }, 'y'],
  ] as [Document, Document, string][]) {
    await config.send('config.add-shard-to-zone', { shard: 'shard01', zone })
    await config.send('config.update-zone-key-range', { ns: 'db.c', min: encode(low), max: encode(high), zone })
  }
  return config
}

const refine = async (config: ConfigUnderTest, epoch: string, ns = 'db.c') => {
  const { error } = await config.send('config.commit-refine-shard-key', {
    ns,
    key: encode({ a: 1, b: 1, 'c.d': 1 }),
    epoch,
  })
  return error === null ? null : decode(error)
}

for (const version of ['4.4', '7.0'] as const) {
  t.test(`bounds are extended, versions stay, ${version}`, async (t) => {
    const config = await withCollection(version)
    const [before] = await config.all('collections')
    const chunksBefore = await config.all('chunks')
    t.equal(await refine(config, (before!['lastmodEpoch'] as { toHexString(): string }).toHexString()), null)
    const [after] = await config.all('collections')
    t.same(after!['key'], { a: 1, b: 1, 'c.d': 1 })
    t.same(Object.keys(after!), Object.keys(before!), 'every field in its place')
    t.notSame(after!['lastmodEpoch'], before!['lastmodEpoch'])
    t.same(after!['uuid'], before!['uuid'])
    t.equal(after!['unique'], true)
    if (version === '7.0') t.notSame(after!['timestamp'], before!['timestamp'])
    const chunks = await config.all('chunks')
    const low = { b: min, 'c.d': min }
    t.same(
      chunks.map((chunk) => [chunk['min'], chunk['max']]),
      [
        [
          { a: min, ...low },
          { a: 0, ...low },
        ],
        [
          { a: 0, ...low },
          { a: 5, ...low },
        ],
        [
          { a: 5, ...low },
          { a: max, b: max, 'c.d': max },
        ],
      ],
    )
    t.same(
      chunks.map((chunk) => [chunk['_id'], chunk['lastmod'], chunk['shard'], chunk['history']]),
      chunksBefore.map((chunk) => [chunk['_id'], chunk['lastmod'], chunk['shard'], chunk['history']]),
    )
    if (version === '4.4')
      t.same(new Set(chunks.map((chunk) => String(chunk['lastmodEpoch']))), new Set([String(after!['lastmodEpoch'])]))
    t.same(
      (await config.all('tags')).map((tag) => [tag['min'], tag['max'], tag['tag']]),
      [
        [{ a: min, ...low }, { a: 0, ...low }, 'x'],
        [{ a: 5, ...low }, { a: max, b: max, 'c.d': max }, 'y'],
      ],
    )
    const changes = (await config.all('changelog')).filter((change) => String(change['what']).startsWith('refine'))
    t.match(changes, [
      {
        what: 'refineCollectionShardKey.start',
        ns: 'db.c',
        details: { oldKey: { a: 1 }, newKey: { a: 1, b: 1, 'c.d': 1 } },
      },
      { what: 'refineCollectionShardKey.end', ns: 'db.c', details: {} },
    ])
    t.same((changes[0]!['details'] as Document)['newEpoch'], after!['lastmodEpoch'])
  })
}

t.test('the commit is refused when the collection was recreated', async (t) => {
  const config = await withCollection('7.0')
  const before = await config.all('collections')
  t.match(await refine(config, '0123456789abcdef01234567'), { code: 150, codeName: 'StaleEpoch' })
  t.match(await refine(config, '0123456789abcdef01234567', 'db.other'), {
    code: 118,
    errmsg: 'refineCollectionShardKey namespace db.other is not sharded',
  })
  t.same(await config.all('collections'), before)
})
