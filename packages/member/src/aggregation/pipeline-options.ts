import type { CommandArguments } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import { BsonType, findField } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'

export const memoryLimitBytes = 100 * 1024 * 1024

/**
 * Bytes that a stage may hold. No stage spills to disk here, so there is no limit where the server
 * would use the disk.
 */
export function stageMemoryOf(args: CommandArguments, { sortsUseDiskByDefault }: Behaviours): number {
  return (args.bool('allowDiskUse') ?? sortsUseDiskByDefault) ? Infinity : memoryLimitBytes
}

/** Takes `$$NOW` from the router, so that it has one value in all parts of a pipeline. */
export function withConstants(evaluation: EvaluationContext, args: CommandArguments): EvaluationContext {
  const constants = args.document('runtimeConstants')
  const now = constants === undefined ? undefined : findField(constants, 'localNow')
  if (now?.type !== BsonType.date) return evaluation
  const nowMs = Number(now.asBigInt())
  return { ...evaluation, now: () => nowMs }
}
