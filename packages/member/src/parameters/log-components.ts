/** For logComponentVerbosity. Server: logv2/log_component.cpp, parameters.cpp. */
import type { DocumentWriter } from '@shardlab/bson'

/** The component inherits its parent's verbosity. */
const inherited = -1

const components: readonly (readonly [name: string, ...inside: readonly string[]])[] = [
  ['accessControl'],
  ['command'],
  ['control'],
  ['executor'],
  ['geo'],
  ['index'],
  ['network', 'asio', 'bridge', 'connectionPool'],
  ['query'],
  ['replication', 'election', 'heartbeats', 'initialSync', 'rollback'],
  ['sharding', 'shardingCatalogRefresh'],
  ['storage', 'recovery', 'journal'],
  ['write'],
  ['ftdc'],
  ['transaction'],
]

/** `{ verbosity, component: { verbosity, … }, … }`; only the root has a verbosity of its own. */
export function writeLogComponents(writer: DocumentWriter, name: string, logLevel: number): void {
  writer.startDocument(name).int32('verbosity', logLevel)
  for (const [component, ...inside] of components) {
    writer.startDocument(component).int32('verbosity', inherited)
    for (const each of inside) writer.startDocument(each).int32('verbosity', inherited).end()
    writer.end()
  }
  writer.end()
}
