import { withLastingSessions } from '../cloning/lasting-sessions.js'
import { errorDocument } from '@shardlab/bson'
import type { ShardHandlers } from '../host/handlers.js'
import { reshardCollection, type ReshardCommandHost } from './command/reshard-collection.js'
import type { Reshardings } from './participant/reshardings.js'
import { sampleShardKeys } from './sample-shard-keys.js'

export const reshardingHandlers: ShardHandlers<
  | 'shard.reshard-collection'
  | 'shard.sample-shard-keys'
  | 'shard.donate-collection'
  | 'shard.receive-collection'
  | 'shard.resharding-status'
  | 'shard.resharding-clone'
  | 'shard.resharding-mods'
  | 'shard.block-for-resharding'
  | 'shard.finish-resharding'
  | 'shard.apply-resharding-outcome',
  ReshardCommandHost & { readonly reshardings: Reshardings }
> = {
  'shard.reshard-collection': reshardCollection,
  'shard.sample-shard-keys': sampleShardKeys,
  async 'shard.donate-collection'({ reshardings }, request) {
    const { size, collection } = (await reshardings.donate(request)).source
    return { ...size, options: collection.options, indexes: collection.indexes().map(({ spec }) => spec), error: null }
  },
  async 'shard.receive-collection'({ reshardings }, request) {
    await reshardings.receive(request)
    return { error: null }
  },
  async 'shard.resharding-status'({ reshardings }, request) {
    const { state, reason } = await reshardings.of(request).status(request.known)
    return { state, reason: reason === null ? null : errorDocument(reason), error: null }
  },
  'shard.resharding-clone': ({ reshardings }, request) => ({
    sizes: null,
    ...reshardings.of(request).donating().source.clone(request.recipient, request.batch, request.documentsMax),
    error: null,
  }),
  'shard.resharding-mods': async ({ reshardings, node }, request) => ({
    sizes: null,
    ...(await withLastingSessions(
      node,
      reshardings.of(request).donating().source.mods(request.recipient, request.batch),
    )),
    error: null,
  }),
  async 'shard.block-for-resharding'({ reshardings, node }, request) {
    await reshardings.of(request).block(request.reads)
    return { clusterTime: node.clock.time, error: null }
  },
  async 'shard.finish-resharding'({ reshardings }, request) {
    await reshardings.of(request).finish()
    return { error: null }
  },
  async 'shard.apply-resharding-outcome'({ reshardings }, request) {
    await reshardings.applyOutcome(request)
    return { error: null }
  },
}
