import { DocumentWriter, elementsOf, FieldIterator, findField, parseExtendedJson } from '@shardlab/bson'
import { OptionError } from '../option-error.js'
import { DumpCommandError, type DumpClient } from './dump-client.js'
import { collectionsIn, documentsInFile, readText, type DumpedCollection } from './dump-files.js'
import { readCatalog, type DumpedCatalog } from './dumped-catalog.js'
import { importUsers, usersIn } from './import-users.js'
import { place, placeDatabases, prepareZones, withoutBalancer } from './place-chunks.js'

export interface ImportedDump {
  readonly collections: number
  readonly documents: number
}

interface Planned {
  readonly db: string
  readonly name: string
  readonly dataFile: string | null
  /** As `create` takes them. */
  readonly options: Uint8Array | null
  readonly indexes: readonly Uint8Array[]
  readonly isView: boolean
}

const batchDocumentsMax = 1000
const batchBytesMax = 12 * 1024 * 1024
/** Databases of the server itself, which another cluster has already. */
const ofServer: ReadonlySet<string> = new Set(['admin', 'config', 'local'])

/**
 * Creates the collections, indexes, views, users and roles of a dump, and inserts its documents. In
 * a sharded cluster, collections that were sharded are sharded again, with their chunks on shards
 * of the same names.
 * @throws OptionError the folder has no dump, a file is damaged, or a collection exists: nothing
 *   has changed then; or the cluster refuses a part: what was imported before stays
 */
export async function importDump(client: DumpClient, folder: string): Promise<ImportedDump> {
  const collections = await collectionsIn(folder)
  const planned: Planned[] = []
  for (const each of collections) if (!ofServer.has(each.db) && !isInternal(each)) planned.push(await plan(each))
  await checkAbsent(client, planned)
  // All files before the first change.
  for (const { dataFile } of planned) if (dataFile !== null) for await (const _ of documentsInFile(dataFile));
  const users = usersIn(collections)
  for (const { dataFile } of users) for await (const _ of documentsInFile(dataFile!));
  const catalog = client.isSharded ? await readCatalog(collections) : null
  const count = { collections: planned.length, documents: 0 }
  const fill = async (): Promise<void> => {
    for (const each of planned.filter(({ isView }) => !isView))
      await explained(folder, `${each.db}.${each.name}`, async () => {
        count.documents += await importCollection(client, each, catalog)
      })
    for (const each of planned.filter(({ isView }) => isView))
      await explained(folder, `${each.db}.${each.name}`, () => create(client, each))
  }
  if (catalog === null || catalog.sharded.size === 0) {
    if (catalog !== null) await explained(folder, 'the placement', () => placeDatabases(client, catalog))
    await fill()
  } else
    await explained(folder, 'the placement', () =>
      withoutBalancer(client, async () => {
        await placeDatabases(client, catalog)
        await prepareZones(client, catalog)
        await fill()
      }),
    )
  await explained(folder, 'the users', () => importUsers(client, users))
  return count
}

/** Nothing has changed yet. */
async function checkAbsent(client: DumpClient, planned: readonly Planned[]): Promise<void> {
  for (const db of new Set(planned.map((each) => each.db))) {
    const listed = await client.all(db, (writer) =>
      writer.int32('listCollections', 1).bool('nameOnly', true).startDocument('cursor').end(),
    )
    const names = new Set(listed.map((each) => findField(each, 'name')!.asString()))
    const found = planned.find((each) => each.db === db && names.has(each.name))
    if (found !== undefined)
      throw new OptionError(
        `${db}.${found.name} exists in the cluster already: drop it, or import into another cluster.`,
      )
  }
}

const isInternal = ({ name }: DumpedCollection): boolean => name.startsWith('system.') && name !== 'system.js'

async function plan({ db, name: fileName, dataFile, metadataFile }: DumpedCollection): Promise<Planned> {
  if (metadataFile === null)
    return { ...{ db, name: fileName, dataFile, options: null }, ...{ indexes: [], isView: false } }
  let metadata: Uint8Array
  try {
    metadata = parseExtendedJson(await readText(metadataFile))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new OptionError(`${metadataFile} is damaged: ${error.message}. Use another copy of the dump.`)
  }
  const indexes = findField(metadata, 'indexes')
  const options = findField(metadata, 'options')?.slice() ?? null
  return {
    ...{ db, dataFile, options },
    name: findField(metadata, 'collectionName')?.asString() ?? fileName,
    indexes: indexes === undefined ? [] : elementsOf(indexes).map((each) => withoutNamespace(each.slice())),
    isView: options !== null && findField(options, 'viewOn') !== undefined,
  }
}

/** Indexes of old versions have the namespace, which newer ones refuse. */
function withoutNamespace(index: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(index.length)
  for (const it = new FieldIterator(index); it.next();) if (it.name() !== 'ns') writer.value(it.name(), it.value())
  return writer.finish()
}

async function importCollection(
  client: DumpClient,
  collection: Planned,
  catalog: DumpedCatalog | null,
): Promise<number> {
  const { db, name, dataFile } = collection
  if (collection.options !== null) await create(client, collection)
  const { options } = collection
  const hasCollation = options !== null && findField(options, 'collation') !== undefined
  const indexes = collection.indexes
    .filter((index) => findField(index, 'name')?.asString() !== '_id_')
    .map((index) => (hasCollation && findField(index, 'collation') === undefined ? withSimpleCollation(index) : index))
  if (indexes.length > 0)
    await client.run(db, (writer) => writer.string('createIndexes', name).documents('indexes', indexes))
  const sharded = catalog?.sharded.get(`${db}.${name}`)
  if (sharded !== undefined) await place(client, `${db}.${name}`, sharded, hasCollation)
  return dataFile === null ? 0 : insert(client, db, name, dataFile)
}

/** Otherwise the index gets the collation of the collection. */
function withSimpleCollation(index: Uint8Array): Uint8Array {
  return new DocumentWriter(index.length + 64)
    .fields(index)
    .startDocument('collation')
    .string('locale', 'simple')
    .end()
    .finish()
}

async function create(client: DumpClient, { db, name, options }: Planned): Promise<void> {
  await client.run(db, (writer) => {
    writer.string('create', name)
    for (const it = new FieldIterator(options!); it.next();)
      if (!createdAnyway.has(it.name())) writer.value(it.name(), it.value())
    return writer
  })
}

const createdAnyway: ReadonlySet<string> = new Set(['uuid', 'autoIndexId', 'temp', 'create'])

async function insert(client: DumpClient, db: string, name: string, file: string): Promise<number> {
  let count = 0
  for await (const documents of documentsInFile(file)) {
    for (let from = 0; from < documents.length;) {
      const batch = batchAt(documents, from)
      from += batch.length
      count += batch.length
      const fill = (writer: DocumentWriter): DocumentWriter =>
        writer.string('insert', name).bool('bypassDocumentValidation', true)
      await client.run(db, fill, ['documents', batch])
    }
  }
  return count
}

function batchAt(documents: readonly Uint8Array[], from: number): Uint8Array[] {
  let to = from
  for (let bytes = 0; to < documents.length && to - from < batchDocumentsMax; to++) {
    bytes += documents[to]!.length
    if (bytes > batchBytesMax && to > from) break
  }
  return documents.slice(from, to)
}

async function explained(folder: string, what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof DumpCommandError)) throw error
    throw new OptionError(`${what} in ${folder} cannot be imported: ${error.message}.`)
  }
}
