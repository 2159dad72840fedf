import { DiskFullError, type ActorContext } from '@shardlab/actor'
import { CommandError, ErrorCodes } from '@shardlab/bson'
import type { ReplicaLog } from './replica-log.js'

const pauseMs = 1000

/** Resolves when the disk takes entries of that size. */
export async function roomFor(context: ActorContext, log: Pick<ReplicaLog, 'hasRoom'>, bytes: number): Promise<void> {
  while (!log.hasRoom(bytes)) await context.sleep(pauseMs)
}

/**
 * Repeats work on the disk until there is room for it. Until then the member lags, does not vote,
 * or is not elected. A server would end its process.
 */
export async function persist<T>(context: ActorContext, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      ignoreFullDisk(error)
      await context.sleep(pauseMs)
    }
  }
}

/** @throws other errors */
export function ignoreFullDisk(error: unknown): void {
  const isFull =
    error instanceof DiskFullError || (error instanceof CommandError && error.code === ErrorCodes.OutOfDiskSpace)
  if (!isFull) throw error
}
