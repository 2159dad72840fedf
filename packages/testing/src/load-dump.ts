/** Loads a folder that mongodump has written: `<database>/<collection>.bson` and its metadata. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BSON, MongoClient, type Db, type Document } from 'mongodb'

interface Metadata {
  readonly options?: Document
  readonly indexes?: readonly Document[]
}

const batchDocuments = 1000

/**
 * Creates the collections, views and indexes, then inserts the documents. Databases `admin`,
 * `config` and `local` are left out.
 */
export async function loadDump(uri: string, folder: string): Promise<void> {
  const client = await MongoClient.connect(uri)
  try {
    for (const entry of await readdir(folder, { withFileTypes: true }))
      if (entry.isDirectory() && !['admin', 'config', 'local'].includes(entry.name))
        await loadDatabase(client.db(entry.name), join(folder, entry.name))
  } finally {
    await client.close()
  }
}

async function loadDatabase(db: Db, folder: string): Promise<void> {
  const ending = '.metadata.json'
  const files = await readdir(folder)
  for (const file of files.filter((each) => each.endsWith(ending))) {
    const encoded = file.slice(0, -ending.length)
    const name = decodeURIComponent(encoded)
    const { options = {}, indexes = [] } = BSON.EJSON.parse(await readFile(join(folder, file), 'utf8'), {
      relaxed: false,
    }) as Metadata
    await db.command({ create: name, ...options })
    if (files.includes(`${encoded}.bson`)) await insertAll(db, name, await readFile(join(folder, `${encoded}.bson`)))
    const further = indexes.filter((index) => index['name'] !== '_id_').map(withoutVersion)
    if (further.length > 0) await db.command({ createIndexes: name, indexes: further })
  }
}

/** Older dumps name the collection in each index, and indexes of a version that is not emulated. */
function withoutVersion(index: Document): Document {
  return Object.fromEntries(Object.entries(index).filter(([name]) => name !== 'ns' && name !== 'v'))
}

async function insertAll(db: Db, name: string, bytes: Buffer): Promise<void> {
  let batch: Document[] = []
  const insert = async (): Promise<void> => {
    if (batch.length > 0) await db.collection(name).insertMany(batch, { ordered: false })
    batch = []
  }
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readInt32LE(at)
    // Numbers and other values keep their types.
    batch.push(BSON.deserialize(bytes.subarray(at, at + size), { promoteValues: false, bsonRegExp: true }))
    at += size
    if (batch.length === batchDocuments) await insert()
  }
  await insert()
}
