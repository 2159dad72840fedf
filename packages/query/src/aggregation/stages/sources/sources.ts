/**
 * Stages whose documents come from the member that runs them: packages/node/src/sources and
 * packages/mongos/src/sources. Server: `StageConstraints` of each stage.
 */
import { BsonType, CommandError, findField, isEmptyDocument, typeName, type RawValue } from '@shardlab/bson'
import { deviating } from '../../../context.js'
import { parseStruct } from '../../../values/idl.js'
import { formatField } from '../../../values/format.js'
import { passThroughStage, type PipelineKind, type StageOperator, type StageSource } from '../stage.js'

interface SourceTraits {
  readonly collection: StageSource['collection']
  readonly notIn: readonly PipelineKind[]
  /** @throws CommandError for an invalid argument */
  readonly check: (argument: RawValue) => void
}

function source(name: string, { collection, notIn, check }: SourceTraits): StageOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    sharded: 'shards',
    position: 'first',
    notIn,
    source: { collection },
    compile(argument) {
      check(argument)
      return passThroughStage(name)
    },
  }
}

const requireObject = (code: number, message: (argument: RawValue) => string) => (argument: RawValue) => {
  if (argument.type !== BsonType.object) throw new CommandError(code, message(argument))
}

const optionsOf = (stage: string) => (argument: RawValue) =>
  `${stage} options must be specified in an object, but found: ${typeName(argument.type)}`

const needsAtlas =
  'Using $search and $vectorSearch aggregation stages requires additional configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs.'
const listingNeedsAtlas =
  'Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs.'

/** Stages that the server recognizes but cannot serve. */
function unavailable(
  name: string,
  code: number,
  message: string,
  collection: StageSource['collection'],
  deviations: readonly string[] = [],
): StageOperator {
  return {
    ...source(name, {
      collection,
      notIn: ['facet'],
      check() {
        throw new CommandError(code, message)
      },
    }),
    status: 'partial',
    ...(deviations.length > 0 && { deviations }),
    missing: `everything: ${message}`,
  }
}

export const sourceStages: readonly StageOperator[] = [
  source('$collStats', {
    collection: 'required',
    notIn: ['facet'],
    check: requireObject(
      5447000,
      (argument) => `$collStats must take a nested object but found: ${formatField('$collStats', argument)}`,
    ),
  }),
  source('$indexStats', {
    collection: 'required',
    notIn: ['facet'],
    check(argument) {
      if (argument.type !== BsonType.object || !isEmptyDocument(argument.bytes, argument.start))
        throw new CommandError(28803, 'The $indexStats stage specification must be an empty object')
    },
  }),
  deviating(
    source('$planCacheStats', {
      collection: 'required',
      notIn: ['facet'],
      check(argument) {
        if (argument.type !== BsonType.object)
          throw new CommandError(
            'FailedToParse',
            `$planCacheStats value must be an object. Found: ${typeName(argument.type)}`,
          )
        if (!isEmptyDocument(argument.bytes, argument.start))
          throw new CommandError('FailedToParse', '$planCacheStats parameters object must be empty. Found: object')
      },
    }),
    'D302',
  ),
  deviating(
    source('$currentOp', {
      collection: 'none',
      notIn: ['facet', 'lookup', 'unionWith'],
      check: requireObject(14, optionsOf('$currentOp')),
    }),
    'D702',
    'D705',
    'D721',
    'D837',
  ),
  source('$listLocalSessions', {
    collection: 'none',
    notIn: ['facet', 'lookup', 'unionWith'],
    check: requireObject(14, optionsOf('$listLocalSessions')),
  }),
  deviating(
    source('$listSessions', {
      collection: 'required',
      notIn: ['facet', 'lookup', 'unionWith'],
      check: requireObject(14, optionsOf('$listSessions')),
    }),
    'D703',
  ),
  source('$listSampledQueries', {
    collection: 'none',
    notIn: ['facet', 'lookup', 'unionWith'],
    check(argument) {
      if (argument.type !== BsonType.object)
        throw new CommandError(
          6876000,
          `$listSampledQueries must take a nested object but found: ${formatField('$listSampledQueries', argument)}`,
        )
      const namespace = findField(argument.bytes, 'namespace', argument.start)
      if (namespace !== undefined && namespace.type !== BsonType.string)
        throw new CommandError(
          'TypeMismatch',
          `BSON field '$listSampledQueries.namespace' is the wrong type '${typeName(namespace.type)}', expected type 'string'`,
        )
    },
  }),
  source('$shardedDataDistribution', {
    // 6.0.3
    // The member that runs the stage checks its target.
    collection: 'any',
    notIn: ['facet', 'lookup', 'unionWith'],
    check(argument) {
      if (argument.type !== BsonType.object || !isEmptyDocument(argument.bytes, argument.start))
        throw new CommandError(6789100, 'The $shardedDataDistribution stage specification must be an empty object')
    },
  }),
  deviating(
    source('$listClusterCatalog', {
      // The member that runs the stage checks its target.
      collection: 'any',
      notIn: ['facet'],
      check(argument) {
        if (argument.type !== BsonType.object)
          throw new CommandError(
            9621302,
            `$listClusterCatalog must take an object but found: ${formatField('$listClusterCatalog', argument)}`,
          )
        parseStruct('$listClusterCatalog', argument, {
          shards: { types: ['bool'] },
          tracked: { types: ['bool'] },
          balancingConfiguration: { types: ['bool'] },
        })
      },
    }),
    'D714',
  ),
  deviating(
    source('$querySettings', {
      collection: 'none',
      notIn: ['facet'],
      check(argument) {
        if (argument.type !== BsonType.object)
          throw new CommandError(7746800, '$querySettings stage expects a document as argument')
        parseStruct('$querySettings', argument, { showDebugQueryShape: { types: ['bool'] } })
      },
    }),
    'D612',
  ),
  source('$changeStream', {
    collection: 'any',
    notIn: ['facet', 'lookup', 'unionWith'],
    // The member that runs the stage checks its options, which depend on the namespace.
    check: requireObject(50808, () => '$changeStream stage expects a document as argument'),
  }),
  unavailable('$geoNear', 27, '$geoNear requires a 2d or 2dsphere index, but none were found', 'required', ['D105']),
  unavailable('$search', 31082, needsAtlas, 'required'),
  unavailable('$searchMeta', 31082, needsAtlas, 'required'),
  unavailable('$vectorSearch', 31082, needsAtlas, 'required'),
  unavailable('$listSearchIndexes', 31082, listingNeedsAtlas, 'required'),
]
