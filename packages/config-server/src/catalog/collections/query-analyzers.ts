/**
 * Server: configure_query_analyzer_cmd.cpp, query_analysis_coordinator.cpp. Manual:
 * reference/command/configureQueryAnalyzer.
 */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { BsonType, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import type { CatalogHost, ConfigHandlers, SamplerHost } from '../host.js'

const queryAnalyzers = 'config.queryAnalyzers'

export const queryAnalyzerHandlers: ConfigHandlers<
  'config.configure-query-analyzer' | 'config.refresh-query-analyzer' | 'config.remove-query-analyzers',
  SamplerHost
> = {
  'config.configure-query-analyzer': configure,
  'config.refresh-query-analyzer': refresh,
  async 'config.remove-query-analyzers'(catalog, { namespaces }) {
    removeQueryAnalyzers(catalog, namespaces)
    await catalog.node.flushToMajority()
    return { error: null }
  },
}

function removeQueryAnalyzers({ store }: CatalogHost, namespaces: readonly string[]): void {
  for (const ns of namespaces) {
    const document = store.get(queryAnalyzers, ns)
    if (document !== null) store.remove(queryAnalyzers, document)
  }
}

/** The caller flushes the node. */
export function removeQueryAnalyzersOf(catalog: CatalogHost, db: string): void {
  const namespaces = catalog.store.find(queryAnalyzers).map((document) => textOf(document, '_id'))
  removeQueryAnalyzers(
    catalog,
    namespaces.filter((ns) => ns.startsWith(`${db}.`)),
  )
}

async function configure(
  catalog: CatalogHost,
  { ns, uuid, configuration }: RequestOf<'config.configure-query-analyzer'>,
): Promise<ReplyOf<'config.configure-query-analyzer'>> {
  const { store, node } = catalog
  const known = store.get(queryAnalyzers, ns)
  const mode = findField(configuration, 'mode')!.asString()
  if (mode === 'off') {
    // A second stop keeps the first stop time.
    if (known === null || textOf(known, 'mode') === 'off') return { oldConfiguration: null, error: null }
    const writer = new DocumentWriter(192)
    for (const it = new FieldIterator(known); it.next();) {
      if (it.name() === 'mode') writer.string('mode', 'off')
      else writer.value(it.name(), it.value())
    }
    store.put(queryAnalyzers, writer.date('stopTime', node.context.now()).finish())
  } else {
    const goesOn = known !== null && textOf(known, 'mode') === mode && isOfCollection(known, uuid)
    const writer = new DocumentWriter(192).string('_id', ns).uuid('collUuid', uuid).fields(configuration)
    if (goesOn) writer.value('startTime', findField(known, 'startTime')!)
    else writer.date('startTime', node.context.now())
    store.put(queryAnalyzers, writer.finish())
  }
  await node.flushToMajority()
  return {
    oldConfiguration: known === null || !isOfCollection(known, uuid) ? null : configurationOf(known),
    error: null,
  }
}

function refresh(
  catalog: SamplerHost,
  { name, statistics }: RequestOf<'config.refresh-query-analyzer'>,
): ReplyOf<'config.refresh-query-analyzer'> {
  const now = catalog.node.context.now()
  const known = catalog.samplers
  const own = findField(statistics, 'numQueriesExecutedPerSecond')!.asNumber()
  known.set(name, { pingedAtMs: now, queriesPerSecond: own })
  const active = catalog.store
    .all(queryAnalyzers)
    .filter(
      (document) => textOf(document, 'mode') !== 'off' && findField(document, 'samplesPerSecond')?.isNumber() === true,
    )
  if (active.length === 0) return { configurations: [], error: null }
  const ratio = shareOf(catalog, own, now)
  const configurations = active.map((document) =>
    new DocumentWriter(192)
      .string('ns', textOf(document, '_id'))
      .value('collectionUuid', findField(document, 'collUuid')!)
      .double('samplesPerSecond', ratio * findField(document, 'samplesPerSecond')!.asNumber())
      .value('startTime', findField(document, 'startTime')!)
      .finish(),
  )
  return { configurations, error: null }
}

/** In proportion to the queries that the member serves; equal until every member has reported. */
function shareOf(catalog: SamplerHost, own: number, now: number): number {
  const known = catalog.samplers
  const aliveSinceMs = now - catalog.node.parameters.number('queryAnalysisSamplerInActiveThresholdSecs') * 1000
  let members = 0
  let total = 0
  for (const { pingedAtMs, queriesPerSecond } of known.values()) {
    if (pingedAtMs <= aliveSinceMs) continue
    members++
    total += queriesPerSecond
  }
  // Routers that are alive but have not reported yet.
  const silent = catalog.store
    .all('config.mongos')
    .filter((document) => isAlive(document, aliveSinceMs) && !known.has(textOf(document, '_id'))).length
  return silent > 0 || total === 0 ? 1 / (members + silent) : own / total
}

function isAlive(mongos: Uint8Array, sinceMs: number): boolean {
  const ping = findField(mongos, 'ping')
  return ping?.type === BsonType.date && Number(ping.asBigInt()) > sinceMs
}

function textOf(document: Uint8Array, name: string): string {
  return findField(document, name)!.asString()
}

function isOfCollection(document: Uint8Array, uuid: Uint8Array): boolean {
  return findField(document, 'collUuid')?.isBinary(uuid) === true
}

function configurationOf(document: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(64).string('mode', textOf(document, 'mode'))
  const rate = findField(document, 'samplesPerSecond')
  return (rate === undefined ? writer : writer.value('samplesPerSecond', rate)).finish()
}
