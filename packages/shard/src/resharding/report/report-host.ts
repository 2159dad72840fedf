import type { ReshardingStatistics } from '@shardlab/node'
import type { NodeHost } from '../../host/host.js'
import type { Participation } from '../participant/participation.js'

/** What reports about reshardings read. */
export interface ReshardingReportHost extends NodeHost {
  readonly reshardings: {
    readonly statistics: ReshardingStatistics
    all(): Iterable<Participation>
  }
}
