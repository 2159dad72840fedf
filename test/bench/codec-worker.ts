/** The peer of the codec bench: returns packets unchanged, or answers each message in them. */
import { kindShapeAt, PacketWriter, readPacket, type NodeCommand } from '@shardlab/actor'
import { parentPort, workerData } from 'node:worker_threads'

const writer = new PacketWriter()

parentPort!.on('message', (packet: Uint8Array<ArrayBuffer>) => {
  const answers = workerData === 'bytes' ? packet : answersTo(packet)
  parentPort!.postMessage(answers, [answers.buffer])
})

function answersTo(packet: Uint8Array): Uint8Array<ArrayBuffer> {
  for (const [, id, to, from, kind, payload] of readPacket(packet)) {
    const { body, clusterTime } = kindShapeAt(kind).toRequest(payload) as NodeCommand
    writer.addReply(id, from, to, 'node.command', { body, operationTime: clusterTime, clusterTime })
  }
  return writer.take()
}
