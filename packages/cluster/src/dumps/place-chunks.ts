/**
 * Shards the collections of a dump as they were. Manual:
 * tutorial/create-chunks-in-sharded-cluster.
 */
import { compareDocuments, DocumentWriter, findField } from '@shardlab/bson'
import type { DumpClient } from './dump-client.js'
import type { DumpedCatalog, ShardedInDump } from './dumped-catalog.js'

/** The balancer is off during the work, and afterwards as before. */
export async function withoutBalancer(client: DumpClient, work: () => Promise<void>): Promise<void> {
  const byId = (writer: DocumentWriter): DocumentWriter => writer.string('_id', 'balancer').end()
  const [before] = await client.all('config', (writer) =>
    byId(writer.string('find', 'settings').startDocument('filter')),
  )
  const off = byId(new DocumentWriter(128).startDocument('q'))
  off.startDocument('u').startDocument('$set').string('mode', 'off').bool('stopped', true).end().end()
  off.bool('upsert', true)
  // Directly: not every version has commands for it.
  await client.run('config', (writer) => writer.string('update', 'settings'), ['updates', [off.finish()]])
  try {
    await work()
  } finally {
    const again = byId(new DocumentWriter(128).startDocument('q'))
    if (before === undefined) {
      const command = (writer: DocumentWriter): DocumentWriter => writer.string('delete', 'settings')
      await client.run('config', command, ['deletes', [again.int32('limit', 1).finish()]])
    } else {
      const command = (writer: DocumentWriter): DocumentWriter => writer.string('update', 'settings')
      await client.run('config', command, ['updates', [again.document('u', before).finish()]])
    }
  }
}

/** Databases get their primary shards, if the cluster has shards of these names. */
export async function placeDatabases(client: DumpClient, { primaries }: DumpedCatalog): Promise<void> {
  const shards = new Set(await shardsOf(client))
  for (const [db, primary] of primaries) {
    if (!shards.has(primary) || db === 'config' || db === 'admin') continue
    await client.run('admin', (writer) => writer.string('enableSharding', db))
    const [found] = await client.all('config', (writer) =>
      writer.string('find', 'databases').startDocument('filter').string('_id', db).end(),
    )
    if (found !== undefined && findField(found, 'primary')?.asString() !== primary)
      await client.run('admin', (writer) => writer.string('movePrimary', db).string('to', primary))
  }
}

export async function prepareZones(client: DumpClient, { zones, zonesOfShards }: DumpedCatalog): Promise<void> {
  const shards = new Set(await shardsOf(client))
  for (const [shard, names] of zonesOfShards)
    for (const zone of shards.has(shard) ? names : [])
      await client.run('admin', (writer) => writer.string('addShardToZone', shard).string('zone', zone))
  const known = new Set([...zonesOfShards].flatMap(([shard, names]) => (shards.has(shard) ? names : [])))
  for (const { ns, min, max, zone } of zones)
    if (known.has(zone))
      await client.run('admin', (writer) =>
        writer.string('updateZoneKeyRange', ns).document('min', min).document('max', max).string('zone', zone),
      )
}

/** Chunks on shards that the cluster does not have stay where they are. */
export async function place(
  client: DumpClient,
  ns: string,
  { key, isUnique, chunks }: ShardedInDump,
  hasCollation: boolean,
): Promise<void> {
  await client.run('admin', (writer) => {
    writer.string('shardCollection', ns).document('key', key).bool('unique', isUnique)
    // A shard key has no other collation.
    return hasCollation ? writer.startDocument('collation').string('locale', 'simple').end() : writer
  })
  const existing = new Set((await chunksNow(client, ns)).map(({ min }) => hex(min)))
  for (const { min } of chunks.slice(1))
    if (!existing.has(hex(min)))
      await client.run('admin', (writer) => writer.string('split', ns).document('middle', min))
  const shards = new Set(await shardsOf(client))
  for (const { min, max, shard } of await chunksNow(client, ns)) {
    const to = chunks.findLast((each) => compareDocuments(each.min, min) <= 0)?.shard
    if (to === undefined || to === shard || !shards.has(to)) continue
    await client.run('admin', (writer) =>
      writer.string('moveChunk', ns).startArray('bounds').document('0', min).document('1', max).end().string('to', to),
    )
  }
}

async function chunksNow(client: DumpClient, ns: string) {
  const [collection] = await client.all('config', (writer) =>
    writer.string('find', 'collections').startDocument('filter').string('_id', ns).end(),
  )
  const uuid = collection === undefined ? undefined : findField(collection, 'uuid')
  const all = await client.all('config', (writer) => {
    writer.string('find', 'chunks').startDocument('filter').startArray('$or')
    writer.startDocument('0').string('ns', ns).end()
    if (uuid !== undefined) writer.startDocument('1').value('uuid', uuid).end()
    return writer.end().end()
  })
  return all.map((chunk) => ({
    ...{ min: findField(chunk, 'min')!.slice(), max: findField(chunk, 'max')!.slice() },
    shard: findField(chunk, 'shard')!.asString(),
  }))
}

async function shardsOf(client: DumpClient): Promise<string[]> {
  const shards = await client.all('config', (writer) => writer.string('find', 'shards'))
  return shards.map((each) => findField(each, '_id')!.asString())
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
