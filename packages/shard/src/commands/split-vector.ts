import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { arrayIndexName, BsonType, CommandError, DocumentWriter, isEmptyDocument, noCode } from '@shardlab/bson'
import { namespaceArgument, splitVectorSpec } from '@shardlab/member'
import type { NodeInvocation } from '@shardlab/node'
import { shardOf } from '../host/shard-of.js'

const megabyte = 1024 * 1024

/** Server: split_vector_command.cpp. */
export const splitVectorCommand: CommandRow<NodeInvocation> = {
  ...splitVectorSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D820'],
  summary: 'Returns shard keys at which a range of a collection can be split.',
  async run(invocation) {
    const { args, host, operation } = invocation
    const ns = namespaceArgument(args)
    const keyPattern = presentDocument(args, 'keyPattern')
    if (keyPattern === null) throw new CommandError(noCode, 'no key pattern found in splitVector')
    const min = presentDocument(args, 'min')
    const max = presentDocument(args, 'max')
    if ((min === null) !== (max === null))
      throw new CommandError(noCode, 'either provide both min and max or leave both empty')
    const force = args.value('force')?.isTruthy() === true
    const maxSplitPoints = integer(args, 'maxSplitPoints')
    const maxChunkObjects = integer(args, 'maxChunkObjects')
    if (maxChunkObjects !== null && maxChunkObjects <= 0)
      throw new CommandError('InvalidOptions', 'maxChunkObjects must be greater than 0')
    const maxChunkSizeBytes = chunkSizeBytes(args, host.behaviours.splitVectorLimitsChunkSize)
    await host.role.enter(ns, invocation)
    const refuseEmpty = host.behaviours.splitVectorRefusesEmptyCollections
    const wanted = { keyPattern, min, max, force, maxSplitPoints, maxChunkObjects, maxChunkSizeBytes, refuseEmpty }
    const collection = host.collection(ns)
    if (collection === undefined) throw new CommandError('NamespaceNotFound', 'ns not found')
    const points = await shardOf(host).ranges.of(collection).splitVector(wanted, operation)
    const writer = new DocumentWriter(256).startArray('splitKeys')
    points.forEach((point, i) => writer.document(arrayIndexName(i), point))
    return writer.end()
  },
}

/** null: absent, empty, or not a document. */
function presentDocument(args: CommandArguments, name: string): Uint8Array | null {
  const value = args.value(name)
  if (value?.type !== BsonType.object) return null
  const document = value.slice()
  return isEmptyDocument(document) ? null : document
}

function integer(args: CommandArguments, name: string): number | null {
  return args.value(name)?.isNumber() === true ? Math.trunc(args.number(name)!) : null
}

/**
 * `maxChunkSize` in megabytes takes precedence over `maxChunkSizeBytes`.
 * @throws CommandError 72 InvalidOptions
 */
function chunkSizeBytes(args: CommandArguments, limited: boolean): number | null {
  const megabytes = integer(args, 'maxChunkSize')
  if (megabytes !== null) {
    if (limited && (megabytes < 1 || megabytes > 1024))
      throw new CommandError('InvalidOptions', 'maxChunkSize must lie within the range [1MB, 1024MB]')
    return megabytes * megabyte
  }
  const bytes = integer(args, 'maxChunkSizeBytes')
  if (limited && bytes !== null && (bytes < megabyte || bytes > 1024 * megabyte))
    throw new CommandError('InvalidOptions', 'The specified max chunk size must lie within the range [1MB, 1024MB]')
  return bytes
}
