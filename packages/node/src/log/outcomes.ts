/** How writing to the disk has ended. */
import { DiskFullError } from '@shardlab/actor'

/** Has it succeeded? */
export function isDone(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** @throws what is not {@link DiskFullError} */
export function ignoreFullDisk(error: unknown): void {
  if (!(error instanceof DiskFullError)) throw error
}
