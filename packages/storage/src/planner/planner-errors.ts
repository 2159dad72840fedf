/** Server: get_executor.cpp, plan_executor_factory.cpp. */
import { CommandError } from '@shardlab/bson'
import type { Collection } from '../engine/types.js'
import { queryText, type ShownQuery } from './query-text.js'

export function noPlanError(
  { ns }: Pick<Collection, 'ns'>,
  query: ShownQuery,
  code: ConstructorParameters<typeof CommandError>[0],
  reason: string,
): CommandError {
  return new CommandError(
    code,
    `error processing query: ${queryText(ns, query)} planner returned error :: caused by :: ${reason}`,
  )
}

export function notCappedError({ ns }: Pick<Collection, 'ns'>, query: ShownQuery): CommandError {
  return new CommandError(
    'BadValue',
    `error processing query: ${queryText(ns, query)} tailable cursor requested on non capped collection`,
  )
}
