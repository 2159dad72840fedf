/** $near and $nearSphere need a geospatial index, and there are none. */
import { CommandError } from '@shardlab/bson'
import type { PathOperator } from '../operator.js'

function near(name: string): PathOperator {
  return {
    name,
    manualPage: `query/${name.slice(1)}`,
    status: 'partial',
    deviations: ['D105'],
    missing: 'everything, like a server without a geospatial index',
    parse(_path, _argument, { features }) {
      if (!features.has('near'))
        throw new CommandError(5626500, '$geoNear, $near, and $nearSphere are not allowed in this context')
      throw new CommandError('NoQueryExecutionPlans', 'unable to find index for $geoNear query')
    },
  }
}

export const geoOperators: readonly PathOperator[] = [near('$near'), near('$nearSphere')]
