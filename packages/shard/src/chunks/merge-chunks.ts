/** Server: shardsvr_merge_chunks_command.cpp, chunk_operation_precondition_checks.cpp. */
import { configAddress, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { raiseError } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import { formatRange, writePlacementVersion, type CollectionPlacement, type PlacementVersion } from '@shardlab/sharding'
import type { PlacementHost } from '../host/host.js'

const ignoredVersion: PlacementVersion = ['00000000ffffffffffffffff', 0, 0, 0, 0]

/**
 * @throws CommandError 13388 StaleConfig when chunks of this shard do not exactly fill the range,
 *   in versions that check this on the shard; errors of the config server
 */
export async function mergeChunks(
  { node, placements }: PlacementHost,
  request: RequestOf<'shard.merge-chunks'>,
): Promise<ReplyOf<'shard.merge-chunks'>> {
  const { context, behaviours, clock } = node
  const { ns } = request
  const placement = await placements.refreshCollection(ns)
  if (behaviours.mergeChunksChecksOnShard) checkOwnership(context.address, placement, request)
  await context.reach('shard.merge-chunks.before-commit', { ns })
  const { error } = await context.request(configAddress, 'config.commit-chunks-merge', {
    ...request,
    shard: context.address,
    validAfter: clock.tick(),
  })
  await placements.refreshCollection(ns)
  raiseError(error)
  return { error: null }
}

function checkOwnership(
  shard: string,
  placement: CollectionPlacement | null,
  { ns, generation, min, max }: RequestOf<'shard.merge-chunks'>,
): void {
  if (placement === null) throw staleConfig(ns, shard, null, `Collection ${ns} is not sharded.`)
  const { table, shardKey } = placement
  const own = table.versionOn(shard)
  if (own[0] !== generation[0] || own[1] !== generation[1] || own[2] !== generation[2])
    throw staleConfig(ns, shard, own, `Collection ${ns} has changed since operation was sent`)
  const range = formatRange(min, max)
  const low = shardKey.keyStringOfBound(min)
  const high = shardKey.keyStringOfBound(max)
  if (low === undefined || high === undefined)
    throw staleConfig(
      ns,
      shard,
      own,
      `The range ${range} is not valid for collection ${ns} with key pattern ${formatDocument(shardKey.document)}`,
    )
  let next = low
  for (const chunk of table.chunks()) {
    if (chunk.min < next || next >= high) continue
    if (chunk.min !== next || chunk.shard !== shard) break
    next = chunk.max
  }
  if (next !== high) throw staleConfig(ns, shard, own, `Range with bounds ${range} is not owned by this shard.`)
}

function staleConfig(ns: string, shard: string, wanted: PlacementVersion | null, message: string): CommandError {
  const extra = new DocumentWriter(256).string('ns', ns)
  writePlacementVersion(extra, 'vReceived', ignoredVersion)
  if (wanted !== null) writePlacementVersion(extra, 'vWanted', wanted)
  return new CommandError('StaleConfig', message, { extra: extra.string('shardId', shard).finish() })
}
