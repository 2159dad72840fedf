/** The database config in a dump of a sharded cluster: what an import shards again. */
import { compareDocuments, elementsOf, findField, type RawValue } from '@shardlab/bson'
import { documentsInFile, type DumpedCollection } from './dump-files.js'

export interface DumpedChunk {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly shard: string
}

export interface ShardedInDump {
  readonly key: Uint8Array
  readonly isUnique: boolean
  /** In their order. */
  readonly chunks: readonly DumpedChunk[]
}

export interface DumpedZone {
  readonly ns: string
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly zone: string
}

export interface DumpedCatalog {
  /** The primary shards of databases. */
  readonly primaries: ReadonlyMap<string, string>
  readonly sharded: ReadonlyMap<string, ShardedInDump>
  readonly zones: readonly DumpedZone[]
  readonly zonesOfShards: ReadonlyMap<string, readonly string[]>
}

/** @throws OptionError a file is damaged */
export async function readCatalog(collections: readonly DumpedCollection[]): Promise<DumpedCatalog> {
  const read = async (name: string): Promise<Uint8Array[]> => {
    const file = collections.find((each) => each.db === 'config' && each.name === name)?.dataFile
    const all: Uint8Array[] = []
    if (file !== undefined && file !== null) for await (const batch of documentsInFile(file)) all.push(...batch)
    return all
  }
  const chunks = chunksByCollection(await read('chunks'))
  const sharded = new Map<string, ShardedInDump>()
  for (const document of await read('collections')) {
    const key = findField(document, 'key')
    const isSharded = !isOn(findField(document, 'dropped')) && !isOn(findField(document, 'unsplittable'))
    const ns = text(document, '_id')
    if (key === undefined || !isSharded || ns.startsWith('config.')) continue
    const of = chunks.get(idOf(findField(document, 'uuid'))) ?? chunks.get(ns) ?? []
    sharded.set(ns, { key: key.slice(), isUnique: isOn(findField(document, 'unique')), chunks: of })
  }
  return {
    sharded,
    primaries: new Map((await read('databases')).map((each) => [text(each, '_id'), text(each, 'primary')])),
    zones: (await read('tags')).map((each) => ({
      ...{ ns: text(each, 'ns'), zone: text(each, 'tag') },
      ...{ min: findField(each, 'min')!.slice(), max: findField(each, 'max')!.slice() },
    })),
    zonesOfShards: new Map((await read('shards')).map((each) => [text(each, '_id'), zonesIn(each)])),
  }
}

function chunksByCollection(documents: readonly Uint8Array[]): Map<string, DumpedChunk[]> {
  const chunks = new Map<string, DumpedChunk[]>()
  for (const document of documents) {
    // Since 5.0 a chunk has the UUID of its collection.
    const ns = findField(document, 'ns')
    const id = ns === undefined ? idOf(findField(document, 'uuid')) : ns.asString()
    const chunk = {
      ...{ min: findField(document, 'min')!.slice(), max: findField(document, 'max')!.slice() },
      shard: text(document, 'shard'),
    }
    const known = chunks.get(id)
    if (known === undefined) chunks.set(id, [chunk])
    else known.push(chunk)
  }
  for (const of of chunks.values()) of.sort((a, b) => compareDocuments(a.min, b.min))
  return chunks
}

function zonesIn(shard: Uint8Array): string[] {
  const tags = findField(shard, 'tags')
  if (tags === undefined) return []
  return elementsAsText(tags)
}

const elementsAsText = (array: RawValue): string[] => elementsOf(array).map((each) => each.asString())
const text = (document: Uint8Array, name: string): string => findField(document, name)?.asString() ?? ''
const isOn = (value: RawValue | undefined): boolean => value?.isTruthy() === true
const idOf = (uuid: RawValue | undefined): string =>
  uuid === undefined ? '' : Buffer.from(uuid.asBinary()).toString('hex')
