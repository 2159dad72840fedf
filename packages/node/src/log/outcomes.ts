import { DiskFullError } from '@shardlab/actor'

/** Never rejects. */
export function hasSucceeded(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** @throws errors other than {@link DiskFullError} */
export function ignoreFullDisk(error: unknown): void {
  if (!(error instanceof DiskFullError)) throw error
}
