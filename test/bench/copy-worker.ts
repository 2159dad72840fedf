/**
 * The recipient of the plain copy that migrations are compared with: reads packets of documents and
 * copies each.
 */
import { readPacket } from '@shardlab/actor'
import { parentPort } from 'node:worker_threads'

let kept: Uint8Array[] = []

parentPort!.on('message', (packet: Uint8Array | null) => {
  if (packet === null) {
    parentPort!.postMessage(kept.length)
    kept = []
    return
  }
  const [message] = readPacket(packet)
  for (const document of message![5][0] as readonly Uint8Array[]) kept.push(document.slice())
})
