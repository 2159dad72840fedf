/** Documents before a change, in `config.system.preimages`. */
import type { TimestampPair } from '@shardlab/actor'
import { documentValue, DocumentWriter } from '@shardlab/bson'
import { findField } from '@shardlab/bson'
import type { NodeHost } from '../host/node-host.js'

export const preImagesNs = 'config.system.preimages'

/** Null: none is stored, or it has expired. */
export function preImageOf(
  { engine }: Pick<NodeHost, 'engine'>,
  uuid: Uint8Array,
  ts: TimestampPair,
  applyOpsIndex: number,
): Uint8Array | null {
  const id = new DocumentWriter(64)
    .uuid('nsUUID', uuid)
    .timestamp('ts', ...ts)
    .int64('applyOpsIndex', applyOpsIndex)
  const found = engine.collection(preImagesNs)?.findById(documentValue(id.finish()))?.document
  return found === undefined ? null : findField(found, 'preImage')!.slice()
}
