/** config.changelog and config.actionlog. Server: sharding_logging.cpp, type_changelog.cpp. */
import { configAddress, type PlacementVersionTuple, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { DocumentWriter, hexOf } from '@shardlab/bson'
import { writePlacementVersion, type Behaviours } from '@shardlab/sharding'
import { changelogDocument } from './store/catalog-documents.js'
import type { CatalogHost, ConfigHandlers } from './host.js'

export const changelogHandlers: ConfigHandlers<'config.log-change'> = { 'config.log-change': logChangeOf }

export interface CatalogChange {
  readonly what: string
  readonly ns: string
  readonly details: Uint8Array
}

/** The caller flushes the node. */
export function logChange(catalog: CatalogHost, change: CatalogChange): void {
  append(catalog, change, configAddress, catalog.node.context.endpoint)
}

/** For the balancer. The caller flushes the node. */
export function logAction(catalog: CatalogHost, action: CatalogChange): void {
  const { node, store, behaviours } = catalog
  if (behaviours.actionlogHasChangelogFields) {
    append(catalog, action, configAddress, node.context.endpoint, 'config.actionlog')
    return
  }
  const { what, details } = action
  const writer = new DocumentWriter(256).objectId('_id', node.newObjectId()).string('server', node.context.endpoint)
  store.put(
    'config.actionlog',
    writer.string('what', what).date('time', node.context.now()).document('details', details).finish(),
  )
  store.dropOverflow('config.actionlog')
}

const logged = (): ReplyOf<'config.log-change'> => ({})

function logChangeOf(
  catalog: CatalogHost,
  { from, what, ns, details }: RequestOf<'config.log-change'>,
): Promise<ReplyOf<'config.log-change'>> {
  const colon = from.indexOf(':')
  const [shard, server] = colon < 0 ? [from, ''] : [from.slice(0, colon), from.slice(colon + 1)]
  append(catalog, { what, ns, details }, shard, server)
  return catalog.node.flushToMajority().then(logged)
}

function append(
  { behaviours, node, store }: CatalogHost,
  { what, ns, details }: CatalogChange,
  shard: string,
  server: string,
  log = 'config.changelog',
): void {
  const timeMs = node.context.now()
  const id = `${server}-${changelogTime(behaviours, timeMs)}-${hexOf(node.newObjectId())}`
  store.insert(
    log,
    changelogDocument({ id, server, shard: behaviours.changelogNamesShard ? shard : null, timeMs, what, ns, details }),
  )
  store.dropOverflow(log)
}

/** The text of the latest second, which many changes share. */
let lastSecond = { seconds: -1, text: '' }

function changelogTime({ changelogTimes }: Behaviours, timeMs: number): string {
  const seconds = Math.floor(timeMs / 1000)
  if (lastSecond.seconds !== seconds) lastSecond = { seconds, text: new Date(timeMs).toISOString().slice(0, 19) }
  const { text } = lastSecond
  if (changelogTimes === 'seconds') return text
  const fraction = String(timeMs - seconds * 1000).padStart(3, '0')
  return `${text}.${fraction}${changelogTimes === 'offset-with-colon' ? '+00:00' : '+0000'}`
}

export function writeChangelogVersion(
  writer: DocumentWriter,
  behaviours: Behaviours,
  name: string,
  version: PlacementVersionTuple,
): DocumentWriter {
  if (behaviours.changelogVersionsAreDocuments) return writePlacementVersion(writer, name, version)
  const [epoch, seconds, increment, major, minor] = version
  writer.timestamp(name, major, minor).objectId(`${name}Epoch`, Buffer.from(epoch, 'hex'))
  return behaviours.chunksAreKeyedByUuid ? writer.timestamp(`${name}Timestamp`, seconds, increment) : writer
}
