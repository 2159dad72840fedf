/** $near and $nearSphere: they need an index of a kind that is not built. */
import { CommandError } from '@shardlab/bson'
import type { PathOperator } from '../operator.js'

function near(name: string): PathOperator {
  return {
    name,
    manualPage: `query/${name.slice(1)}`,
    status: 'partial',
    note: 'refused, as by a server without a geospatial index',
    parse() {
      throw new CommandError('NoQueryExecutionPlans', 'unable to find index for $geoNear query')
    },
  }
}

export const geoOperators: readonly PathOperator[] = [near('$near'), near('$nearSphere')]
