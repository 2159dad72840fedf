import { querySettingsSource } from '@shardlab/member'
import type { MongosStageSource } from './source.js'

export const querySettingsStage: MongosStageSource = {
  name: '$querySettings',
  place: () => 'router',
  open: ({ invocation: { host }, argument }) => querySettingsSource(host.querySettings, argument),
}
