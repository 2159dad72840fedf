/** Entries of the catalog keep the order and the types of their fields when they are changed. */
import { packChunks } from '@shardlab/actor'
import { DocumentWriter, encode, findField, maxKeyValue, minKeyValue, toExtendedJson } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { ConfigUnderTest, uuid } from './support/config.js'

/** A JavaScript object would put `1` first, and store 1.0 as an int32. */
const key = new DocumentWriter().double('b', 1).int64('1', 1n).finish()
const bound = (b: number, one: number) => new DocumentWriter().double('b', b).int64('1', one).finish()
const end = (value: typeof minKeyValue) => new DocumentWriter().value('b', value).value('1', value).finish()

async function sharded(version: EmulatedVersion): Promise<ConfigUnderTest> {
  const config = await new ConfigUnderTest(version).initialised(['shard01'])
  await config.createDatabase('db')
  const { error } = await config.send('config.commit-create-collection', {
    ns: 'db.c',
    uuid,
    key,
    unique: false,
    defaultCollation: encode({ locale: 'fr' }),
    chunks: packChunks([[end(minKeyValue), end(maxKeyValue), 'shard01']]),
    wasTracked: false,
    ...(await config.databaseOf('db')),
  })
  t.equal(error, null)
  await config.send('config.add-shard-to-zone', { shard: 'shard01', zone: 'EU' })
  return config
}

const zone = async (config: ConfigUnderTest, min: Uint8Array, max: Uint8Array, ns = 'db.c') => {
  const { error } = await config.send('config.update-zone-key-range', { ns, min, max, zone: 'EU' })
  return error === null ? null : findField(error, 'code')!.asNumber()
}

const canonical = (document: Uint8Array, ...names: string[]) =>
  names.map((name) => toExtendedJson(findField(document, name)!.slice(), { canonical: true }))

t.test('A renamed collection keeps key and zones with numeric field names', async (t) => {
  const config = await sharded('7.0')
  t.equal(await zone(config, bound(0, 5), bound(10, 5)), null)
  const [before] = (await config.send('config.get-zones', { ns: 'db.c' })).zones
  t.same(await config.send('config.commit-rename-collection', { ns: 'db.c', to: 'db.d', uuid }), { error: null })
  const { collection } = await config.send('config.get-collection', { ns: 'db.d', since: null })
  t.same(findField(collection!, 'key')!.slice(), key)
  const [after] = (await config.send('config.get-zones', { ns: 'db.d' })).zones
  t.same(canonical(after!, 'min', 'max'), canonical(before!, 'min', 'max'))
})

t.test('A dropped collection that leaves its entry keeps key and order of fields', async (t) => {
  const config = await sharded('4.4')
  const { collection: before } = await config.send('config.get-collection', { ns: 'db.c', since: null })
  await config.send('config.commit-drop-collection', { ns: 'db.c' })
  const [entry] = await config.raw('collections')
  t.equal(
    toExtendedJson(entry!, { canonical: true }),
    toExtendedJson(before!, { canonical: true }).replace('"dropped":false', '"dropped":true'),
  )
})

t.test('Zones of an unsharded collection overlap by the order in which their fields were given', async (t) => {
  const config = await sharded('7.0')
  t.equal(await zone(config, bound(0, 5), bound(10, 5), 'db.other'), null)
  t.equal(await zone(config, bound(10, 5), bound(20, 0), 'db.other'), null, 'the next range')
  t.equal(await zone(config, bound(15, 0), bound(30, 0), 'db.other'), 178)
  t.equal(await zone(config, bound(5, 0), bound(6, 100), 'db.other'), 178)
})

t.test('An entry of config.tags without bounds or zone is ignored', async (t) => {
  const config = await sharded('7.0')
  const insert = new DocumentWriter()
    .string('insert', 'tags')
    .documents('documents', [encode({ ns: 'db.c', min: 5, tag: 7 })])
    .string('$db', 'config')
    .finish()
  await config.send('client.command', { connectionId: 1, body: insert, sequences: [], legacy: false, remote: '' })
  t.equal(await zone(config, bound(0, 5), bound(10, 5)), null)
  t.equal((await config.send('config.get-zones', { ns: 'db.c' })).zones.length, 1)
})
