import { MongoBulkWriteError } from 'mongodb'
import { messageOf, OptionError } from '../option-error.js'
import type { Workload } from '../workload/workload.js'
import { sleep } from './clock.js'
import type { Control } from './control.js'
import type { Stopping } from './stopping.js'

const batchBytes = 2 * 1024 * 1024
const batchRecordsMax = 1000
const batchesAtOnce = 4
const attemptsMax = 10
const pauseMs = 500
const duplicateKey = 11000

/**
 * Inserts records 0 to `records - 1`, each at version 0, until all are acknowledged or the run is
 * stopped.
 * @throws OptionError with the server's error
 */
export async function loadRecords(
  { client }: Control,
  workload: Workload,
  stopping: Stopping,
  onLoaded: (count: number) => void,
): Promise<void> {
  const collection = client.db(workload.database).collection<{ _id: unknown }>(workload.collection)
  const { template, records } = workload
  const recordBytes = template.texts.reduce((sum, { length }) => sum + length + 16, 64)
  const size = Math.max(1, Math.min(batchRecordsMax, Math.floor(batchBytes / recordBytes)))
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < records && !stopping.isStopped) {
      const first = next
      next = Math.min(records, first + size)
      const batch = Array.from({ length: next - first }, (_, i) => template.record(first + i, 0))
      for (let attempt = 1; ; attempt++) {
        try {
          await collection.insertMany(batch, { ordered: false })
          break
        } catch (error) {
          // Part of a repeated batch may have been inserted before.
          if ((attempt > 1 && isOnlyDuplicates(error)) || stopping.isStopped) break
          if (attempt === attemptsMax)
            throw new OptionError(`records cannot be loaded into ${workload.ns}: ${messageOf(error)}`)
          await sleep(pauseMs)
        }
      }
      onLoaded(batch.length)
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, worker))
}

function isOnlyDuplicates(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError)) return false
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors]
  return failures.length > 0 && failures.every(({ code }) => code === duplicateKey)
}
