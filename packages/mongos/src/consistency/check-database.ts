/**
 * Server: shardsvr_check_metadata_consistency_command.cpp,
 * configsvr_check_metadata_consistency_command.cpp.
 */
import { CommandError, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { ShardKeyPattern } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configDocuments } from '../remote/config-documents.js'
import { chunkInconsistencies, type CatalogCollection } from './chunks.js'
import { optionInconsistencies } from './collection-options.js'
import { inconsistentIndexes } from './inconsistent-indexes.js'
import { zoneInconsistencies } from './zones.js'

export interface DatabaseCheck {
  readonly db: string
  /** Null: the config database, of which nothing on shards is checked. */
  readonly primary: string | null
  /** Null: all. */
  readonly only: string | null
  readonly checkIndexes: boolean
}

/**
 * The inconsistencies found by shards come first.
 * @throws CommandError of members or of the requests to them
 */
export async function checkDatabase(invocation: MongosInvocation, check: DatabaseCheck): Promise<Uint8Array[]> {
  const { db, only, primary } = check
  const entries = await collectionsOf(invocation, db, only)
  const collections = entries.map(parseCollection)
  const found = primary === null ? [] : await checkOnShards(invocation, check, primary, entries)
  for (const collection of collections) {
    const chunks = await chunksOf(invocation, collection)
    found.push(...chunkInconsistencies(collection, chunks))
    const ofCollection = new DocumentWriter(128).string('ns', collection.ns).finish()
    found.push(...zoneInconsistencies(collection, await configDocuments(invocation, 'tags', ofCollection, byMin)))
    if (check.checkIndexes && primary !== null)
      found.push(...(await inconsistentIndexes(invocation, collection.ns, ownersOf(chunks))))
  }
  return found
}

const byMin = new DocumentWriter(32).int32('min', 1).finish()
const byId = new DocumentWriter(32).int32('_id', 1).finish()

async function collectionsOf(invocation: MongosInvocation, db: string, only: string | null): Promise<Uint8Array[]> {
  const filter = new DocumentWriter(128)
  if (only !== null) filter.string('_id', only)
  else filter.startDocument('_id').string('$gte', `${db}.`).string('$lt', `${db}/`).end()
  return configDocuments(invocation, 'collections', filter.finish(), byId)
}

function parseCollection(entry: Uint8Array): CatalogCollection {
  const field = (name: string): RawValue => {
    const value = findField(entry, name)
    if (value === undefined) throw new CommandError('NoSuchKey', `Missing expected field "${name}"`)
    return value
  }
  const shardKey = ShardKeyPattern.parse(field('key').slice(), { compoundHashed: true })
  return { ns: field('_id').asString(), uuid: field('uuid'), shardKey }
}

function chunksOf(invocation: MongosInvocation, { uuid }: CatalogCollection): Promise<Uint8Array[]> {
  return configDocuments(invocation, 'chunks', new DocumentWriter(64).value('uuid', uuid).finish(), byMin)
}

function ownersOf(chunks: readonly Uint8Array[]): string[] {
  return [...new Set(chunks.flatMap((chunk) => findField(chunk, 'shard')?.asString() ?? []))].sort()
}

async function checkOnShards(
  invocation: MongosInvocation,
  { db, only }: DatabaseCheck,
  primary: string,
  collections: readonly Uint8Array[],
): Promise<Uint8Array[]> {
  const { host, operation } = invocation
  const shards = await host.shards.ids(operation)
  const answers = await host.context.all(
    shards.map((shard) =>
      host.remote.request(shard, 'shard.check-metadata', { db, primary, only, collections }, operation),
    ),
  )
  const options = new Map<string, Map<string, Uint8Array>>()
  for (const [i, shard] of shards.entries()) {
    for (const [ns, document] of answers[i]!.options)
      options.set(ns, (options.get(ns) ?? new Map<string, Uint8Array>()).set(shard, document))
  }
  const found = answers.flatMap(({ inconsistencies }) => inconsistencies)
  for (const [ns, byShard] of options) {
    const owners = ownersOf(
      await chunksOf(
        invocation,
        parseCollection(collections.find((each) => findField(each, '_id')!.asString() === ns)!),
      ),
    )
    const concerned = [...byShard].filter(([shard]) => shard === primary || owners.includes(shard))
    found.push(...optionInconsistencies(ns, new Map(concerned)))
  }
  return found
}
