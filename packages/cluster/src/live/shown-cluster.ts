import type { BalancerControls } from '../balancer-controls.js'
import type { ResolvedOptions } from '../resolved-options.js'
import type { RecordedCluster } from './live-recorder.js'

/** What a dashboard needs of a cluster. */
export interface ShownCluster extends RecordedCluster {
  readonly balancer: BalancerControls
  readonly options: ResolvedOptions
}
