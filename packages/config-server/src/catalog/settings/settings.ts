/** Server: balancer_configuration.cpp. */
import type { BalancerPausesTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import { boolValue, DocumentWriter, stringValue } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { withFields } from '../store/document-changes.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'

export const settingsHandlers: ConfigHandlers<
  'config.set-balancer-mode' | 'config.get-balancer-settings' | 'config.get-setting'
> = {
  'config.set-balancer-mode': setBalancerMode,
  'config.get-balancer-settings': ({ store, node }) => ({
    settings: store.get('config.settings', 'balancer'),
    pauses: pausesOf(node),
  }),
  'config.get-setting': ({ store }, { id }) => ({ setting: store.get('config.settings', id) }),
}

async function setBalancerMode(
  catalog: CatalogHost,
  { mode }: RequestOf<'config.set-balancer-mode'>,
): Promise<ReplyOf<'config.set-balancer-mode'>> {
  const { store, behaviours } = catalog
  const settingOf = (id: string) =>
    store.get('config.settings', id) ?? new DocumentWriter(64).string('_id', id).finish()
  const isOn = mode === 'full'
  store.put(
    'config.settings',
    withFields(settingOf('balancer'), { mode: stringValue(mode), stopped: boolValue(!isOn) }),
  )
  if (behaviours.balancerSwitchesAutoSplit)
    store.put('config.settings', withFields(settingOf('autosplit'), { enabled: boolValue(isOn) }))
  await catalog.node.flushToMajority()
  return { error: null }
}

function pausesOf({ parameters, behaviours }: NodeHost): BalancerPausesTuple {
  return [
    behaviours.balancerPausesWithinRounds ? parameters.number('balancerMigrationsThrottlingMs') : null,
    behaviours.collectionBalancingCanBeConfigured ? parameters.number('chunkDefragmentationThrottlingMS') : 0,
    behaviours.autoMerger ? parameters.number('autoMergerIntervalSecs') : 0,
    behaviours.autoMerger ? parameters.number('autoMergerThrottlingMS') : 0,
  ]
}
