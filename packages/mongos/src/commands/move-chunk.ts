import { checkFields, configAddress, type CommandArguments, type CommandRow, type FieldSpecs } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  documentsOf,
  DocumentWriter,
  isEmptyDocument,
  noCode,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import type { Chunk, CollectionPlacement } from '@shardlab/sharding'
import { chunkOfQuery, chunkWithBounds, type ChunkRefusals } from '../chunks/chosen-chunk.js'
import { qualifiedNamespace, withShardedCollection } from '../chunks/sharded-collection.js'
import { secondaryThrottleOf } from '../chunks/secondary-throttle.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { onNamedNamespace } from '@shardlab/member'

const fields: FieldSpecs = {
  find: 'object',
  bounds: 'array',
  to: 'string!',
  forceJumbo: 'strictBool',
  writeConcern: 'object',
  secondaryThrottle: 'strictBool',
  _secondaryThrottle: 'strictBool',
  waitForDelete: 'strictBool',
  _waitForDelete: 'strictBool',
}

/** Server: cluster_move_chunk_cmd.cpp. */
export const moveChunk: CommandRow<MongosInvocation> = {
  name: 'moveChunk',
  aliases: ['movechunk'],
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('moveChunk'),
  adminOnly: true,
  manual: 'reference/command/moveChunk',
  status: 'partial',
  deviations: ['D831', 'D832', 'D854'],
  summary: 'Moves a chunk to another shard.',
  async run(invocation) {
    const { args, host, operation, body } = invocation
    const startedAtMs = host.context.now()
    if (host.behaviours.moveChunkIsTyped) {
      args.targetString()
      checkFields('moveChunk', body, fields, 'ignored')
    }
    const ns = qualifiedNamespace(args)
    const { chunk, to, placement } = await withShardedCollection(invocation, ns, async (found) => {
      const [to, chunk] = host.behaviours.moveChunkIsTyped
        ? await typedArguments(invocation, ns, found)
        : await untypedArguments(invocation, ns, found)
      return { chunk, to, placement: found }
    })
    const { error } = await host.remote.request(
      configAddress,
      'config.move-range',
      {
        ns,
        min: chunk.min,
        max: chunk.max,
        to,
        forceJumbo: args.bool('forceJumbo') === true,
        waitForDelete: args.bool('_waitForDelete') === true || args.bool('waitForDelete') === true,
        secondaryThrottle: secondaryThrottleOf(args),
      },
      operation,
    )
    host.catalog.markCollectionStale(ns, placement)
    raise(error)
    return new DocumentWriter(192).int32('millis', host.context.now() - startedAtMs)
  },
}

const typedRefusals: ChunkRefusals = { noKey: 656450, badBounds: 656451, noChunk: 656452 }
const untypedRefusals: ChunkRefusals = { noKey: noCode, badBounds: noCode, noChunk: noCode }

/** @throws CommandError 72 InvalidOptions, 70 ShardNotFound, 656450, 656451, 656452 */
async function typedArguments(
  invocation: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
): Promise<[to: string, chunk: Chunk]> {
  const { args } = invocation
  const find = args.document('find')
  const bounds = args.documents('bounds')
  if (bounds !== undefined && bounds.length !== 2)
    throw new CommandError('InvalidOptions', 'bounds can only have exactly 2 elements')
  if (find !== undefined && bounds !== undefined)
    throw new CommandError('InvalidOptions', 'cannot specify bounds and query at the same time')
  if (find === undefined && bounds === undefined)
    throw new CommandError('InvalidOptions', 'need to specify query or bounds')
  const to = await destination(invocation, ns, args.string('to')!)
  const chunk =
    find === undefined
      ? await chunkWithBounds(invocation, ns, placement, bounds!, typedRefusals)
      : await chunkOfQuery(invocation, ns, placement, find, typedRefusals)
  return [to, chunk]
}

/** @throws CommandError 14 TypeMismatch, 70 ShardNotFound; without code for other errors */
async function untypedArguments(
  invocation: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
): Promise<[to: string, chunk: Chunk]> {
  const { args, host } = invocation
  const target = args.value('to')
  if (target?.type !== BsonType.string) throw new CommandError('TypeMismatch', "'to' must be of type String")
  const name = target.asString()
  if (name === '') throw new CommandError(noCode, 'you have to specify where you want to move the chunk')
  const to = await destination(invocation, ns, name)
  const findValue = args.value('find')
  const find = findValue?.type === BsonType.object && !isEmptyDocument(findValue.slice()) ? findValue.slice() : null
  const boundsValue = args.value('bounds')
  const hasBounds =
    (boundsValue?.type === BsonType.array || boundsValue?.type === BsonType.object) &&
    !isEmptyDocument(boundsValue.slice())
  if ((find === null) === !hasBounds)
    throw new CommandError(noCode, 'need to specify either a find query, or both lower and upper bounds.')
  const chunk =
    find === null
      ? await boundedChunk(invocation, ns, placement, boundsValue!)
      : await chunkOfQuery(invocation, ns, placement, find, untypedRefusals)
  if (host.behaviours.moveChunkChecksThrottle) checkThrottle(args)
  return [to, chunk]
}

/** @throws CommandError 10065; without code for bounds that are not those of a chunk */
function boundedChunk(
  invocation: MongosInvocation,
  ns: string,
  placement: CollectionPlacement,
  value: RawValue,
): Promise<Chunk> {
  const bounds = documentsOf(value)
  if (bounds.length < 2) throw new CommandError(10065, 'invalid parameter: expected an object (1)')
  return chunkWithBounds(invocation, ns, placement, bounds, untypedRefusals)
}

/** The first of the two names that is present counts. @throws CommandError 14 TypeMismatch */
function checkThrottle(args: CommandArguments): void {
  const name = args.has('secondaryThrottle') ? 'secondaryThrottle' : '_secondaryThrottle'
  const type = args.value(name)?.type
  if (type !== undefined && type !== BsonType.bool)
    throw new CommandError('TypeMismatch', `"${name}" had the wrong type. Expected bool, found ${typeName(type)}`)
}

/** @throws CommandError 70 ShardNotFound */
async function destination({ host, operation }: MongosInvocation, ns: string, name: string): Promise<string> {
  const shard = await host.shards.find(name, operation)
  if (shard !== undefined) return shard
  throw new CommandError(
    'ShardNotFound',
    host.behaviours.moveChunkNamesUnknownShard
      ? `Could not move chunk in '${ns}' to shard '${name}' because that shard does not exist`
      : 'moveChunk destination shard does not exist',
  )
}
