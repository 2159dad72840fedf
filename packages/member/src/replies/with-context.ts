import { CommandError } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

export function withContext(error: unknown, context: string): unknown {
  if (!(error instanceof CommandError)) return error
  const { code, message, errorLabels, extra } = error
  return new CommandError(code, `${context} :: caused by :: ${message}`, { errorLabels, extra })
}

/** For errors while a pipeline runs. */
export function aggregateErrorContext({ executorErrorsNameCollection }: Behaviours, ns: string): string {
  return executorErrorsNameCollection
    ? `Executor error during aggregate command on namespace: ${ns}`
    : 'PlanExecutor error during aggregation'
}
