import { configAddress } from '@shardlab/actor'
import { raiseError, type NodeHost } from '@shardlab/node'

/** Server: removeQueryAnalyzerMetadata of sharding_ddl_util.cpp. */
export async function stopSampling({ behaviours, context }: NodeHost, namespaces: readonly string[]): Promise<void> {
  if (behaviours.queryAnalyzer)
    raiseError((await context.request(configAddress, 'config.remove-query-analyzers', { namespaces })).error)
}
