import type { Control } from '../run/control.js'
import type { Stopping } from '../run/stopping.js'
import { nowUs, sleep } from '../run/clock.js'
import type { Workload } from '../workload/workload.js'
import type { EndCheck } from './end-check.js'

const patienceUs = 30e6
const pauseMs = 1000

/**
 * Passes all documents to a check. Waits up to half a minute for a shard that is restarting; each
 * attempt starts a new check.
 * @throws the server's error of the last attempt, or the current obstacle once the user is in a
 * hurry
 */
export async function readBack(
  { client }: Control,
  workload: Workload,
  newCheck: () => EndCheck,
  onSeen: (documents: number) => void,
  stopping: Stopping,
): Promise<EndCheck> {
  const untilUs = nowUs() + patienceUs
  for (;;) {
    const check = newCheck()
    try {
      const cursor = client
        .db(workload.database)
        .collection(workload.collection)
        .find({}, { raw: true, batchSize: 5000 })
      // `raw`: documents are bytes, whatever their type says.
      for await (const document of cursor as unknown as AsyncIterable<Uint8Array>) {
        check.see(document)
        onSeen(check.documents)
        if (stopping.isHurried) return check
      }
      return check
    } catch (error) {
      if (nowUs() > untilUs || stopping.isHurried) throw error
      await sleep(pauseMs)
    }
  }
}
