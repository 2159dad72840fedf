/** The documents of a collection where they are stored, with those that shards do not own. */
import { ownRemote, type Address, type ReplyOf, type RequestOf } from '@shardlab/actor'
import {
  decode,
  documentsOf,
  DocumentWriter,
  findField,
  findPath,
  parseExtendedJson,
  toExtendedJson,
  type Document,
} from '@shardlab/bson'
import { placeOf, type LiveChunk } from '@shardlab/dashboard'
import type { Runtime } from '@shardlab/runtime'
import { hexOfKey, type ShardKeyPattern } from '@shardlab/sharding'
import { replyOf } from '../answer-command.js'
import { OptionError } from '../option-error.js'
import { askShard, configPrimaryOf, configTimeoutMs, namespaceIn, shardsIn, type ReadCluster } from './asked-shards.js'
import { patternOf, readChangedChunks } from './changed-chunks.js'
import { latestChunks, readChunks } from './live-chunks.js'

const timeoutMs = 5000
const limitMax = 1000
const defaultLimit = 20
/** Other clients have other numbers. */
const connectionId = 2 ** 31 - 1

export interface StoredDocument {
  /** Relaxed Extended JSON. */
  readonly document: string
  /** Its shard does not own it: a migration has left it, and routers do not return it. */
  readonly isOrphan: boolean
}

export interface DocumentsOfShard {
  readonly shard: string
  /** In the order in which the shard finds them. */
  readonly documents: readonly StoredDocument[]
  readonly hasMore: boolean
  /** Why they cannot be read; null: they were. */
  readonly error: string | null
}

/** Serves `{ shardlab: 'documents', ns, filter, limit }`. */
export function answerAboutDocuments(
  cluster: ReadCluster,
  { body }: RequestOf<'cluster.command'>,
): Promise<ReplyOf<'cluster.command'>> {
  return replyOf(async () => ({ shards: await documentsByShard(cluster, decode(body, { promoteLongs: true })) }))
}

/**
 * @param fields `ns`, and if wanted `filter` (Extended JSON; default: all) and `limit` (of each
 *   shard, default 20)
 * @throws OptionError a field is wrong, the config server is down, or there are no shards
 */
export async function documentsByShard(
  { runtime, topology }: ReadCluster,
  fields: Document,
): Promise<DocumentsOfShard[]> {
  const { filter = '{}', limit = defaultLimit } = fields
  const ns = namespaceIn(fields, 'documents', topology)
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    throw new OptionError(`limit is ${String(limit)}; it must be a whole number from 1 to ${limitMax}.`)
  const read = { ns, filter: parsedFilter(filter), limit: limit as number }
  const config = await configPrimaryOf(runtime)
  const names = await shardsIn(runtime, config)
  const owned = await readChangedChunks(
    (request) => runtime.request(config, 'config.get-chunks', request, { timeoutMs: configTimeoutMs }),
    ns,
    null,
  )
  const placement = owned === null ? null : placementOf(patternOf(owned.collection), owned.chunks)
  return Promise.all(names.map((shard) => documentsOn(runtime, shard, read, placement)))
}

/** @throws OptionError */
function parsedFilter(filter: unknown): Uint8Array {
  try {
    if (typeof filter === 'string') return parseExtendedJson(filter)
  } catch {
    // Below.
  }
  throw new OptionError('filter must be a document as Extended JSON, such as {"customer": 5}.')
}

interface Read {
  readonly ns: string
  readonly filter: Uint8Array
  readonly limit: number
}

interface Placement {
  readonly pattern: ShardKeyPattern
  /** In the order of their keys. */
  readonly chunks: readonly LiveChunk[]
}

const placementOf = (pattern: ShardKeyPattern, chunks: readonly Uint8Array[]): Placement => ({
  pattern,
  chunks: latestChunks(readChunks(pattern, chunks)).map(({ chunk }) => chunk),
})

async function documentsOn(
  runtime: Runtime,
  shard: string,
  read: Read,
  placement: Placement | null,
): Promise<DocumentsOfShard> {
  const { answer, error } = await askShard(runtime, shard, (primary) => find(runtime, primary, read))
  const found = answer ?? []
  const documents = found.slice(0, read.limit).map((document) => ({
    document: toExtendedJson(document),
    isOrphan: placement !== null && ownerOf(document, placement) !== shard,
  }))
  return { shard, documents, hasMore: found.length > read.limit, error }
}

/** As a client of the shard, which sees orphans, too. @throws OptionError, RequestFailedError */
async function find(runtime: Runtime, primary: Address, { ns, filter, limit }: Read): Promise<readonly Uint8Array[]> {
  const [db, collection] = [ns.slice(0, ns.indexOf('.')), ns.slice(ns.indexOf('.') + 1)]
  const body = new DocumentWriter(256)
    .string('find', collection)
    .document('filter', filter)
    .int32('limit', limit + 1)
    .bool('singleBatch', true)
    .string('$db', db)
    .finish()
  const request = { connectionId, body, sequences: [], legacy: false, remote: ownRemote }
  const { body: reply } = await runtime.request(primary, 'client.command', request, { timeoutMs })
  if (findField(reply, 'ok')?.isTruthy() !== true)
    throw new OptionError(findField(reply, 'errmsg')?.asString() ?? 'the read failed')
  return documentsOf(findPath(reply, 'cursor.firstBatch')!)
}

function ownerOf(document: Uint8Array, { pattern, chunks }: Placement): string | null {
  const key = pattern.keyStringOf(document)
  if (key === undefined) return null
  const hex = hexOfKey(key)
  const place = placeOf(chunks, hex)
  return (chunks[place]?.key === hex ? chunks[place] : chunks[place - 1])?.shard ?? null
}
