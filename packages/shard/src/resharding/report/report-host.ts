import type { ReshardingStatistics } from '@shardlab/node'
import type { ShardHost } from '../../host/host.js'
import type { Participation } from '../participant/participation.js'

export interface ReshardingReportHost extends ShardHost {
  readonly reshardings: {
    readonly statistics: ReshardingStatistics
    all(): Iterable<Participation>
  }
}
