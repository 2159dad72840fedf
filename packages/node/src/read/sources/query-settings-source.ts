import { querySettingsSource } from '@shardlab/member'
import type { NodeStageSource } from './source.js'

export const querySettingsStage: NodeStageSource = {
  name: '$querySettings',
  open: ({ invocation: { host }, argument }) => querySettingsSource(host.querySettings, argument),
}
