/** How the planner refuses. Server: get_executor.cpp. */
import { CommandError } from '@shardlab/bson'
import type { Collection } from '../types.js'

export function noPlan(
  collection: Pick<Collection, 'ns'>,
  code: ConstructorParameters<typeof CommandError>[0],
  reason: string,
): CommandError {
  return new CommandError(code, `error processing query: ns=${collection.ns} planner returned error :: caused by :: ${reason}`)
}
