/** The switches of the balancer in config.settings. Server: balancer_configuration.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, encode } from '@shardlab/bson'
import type { ConfigHandlers, ShardingCatalog } from './sharding-catalog.js'

export const settingsHandlers: ConfigHandlers<'config.set-balancer-mode' | 'config.get-balancer-settings'> = {
  'config.set-balancer-mode': setBalancerMode,
  'config.get-balancer-settings': ({ store }) => ({ settings: store.get('config.settings', 'balancer') }),
}

async function setBalancerMode(
  catalog: ShardingCatalog,
  { mode }: RequestOf<'config.set-balancer-mode'>,
): Promise<ReplyOf<'config.set-balancer-mode'>> {
  const settings = catalog.store.get('config.settings', 'balancer')
  const kept = settings === null ? {} : decode(settings)
  catalog.store.put('config.settings', encode({ ...kept, _id: 'balancer', mode, stopped: mode !== 'full' }))
  await catalog.node.flush()
  return { error: null }
}
