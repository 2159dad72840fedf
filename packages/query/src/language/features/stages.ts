import type { FeatureGroup } from '../feature-group.js'

export const stages: FeatureGroup = {
  title: 'Aggregation stages',
  about: 'An unknown stage fails the command with 40324, in 2.6 with 16436: "Unrecognized pipeline stage name".',
  source:
    'REGISTER_DOCUMENT_SOURCE in pipeline/document_source_*.cpp; pipeline.cpp (2.6); reference/operator/aggregation',
  since: {
    '2.6': ['$geoNear', '$group', '$limit', '$match', '$out', '$project', '$redact', '$skip', '$sort', '$unwind'],
    '3.2': ['$indexStats', '$lookup', '$sample'],
    '3.4': [
      '$addFields',
      '$bucket',
      '$bucketAuto',
      '$collStats',
      '$count',
      '$facet',
      '$graphLookup',
      '$replaceRoot',
      '$sortByCount',
    ],
    '3.6': ['$changeStream', '$currentOp', '$listLocalSessions', '$listSessions'],
    '4.2': ['$merge', '$planCacheStats', '$replaceWith', '$search', '$set', '$unset'],
    '4.4': ['$unionWith'],
    '4.4.9': ['$searchMeta'],
    '5.0': ['$setWindowFields'],
    '5.1': ['$densify', '$documents'],
    '5.3': ['$fill'],
    '6.0.3': ['$shardedDataDistribution'],
    '6.0.7': ['$listSearchIndexes'],
    '6.0.9': ['$changeStreamSplitLargeEvent'],
    '6.0.11': ['$vectorSearch'],
    '7.0': ['$listSampledQueries'],
    '8.0': ['$querySettings'],
    '8.0.10': ['$listClusterCatalog'],
  },
}

export const accumulators: FeatureGroup = {
  title: 'Accumulators',
  about: 'An unknown accumulator of $group fails the command with 15952: "unknown group operator".',
  source: 'REGISTER_ACCUMULATOR in pipeline/accumulator_*.cpp; reference/operator/aggregation/group',
  since: {
    '2.6': ['$addToSet', '$avg', '$first', '$last', '$max', '$min', '$push', '$sum'],
    '3.2': ['$stdDevPop', '$stdDevSamp'],
    '3.6': ['$mergeObjects'],
    '4.4': ['$accumulator'],
    '5.0': ['$count'],
    '5.2': ['$bottom', '$bottomN', '$firstN', '$lastN', '$maxN', '$minN', '$top', '$topN'],
    '7.0': ['$median', '$percentile'],
  },
}

export const windowFunctions: FeatureGroup = {
  title: 'Window functions',
  about:
    'An unknown function of $setWindowFields fails the command with FailedToParse: "Unrecognized window function".',
  source: 'pipeline/window_function; reference/operator/aggregation/setWindowFields',
  since: {
    '5.0': [
      '$addToSet',
      '$avg',
      '$count',
      '$covariancePop',
      '$covarianceSamp',
      '$denseRank',
      '$derivative',
      '$documentNumber',
      '$expMovingAvg',
      '$first',
      '$integral',
      '$last',
      '$max',
      '$min',
      '$push',
      '$rank',
      '$shift',
      '$stdDevPop',
      '$stdDevSamp',
      '$sum',
    ],
    '5.2': ['$bottom', '$bottomN', '$firstN', '$lastN', '$locf', '$maxN', '$minN', '$top', '$topN'],
    '5.3': ['$linearFill'],
    '7.0': ['$median', '$percentile'],
  },
}
