/** Everything in the collection, past no cache and in no order. */
import type { Control } from '../run/control.js'
import type { Stopping } from '../run/stopping.js'
import { nowUs, sleep } from '../run/clock.js'
import type { Workload } from '../workload/workload.js'
import type { EndCheck } from './end-check.js'

const patienceUs = 30e6
const pauseMs = 1000

/**
 * Shows all documents to a check. A shard that is coming back gets half a minute; each attempt begins with a new check.
 * @throws the server's error of the last attempt; when nobody waits any longer, whatever was in the way
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
