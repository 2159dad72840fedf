/** The folders that mongodump writes: `<database>/<collection>.bson` and `.metadata.json`. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { readInt32, validateBson } from '@shardlab/bson'
import { OptionError } from '../option-error.js'

/**
 * Marks a folder that an export has written, with the version of its format. Other programs skip
 * it.
 */
export const markerName = 'shardlab.json'

const longestName = 238
const bsonSuffix = /\.bson(\.gz)?$/
const metadataSuffix = /\.metadata\.json(\.gz)?$/
const readChunkBytes = 4 * 1024 * 1024
const largestDocumentBytes = 16 * 1024 * 1024 + 16 * 1024

/** Tools: mongo-tools-common, util.EscapeCollectionName. */
export function fileNameOf(collection: string): string {
  const escaped = encodeURIComponent(collection)
    .replaceAll('%3A', ':')
    .replaceAll('%24', '$')
    .replaceAll('%26', '&')
    .replaceAll('%2B', '+')
    .replaceAll('%3D', '=')
    .replaceAll('%40', '@')
    .replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
  if (escaped.length <= longestName) return escaped
  return `${escaped.slice(0, 208)}%24${createHash('sha1').update(collection).digest('base64url')}`
}

export interface DumpedCollection {
  readonly db: string
  /** As its file says; the metadata may say another name, if this one is shortened. */
  readonly name: string
  /** Null: a view, or a collection without documents. */
  readonly dataFile: string | null
  /** Null: none. */
  readonly metadataFile: string | null
}

/** @throws OptionError there is no such folder, or it has no dump */
export async function collectionsIn(folder: string): Promise<DumpedCollection[]> {
  const found: DumpedCollection[] = []
  for (const db of await foldersIn(folder)) {
    const files = (await readdir(join(folder, db))).toSorted()
    const names = new Set(
      files.flatMap((file) => (isDumped(file) ? [file.replace(metadataSuffix, '').replace(bsonSuffix, '')] : [])),
    )
    const pathOf = (name: string, ...suffixes: string[]): string | null => {
      const file = suffixes.map((suffix) => `${name}${suffix}`).find((each) => files.includes(each))
      return file === undefined ? null : join(folder, db, file)
    }
    for (const name of names)
      found.push({
        ...{ db, name: unescaped(name) },
        dataFile: pathOf(name, '.bson', '.bson.gz'),
        metadataFile: pathOf(name, '.metadata.json', '.metadata.json.gz'),
      })
  }
  if (found.length === 0 && !(await hasMarker(folder)))
    throw new OptionError(`${folder} has no dump: name a folder that mongodump or --export-on-exit has written.`)
  return found
}

/** A shortened name may end within a character; the metadata has the whole name. */
function unescaped(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const isDumped = (file: string): boolean => bsonSuffix.test(file) || metadataSuffix.test(file)

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch (error) {
    throw unreadable(folder, error)
  }
}

export async function hasMarker(folder: string): Promise<boolean> {
  return stat(join(folder, markerName)).then(
    () => true,
    () => false,
  )
}

export async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of chunksOf(file)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Documents of a file, some megabytes at a time. @throws OptionError the file is damaged */
export async function* documentsInFile(file: string): AsyncGenerator<readonly Uint8Array[]> {
  let rest: Buffer = Buffer.alloc(0)
  let offset = 0
  for await (const chunk of chunksOf(file)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const documents: Uint8Array[] = []
    let at = 0
    while (bytes.length - at >= 4) {
      const length = readInt32(bytes, at)
      if (length < 5 || length > largestDocumentBytes) throw damaged(file, offset + at, `a document of ${length} bytes`)
      if (bytes.length - at < length) break
      const problem = validateBson(bytes, at, at + length)
      if (problem !== null) throw damaged(file, offset + at, problem)
      documents.push(bytes.subarray(at, at + length))
      at += length
    }
    offset += at
    rest = bytes.subarray(at)
    if (documents.length > 0) yield documents
  }
  if (rest.length > 0) throw damaged(file, offset, 'its last document is incomplete')
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  const read = createReadStream(file, { highWaterMark: readChunkBytes })
  // `pipe` passes no errors on.
  const gunzip = file.endsWith('.gz') ? createGunzip() : null
  if (gunzip !== null) read.on('error', (error) => gunzip.destroy(error))
  const chunks = gunzip === null ? read : read.pipe(gunzip)
  try {
    for await (const chunk of chunks) yield chunk as Buffer
  } catch (error) {
    throw unreadable(file, error)
  }
}

function damaged(file: string, offset: number, problem: string): OptionError {
  return new OptionError(`${file} is damaged at byte ${offset}: ${problem}. Use another copy of the dump.`)
}

function unreadable(path: string, error: unknown): OptionError {
  const { code, message } = error as NodeJS.ErrnoException
  return new OptionError(
    code === 'ENOENT' ? `${path} does not exist: name a folder with a dump.` : `${path} cannot be read (${message}).`,
  )
}
