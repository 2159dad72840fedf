import { CommandError, ErrorCodes } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

export function withContext(error: unknown, context: string): unknown {
  if (!(error instanceof CommandError)) return error
  const { code, message, errorLabels, extra } = error
  return new CommandError(code, `${context} :: caused by :: ${message}`, { errorLabels, extra, cause: error })
}

/** For errors while a pipeline runs. */
export function aggregateErrorContext({ executorErrorsNameCollection }: Behaviours, ns: string): string {
  return executorErrorsNameCollection
    ? `Executor error during aggregate command on namespace: ${ns}`
    : 'PlanExecutor error during aggregation'
}

/** With which a plan ends. Servers until 4.2 add a context to them alone. */
const planStatuses: ReadonlySet<number> = new Set([
  ErrorCodes.MaxTimeMSExpired,
  ErrorCodes.OperationFailed,
  ErrorCodes.CappedPositionLost,
  ErrorCodes.QueryPlanKilled,
  ErrorCodes.QueryExceededMemoryLimitNoDiskUseAllowed,
  ErrorCodes.Interrupted,
  ErrorCodes.InterruptedAtShutdown,
  ErrorCodes.InterruptedDueToReplStateChange,
])

/** For an error while a plan runs. */
export function withExecutorContext(
  error: unknown,
  { thrownErrorsNameExecutor }: Behaviours,
  context: string,
): unknown {
  const isNamed = thrownErrorsNameExecutor || (error instanceof CommandError && planStatuses.has(error.code))
  return isNamed ? withContext(error, context) : error
}
