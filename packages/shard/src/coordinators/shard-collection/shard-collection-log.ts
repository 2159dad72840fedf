import type { ActorContext } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { placementVersionText, type Behaviours, type PlacementVersion, type ShardKeyPattern } from '@shardlab/sharding'
import { logChange } from '../../common/changelog.js'

export interface ShardCollectionFacts {
  readonly shardKey: ShardKeyPattern
  readonly uuid: Uint8Array
  readonly isEmpty: boolean
  readonly chunkCount: number
}

export async function logShardCollectionStart(
  { context, behaviours, role }: NodeHost,
  ns: string,
  { shardKey, uuid, isEmpty, chunkCount }: ShardCollectionFacts,
): Promise<void> {
  const writer = new DocumentWriter(256).document('shardKey', shardKey.document).string('collection', ns)
  const primary = `${context.address}:${role.setName}/${context.endpoint}`
  switch (behaviours.shardCollectionLog) {
    case 'chunk count':
      writer.string('primary', primary).int32('numChunks', chunkCount)
      break
    case 'uuid and chunk count':
      writer
        .uuid('uuid', uuid)
        .bool('empty', isEmpty)
        .bool('fromMapReduce', false)
        .string('primary', primary)
        .int32('numChunks', chunkCount)
      break
    case 'uuid':
      writer.uuid('uuid', uuid).bool('empty', isEmpty).string('primary', primary)
      break
    default:
      writer.string('primary', context.address)
  }
  await logChange(context, 'shardCollection.start', ns, writer.finish())
}

export async function logShardCollectionEnd(
  context: ActorContext,
  behaviours: Behaviours,
  ns: string,
  { uuid, isEmpty, chunkCount }: ShardCollectionFacts,
  version: PlacementVersion,
): Promise<void> {
  const writer = new DocumentWriter(256)
  const text = placementVersionText(version, behaviours.chunksAreKeyedByUuid)
  switch (behaviours.shardCollectionLog) {
    case 'version at the end':
    case 'placement version at the end':
      writer
        .uuid('uuid', uuid)
        .string(behaviours.shardCollectionLog === 'version at the end' ? 'version' : 'placementVersion', text)
        .bool('empty', isEmpty)
        .int64('numChunks', chunkCount)
      break
    default:
      writer.string('version', text)
  }
  await logChange(context, 'shardCollection.end', ns, writer.finish())
}
