/** What the arguments of an aggregate say about how its pipeline runs. */
import type { CommandArguments } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import { BsonType, findField } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'

export const memoryLimitBytes = 100 * 1024 * 1024

/** How much a stage may hold: there is no disk, so that where it might be used nothing limits it. */
export function stageMemoryOf(args: CommandArguments, { sortsUseDiskByDefault }: Behaviours): number {
  return (args.bool('allowDiskUse') ?? sortsUseDiskByDefault) ? Infinity : memoryLimitBytes
}

/** The `$$NOW` of the router, so that all parts of a pipeline have the same. */
export function withConstants(evaluation: EvaluationContext, args: CommandArguments): EvaluationContext {
  const constants = args.document('runtimeConstants')
  const now = constants === undefined ? undefined : findField(constants, 'localNow')
  return now?.type === BsonType.date ? { ...evaluation, nowMs: Number(now.asBigInt()) } : evaluation
}
