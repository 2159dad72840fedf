/** The process of the clients whose finds the bench measures. Ends when its parent disconnects. */
import { encode } from '@shardlab/bson'
import { RawClient } from '../../support/raw-client.js'

export const clientCount = 50
export const periodMs = 100

/** Both are answered: `begin` drops what was measured before it. */
export type LatencyRequest = 'begin' | 'end'
/** Milliseconds of each find since `begin`. */
export type LatencyReply = Float64Array

async function serve(endpoint: string, documentCount: number): Promise<void> {
  let samples: number[] = []
  const clients = await Promise.all(Array.from({ length: clientCount }, () => RawClient.connect(endpoint)))
  const repeat = async (client: RawClient, first: number): Promise<never> => {
    let n = first * 4001
    let dueMs = performance.now() + (first * periodMs) / clientCount
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, dueMs - performance.now()))
      const beganMs = performance.now()
      n = (n * 31 + 7) % documentCount
      await client.commandBytes(encode({ find: 'rows', filter: { _id: n }, limit: 1, singleBatch: true, $db: 'app' }))
      samples.push(performance.now() - beganMs)
      // Finds that became due during this one are skipped: they would only queue in the client.
      dueMs = Math.max(dueMs + periodMs, performance.now())
    }
  }
  for (const [i, client] of clients.entries()) void repeat(client, i)
  process.on('message', (request: LatencyRequest) => {
    process.send!(Float64Array.from(request === 'end' ? samples : []))
    samples = []
  })
  process.on('disconnect', () => process.exit(0))
}

if (process.send !== undefined && process.argv[2] !== undefined) await serve(process.argv[2], Number(process.argv[3]))
