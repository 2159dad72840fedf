import { CommandError } from '@shardlab/bson'

/** Server: search_index_helpers. */
export function searchNotEnabled(): CommandError {
  return new CommandError(
    'SearchNotEnabled',
    'Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs.',
  )
}
