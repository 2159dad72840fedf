/** Server: query_settings_cmds.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { querySettingsParameter } from '@shardlab/member'
import { changeQuerySettings, storedClusterParameter } from '@shardlab/node'
import type { CatalogHost, ConfigHandlers } from '../host.js'
import { inTurn, storeEverywhere } from './cluster-parameters.js'

export const querySettingsHandlers: ConfigHandlers<'config.change-query-settings'> = {
  'config.change-query-settings': change,
}

/** Server: BSONObjMaxInternalSize. */
const parameterBytesMax = 16 * 1024 * 1024 + 16 * 1024

function change(
  catalog: CatalogHost,
  { command }: RequestOf<'config.change-query-settings'>,
): Promise<ReplyOf<'config.change-query-settings'>> {
  return inTurn(catalog, async () => {
    const { node } = catalog
    const { configurations, changed } = changeQuerySettings(node, node.querySettings, command)
    await storeEverywhere(catalog, parameterOf(catalog, configurations))
    return {
      error: null,
      configuration: changed,
      parameter: storedClusterParameter(node, querySettingsParameter) ?? null,
    }
  })
}

function parameterOf({ node }: CatalogHost, configurations: readonly Uint8Array[]): Uint8Array {
  const [seconds, increment] = node.clock.tick()
  const parameter = new DocumentWriter(1024)
    .string('_id', querySettingsParameter)
    .timestamp('clusterParameterTime', seconds, increment)
    .documents('settingsArray', configurations)
    .finish()
  if (parameter.length > parameterBytesMax)
    throw new CommandError(
      'BSONObjectTooLarge',
      `cannot modify query settings: the total size exceeds ${parameterBytesMax} bytes`,
    )
  return parameter
}
