import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { elementsOf, findField, toExtendedJson, type DocumentWriter } from '@shardlab/bson'
import { makeFolder } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import type { DumpClient } from './dump-client.js'
import { fileNameOf, hasMarker, markerName } from './dump-files.js'
import { userCollections } from './import-users.js'

/** From which an import shards collections again. */
const catalogCollections = ['databases', 'collections', 'chunks', 'shards', 'tags'] as const

export interface ExportedDump {
  readonly collections: number
  readonly documents: number
}

/** @throws OptionError the folder is no dump of ours, and not empty: its content would be lost */
export async function checkExportFolder(folder: string): Promise<void> {
  const content = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new OptionError(`${folder} cannot be written (${error.message}): name another folder.`)
  })
  if (content.length > 0 && !(await hasMarker(folder)))
    throw new OptionError(`${folder} has files that no export has written: name an empty or new folder.`)
  await checkReplaceable(folder)
}

/** A new folder is written beside the old one, and then gets its name. */
async function checkReplaceable(folder: string): Promise<void> {
  const target = resolve(folder)
  try {
    await rm(await newFolderBeside(target), { recursive: true })
  } catch (error) {
    throw new OptionError(`no folder can be made beside ${folder} (${(error as Error).message}): name another one.`)
  }
  const [own, parent] = await Promise.all([stat(target).catch(() => null), stat(dirname(target))])
  if (own !== null && own.dev !== parent.dev)
    throw new OptionError(`${folder} is a mount point, which cannot be replaced: name a folder in it.`)
}

async function newFolderBeside(target: string): Promise<string> {
  makeFolder(dirname(target))
  const made = join(dirname(target), `.${basename(target)}-${randomBytes(6).toString('hex')}`)
  await mkdir(made)
  return made
}

/**
 * Writes what clients see, as mongodump does, into a new folder that then replaces the old one.
 * @throws OptionError as {@link checkExportFolder}
 * @throws DumpCommandError a shard does not answer, for example; the old folder is unchanged then
 */
export async function exportDump(client: DumpClient, folder: string): Promise<ExportedDump> {
  await checkExportFolder(folder)
  const target = resolve(folder)
  const made = await newFolderBeside(target)
  const count = { collections: 0, documents: 0 }
  try {
    for (const db of await databasesOf(client)) {
      if (db === 'local' || db === 'admin' || db === 'config') continue
      const collections = await client.all(db, (writer) => cursor(writer.int32('listCollections', 1)))
      for (const each of collections) await exportCollection(client, { made, db, count }, each)
    }
    for (const name of userCollections) await exportUsers(client, made, name)
    if (client.isSharded)
      for (const name of catalogCollections) await writeDocuments(client, { made, db: 'config', count: null }, name)
    await writeFile(join(made, markerName), `${JSON.stringify({ format: 1 })}\n`)
    await replace(made, target)
  } catch (error) {
    await rm(made, { recursive: true, force: true })
    throw error
  }
  return count
}

interface Place {
  readonly made: string
  readonly db: string
  /** Null: the collection is not counted. */
  readonly count: { collections: number; documents: number } | null
}

/** No file for an empty collection: most clusters have no users. */
async function exportUsers(client: DumpClient, made: string, name: string): Promise<void> {
  const documents = await client.all('admin', (writer) => writer.string('find', name))
  if (documents.length === 0) return
  await mkdir(join(made, 'admin'), { recursive: true })
  await writeFile(join(made, 'admin', `${fileNameOf(name)}.bson`), Buffer.concat(documents))
}

async function databasesOf(client: DumpClient): Promise<string[]> {
  const reply = await client.run('admin', (writer) => writer.int32('listDatabases', 1).bool('nameOnly', true))
  return elementsOf(findField(reply, 'databases')!).map((each) => findField(each.slice(), 'name')!.asString())
}

async function exportCollection(client: DumpClient, place: Place, listed: Uint8Array): Promise<void> {
  const name = findField(listed, 'name')!.asString()
  if (name.startsWith('system.') && name !== 'system.js') return
  const isView = findField(listed, 'type')?.asString() === 'view'
  const { made, db, count } = place
  count!.collections++
  const indexes = isView ? [] : await client.all(db, (writer) => cursor(writer.string('listIndexes', name)))
  const uuid = findField(listed, 'info')
  const uuidBytes = uuid === undefined ? undefined : findField(uuid.slice(), 'uuid')
  const fields = [
    `"options":${textOf(findField(listed, 'options')?.slice())}`,
    `"indexes":[${indexes.map(textOf).join(',')}]`,
    ...(uuidBytes === undefined ? [] : [`"uuid":"${Buffer.from(uuidBytes.asBinary()).toString('hex')}"`]),
    `"collectionName":${JSON.stringify(name)}`,
    `"type":"${isView ? 'view' : 'collection'}"`,
  ]
  await mkdir(join(made, db), { recursive: true })
  await writeFile(join(made, db, `${fileNameOf(name)}.metadata.json`), `{${fields.join(',')}}`)
  if (!isView) await writeDocuments(client, place, name)
}

function textOf(document: Uint8Array | undefined): string {
  return document === undefined ? '{}' : toExtendedJson(document, { canonical: true })
}

async function writeDocuments(client: DumpClient, { made, db, count }: Place, name: string): Promise<void> {
  await mkdir(join(made, db), { recursive: true })
  const file = await open(join(made, db, `${fileNameOf(name)}.bson`), 'w')
  try {
    for await (const batch of client.read(db, (writer) => writer.string('find', name))) {
      if (count !== null) count.documents += batch.length
      if (batch.length > 0) await file.writev([...batch])
    }
  } finally {
    await file.close()
  }
}

function cursor(writer: DocumentWriter): DocumentWriter {
  return writer.startDocument('cursor').end()
}

/** The old folder stays complete until the new one has its name. */
async function replace(made: string, target: string): Promise<void> {
  const old = `${made}-old`
  const hadOld = await rename(target, old).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
  try {
    await rename(made, target)
  } catch (error) {
    if (hadOld) await rename(old, target)
    throw error
  }
  if (hadOld) await rm(old, { recursive: true, force: true })
}
