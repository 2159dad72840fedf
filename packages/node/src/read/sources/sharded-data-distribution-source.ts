import { CommandError } from '@shardlab/bson'
import type { NodeStageSource } from './source.js'

/** Runs only on routers. Server: document_source_sharded_data_distribution.cpp. */
export const shardedDataDistributionSource: NodeStageSource = {
  name: '$shardedDataDistribution',
  open() {
    throw new CommandError(6789101, 'The $shardedDataDistribution stage can only be run on mongoS')
  },
}
