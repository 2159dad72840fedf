/** Server: analyze_shard_key_cmd.cpp, configure_query_analyzer_cmd.cpp. */
import { configAddress, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { raiseError } from '@shardlab/node'
import type { ShardHandlers } from '../host/handlers.js'
import type { DatabasePlacements, ExclusiveSections, ShardHost, OrphanCounter } from '../host/host.js'
import { raiseStaleDatabase } from '../coordinators/primary-shard-check.js'
import { analysedCollection, enterAnalysis } from './analysed-collection.js'
import { countKeyValues, keyValues } from './key-values.js'
import { monotonicityOf } from './monotonicity.js'
import { distributeQueries } from './query-distribution.js'
import { insertExpiring, type QuerySamples } from './query-samples.js'
import { arrayInKey, sampleKeys } from './sampled-keys.js'
import { makesUnique, supportingIndex } from './supporting-index.js'

const splitPointsNs = 'config.analyzeShardKeySplitPoints'

interface AnalysisHost extends ShardHost {
  readonly placements: DatabasePlacements
  readonly critical: ExclusiveSections
  readonly orphans: OrphanCounter
  readonly samples: Pick<QuerySamples, 'add'> | null
}

export const queryAnalysisHandlers: ShardHandlers<
  | 'shard.configure-query-analyzer'
  | 'shard.add-sampled-query'
  | 'shard.check-analysis'
  | 'shard.describe-key'
  | 'shard.measure-collection'
  | 'shard.count-key-values'
  | 'shard.key-values'
  | 'shard.sample-keys'
  | 'shard.distribute-queries',
  AnalysisHost
> = {
  'shard.configure-query-analyzer': configureQueryAnalyzer,
  async 'shard.add-sampled-query'({ samples }, query) {
    await samples?.add(query)
    return {}
  },
  async 'shard.check-analysis'({ node }, request) {
    await enterAnalysis(node, request)
    const { parameters } = node
    return {
      defaultSampleSize: parameters.number('analyzeShardKeyCharacteristicsDefaultSampleSize'),
      mostCommonValueCount: parameters.number('analyzeShardKeyNumMostCommonValues'),
      rangeCount: parameters.number('analyzeShardKeyNumRanges'),
      samplesPerRange: parameters.number('analyzeShardKeyNumSamplesPerRange'),
      error: null,
    }
  },
  'shard.describe-key': describeKey,
  async 'shard.measure-collection'({ node, orphans }, request) {
    const { collection } = await enterAnalysis(node, request)
    const orphanCount = orphans.of(collection.uuid)
    return { count: collection.count, sizeBytes: collection.dataSizeBytes, orphanCount, error: null }
  },
  'shard.count-key-values': countKeyValues,
  'shard.key-values': keyValues,
  'shard.sample-keys': sampleKeys,
  'shard.distribute-queries': distribute,
}

async function configureQueryAnalyzer(
  { node, placements, critical, samples }: AnalysisHost,
  { ns, configuration, databaseVersion }: RequestOf<'shard.configure-query-analyzer'>,
): Promise<ReplyOf<'shard.configure-query-analyzer'>> {
  if (samples === null)
    throw new CommandError('IllegalOperation', 'This cluster was started with samplesQueries: false')
  const { context } = node
  await raiseStaleDatabase(placements, context.address, ns, databaseVersion)
  // Excludes drops and renames of the collection.
  return critical.hold(ns, async () => {
    const { uuid } = analysedCollection(node, ns)
    const { oldConfiguration, error } = await context.request(configAddress, 'config.configure-query-analyzer', {
      ns,
      uuid,
      configuration,
    })
    raiseError(error)
    return { oldConfiguration, error: null }
  })
}

async function describeKey(
  { node }: AnalysisHost,
  request: RequestOf<'shard.describe-key'>,
): Promise<ReplyOf<'shard.describe-key'>> {
  const analysed = await enterAnalysis(node, request)
  const { collection, shardKey } = analysed
  const first = collection.scan().next()
  if (first === null)
    throw new CommandError(
      'CollectionIsEmptyLocally',
      'Cannot analyze the characteristics of a shard key for an empty collection',
    )
  if (typeof shardKey.extract(first.document) === 'string') throw arrayInKey(shardKey)
  const index = supportingIndex(collection, shardKey)
  if (index === null) return { index: null, isUnique: false, monotonicity: null, error: null }
  const monotonicity = await monotonicityOf(node, analysed, request.sampling)
  return { index: index.name, isUnique: makesUnique(index, shardKey), monotonicity, error: null }
}

async function distribute(
  { node }: AnalysisHost,
  request: RequestOf<'shard.distribute-queries'>,
): Promise<ReplyOf<'shard.distribute-queries'>> {
  const analysed = await enterAnalysis(node, request)
  const { ns, splitPoints, analyzeShardKeyId } = request
  if (analyzeShardKeyId !== null) {
    const expireAtMs = node.context.now() + node.parameters.number('analyzeShardKeySplitPointExpirationSecs') * 1000
    for (const splitPoint of splitPoints) {
      const document = new DocumentWriter(256)
        .startDocument('_id')
        .uuid('analyzeShardKeyId', analyzeShardKeyId)
        .uuid('splitPointId', uuidV4(node.context.random))
        .end()
        .string('ns', ns)
        .document('splitPoint', splitPoint)
        .date('expireAt', expireAtMs)
      insertExpiring(node, splitPointsNs, 'AnalyzeShardKeySplitPointsTTLIndex', document.finish())
    }
    await node.flushToMajority()
  }
  return { counters: distributeQueries(node, analysed, ns, splitPoints), error: null }
}
