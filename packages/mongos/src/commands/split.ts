import type { CommandRow } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  compareDocuments,
  documentsOf,
  DocumentWriter,
  findField,
  noCode,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Chunk, CollectionPlacement } from '@shardlab/sharding'
import { chunkOfQuery, chunkWithBounds, type ChunkRefusals } from '../chunks/chosen-chunk.js'
import { optionalArray, optionalDocument, refusal } from '../chunks/legacy-arguments.js'
import { chunkAt, normalisedKey, qualifiedNamespace, withShardedCollection } from '../chunks/sharded-collection.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise, replyError } from '../remote/command-reply.js'
import { keyTooLarge } from '../writes/targeting/target-insert.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_split_cmd.cpp. */
export const split: CommandRow<MongosInvocation> = {
  name: 'split',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('splitChunk'),
  adminOnly: true,
  manual: 'reference/command/split',
  status: 'partial',
  deviations: ['D820'],
  summary: 'Splits a chunk at a given key or in its middle.',
  run(invocation) {
    const { args, host, operation } = invocation
    const ns = qualifiedNamespace(args)
    return withShardedCollection(invocation, ns, async (placement) => {
      const { chunk, middle } = await chosenChunk(invocation, ns, placement)
      const { min, max, shard } = chunk
      const point = middle ?? (await medianKey(invocation, ns, placement, chunk))
      const [epoch, seconds, increment] = placement.table.version
      const { error } = await host.remote.request(
        shard,
        'shard.split-chunk',
        { ns, generation: [epoch, seconds, increment], min, max, splitPoints: [point] },
        operation,
      )
      host.catalog.markCollectionStale(ns, placement)
      raise(error)
      return new DocumentWriter(192)
    })
  },
}

const refusals: ChunkRefusals = { noKey: noCode, badBounds: noCode, noChunk: noCode }

interface ChosenChunk {
  readonly chunk: Chunk
  /** Null: the middle of the chunk's documents. */
  readonly middle: Uint8Array | null
}

/** @throws CommandError without code for arguments that identify no chunk */
async function chosenChunk(
  invocation: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
): Promise<ChosenChunk> {
  const { args } = invocation
  const find = optionalDocument(args, 'find')
  const bounds = optionalArray(args, 'bounds')
  if (bounds.length === 1) throw refusal('upper bound not specified')
  if (find !== null && bounds.length > 0) throw refusal('cannot specify bounds and find at the same time')
  const middle = optionalDocument(args, 'middle')
  if (find === null && bounds.length === 0 && middle === null) throw refusal('need to specify find/bounds or middle')
  if (find !== null && middle !== null) throw refusal('cannot specify find and middle together')
  if (bounds.length > 0 && middle !== null) throw refusal('cannot specify bounds and middle together')
  if (find !== null) return { chunk: await chunkOfQuery(invocation, ns, placement, find, refusals), middle: null }
  if (middle !== null) return chunkAround(invocation, ns, placement, middle)
  return { chunk: await chunkWithBounds(invocation, ns, placement, bounds.map(boundDocument), refusals), middle: null }
}

async function chunkAround(
  invocation: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
  given: Uint8Array,
): Promise<ChosenChunk> {
  const { shardKey } = placement
  const middle = normalisedKey(shardKey, given)
  if (middle === null)
    throw refusal(
      `new split key ${formatDocument(given)} is not valid for shard key pattern ${formatDocument(shardKey.document)}`,
    )
  const tooLarge = keyTooLarge(invocation.host.behaviours, middle)
  if (tooLarge !== null) throw tooLarge
  const chunk = await chunkAt(invocation, ns, placement, middle)
  if (compareDocuments(chunk.min, middle) === 0)
    throw refusal(
      `new split key ${formatDocument(middle)} is a boundary key of existing chunk [${formatDocument(chunk.min)},${formatDocument(chunk.max)})`,
    )
  return { chunk, middle }
}

/** Server: BSONElement::Obj. @throws CommandError 13111 */
function boundDocument(value: RawValue, position: number): Uint8Array {
  if (value.type !== BsonType.object)
    throw new CommandError(13111, `wrong type for field (${position}) ${typeName(value.type)} != object`)
  return value.slice()
}

/**
 * @throws CommandError 87 CannotSplit for an indivisible chunk; those of the shard, such as 96 for
 *   an empty one
 */
async function medianKey(
  { host, operation }: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
  chunk: Chunk,
): Promise<Uint8Array> {
  const { min, max, shard } = chunk
  const body = new DocumentWriter(256)
    .string('splitVector', ns)
    .document('keyPattern', placement.shardKey.document)
    .document('min', min)
    .document('max', max)
    .bool('force', true)
    .finish()
  const command = {
    db: 'admin',
    body,
    sequences: [],
    shardVersion: placement.table.versionOn(shard),
    databaseVersion: null,
    stmtIds: null,
  }
  const reply = await host.remote.command(shard, command, operation, true)
  const error = replyError(reply.body)
  if (error !== null) throw error
  const [key] = documentsOf(findField(reply.body, 'splitKeys')!)
  if (key === undefined)
    throw new CommandError('CannotSplit', 'Unable to find median in chunk because chunk is indivisible.')
  return key
}
