/** A process that runs three jobs, of which the last one waits, and that a test kills. */
import { natsQueue } from '../../src/index.js'
import { echoJobs } from './echo-jobs.js'

const [url = '', name = ''] = process.argv.slice(2)
const queue = await natsQueue(echoJobs, { nats: { url }, version: '1', name, ackWaitMs: 500 })
const played = ['a', 'b', 'c'].map((key) =>
  queue.run({ key, input: { value: `${key} of the first`, ...(key === 'c' ? { does: 'wait' } : {}) } }),
)
await Promise.all(played.slice(0, 2))
process.stdout.write('two results\n')
await Promise.all(played)
