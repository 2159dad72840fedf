/**
 * Cost of packing messages relative to the port that transfers them: requests and answers of 300
 * bytes, 256 per packet, to a worker and back.
 */
import { once } from 'node:events'
import { cpus } from 'node:os'
import { Worker } from 'node:worker_threads'
import { kindShapeAt, PacketWriter, readPacket, type NodeCommand, type NodeReply } from '@shardlab/actor'
import type { BenchResult } from './bench.js'
import { atLeast } from './goals.js'
import { interleaved, median, ratios, spread } from './interleaved.js'

type Packet = Uint8Array<ArrayBuffer>

const messagesOfPacket = 256
const rounds = 9
const sliceMs = 300

const body = new Uint8Array(300).fill(7)
const command: NodeCommand = {
  db: 'test',
  body,
  sequences: [],
  shardVersion: ['0123456789abcdef01234567', 1, 2, 3, 4],
  databaseVersion: null,
  stmtIds: null,
  clusterTime: [1_700_000_000, 1],
  operationKey: 0,
  batchBytesMax: 0,
}

export async function measure(): Promise<BenchResult> {
  const bytes = new Worker(new URL('codec-worker.js', import.meta.url), { workerData: 'bytes' })
  const messages = new Worker(new URL('codec-worker.js', import.meta.url), { workerData: 'messages' })
  const samples = { bytes: [] as number[], messages: [] as number[] }
  try {
    for (let round = 0; round <= rounds; round++) {
      const floor = await roundTrips(bytes, (returned) => returned ?? requests())
      const packed = await roundTrips(messages, (answers) => {
        if (answers !== null) takeReplies(answers)
        return requests()
      })
      if (round === 0) continue
      samples.bytes.push(floor)
      samples.messages.push(packed)
    }
  } finally {
    await Promise.all([bytes.terminate(), messages.terminate()])
  }
  return {
    title: `codec: messages with 300 bytes of body, ${messagesOfPacket} in a packet`,
    rows: [
      { name: 'bytes only: CPU of both threads per message and answer', value: `${spread(samples.bytes)} µs` },
      { name: 'messages packed and read at both ends', value: `${spread(samples.messages)} µs` },
      {
        name: "messages: of the bytes' rate",
        value: spread(ratios(samples.bytes, samples.messages)),
        ...atLeast(0.5, '', median(ratios(samples.bytes, samples.messages))),
      },
      { name: 'write and read a request', value: `${spread(packing(), 0)} ns` },
    ],
    note: `Figures of the emulator, not of MongoDB. CPU time; medians of ${rounds} interleaved rounds, minimum and maximum in brackets. Node ${process.version}, ${cpus().length} cores.`,
  }
}

/**
 * Microseconds of CPU of both threads per message and answer.
 * @param next returns the packet to send, given the packet that came back (null at first)
 */
async function roundTrips(worker: Worker, next: (answers: Packet | null) => Packet): Promise<number> {
  const untilMs = performance.now() + sliceMs
  const before = process.cpuUsage()
  let count = 0
  for (let packet = next(null); performance.now() < untilMs; count += messagesOfPacket) {
    worker.postMessage(packet, [packet.buffer])
    const [answers] = (await once(worker, 'message')) as [Packet]
    packet = next(answers)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

const writer = new PacketWriter()

function requests(): Packet {
  for (let id = 1; id <= messagesOfPacket; id++) writer.addRequest(id, 3, 1, 'node.command', command)
  return writer.take()
}

function takeReplies(packet: Uint8Array): void {
  for (const [, , , , kind, payload] of readPacket(packet)) {
    const reply = kindShapeAt(kind).toReply(payload) as NodeReply
    if (reply.body.length !== body.length) throw new Error('another answer than what was sent')
  }
}

/** Nanoseconds per request. */
function packing(): number[] {
  const pack = (times: number): void => {
    for (let i = 0; i < times; i += messagesOfPacket) readPacket(requests())
  }
  return interleaved({ pack: [pack, messagesOfPacket * 200] }).pack
}
