/** Clients that repeat one operation as fast as they can for a given time. */
import { encode } from '@shardlab/bson'
import { encodeCommand, FrameReader } from '@shardlab/wire'
import { once } from 'node:events'
import { connect } from 'node:net'
import { MongoClient } from 'mongodb'
import { median } from '../interleaved.js'
import { collection, cpuUs, db, documentCount, documentOf, type Server } from './servers.js'

/** Measurements of one slice of time. */
export interface Slice {
  readonly perSecond: number
  /** CPU of the server per operation. */
  readonly cpuUs: number
  /** Median time from sending a request to its answer; null where several are in flight. */
  readonly p50Us: number | null
}

/** Repeats an operation for `durationMs`. */
export type Work = (server: Server, durationMs: number) => Promise<Slice>

let nextId = 1_000_000

const driverOperations = {
  findOne: (i: number) => ({ find: i % documentCount }),
  insertOne: () => ({ insert: documentOf(nextId++) }),
  insertMany: () => ({ insertMany: Array.from({ length: 1000 }, () => documentOf(nextId++)) }),
} as const

/**
 * Why the driver rejects the server, for instance for its old protocol; null: it accepts the
 * server.
 */
export async function refusalOfDriver(server: Server): Promise<string | null> {
  const client = new MongoClient(`mongodb://${server.endpoint}/?directConnection=true&serverSelectionTimeoutMS=3000`)
  try {
    await client.connect()
    return null
  } catch (error) {
    return `the driver: ${error instanceof Error ? error.message : String(error)}`
  } finally {
    await client.close()
  }
}

/** The official driver with this many concurrent operations and as many connections, at most 50. */
export function driver(operation: keyof typeof driverOperations, concurrency: number): Work {
  return async (server, durationMs) => {
    const client = new MongoClient(
      `mongodb://${server.endpoint}/?directConnection=true&maxPoolSize=${Math.min(concurrency, 50)}`,
    )
    await client.connect()
    const rows = client.db(db).collection<{ _id: number }>(collection)
    let done = 0
    const loop = async (start: number, untilMs: number): Promise<void> => {
      for (let i = start; performance.now() < untilMs; i += 7919) {
        const wanted = driverOperations[operation](i)
        if ('find' in wanted) await rows.findOne({ _id: wanted.find })
        else if ('insert' in wanted) await rows.insertOne(wanted.insert as never)
        else await rows.insertMany(wanted.insertMany as never, { ordered: false })
        done++
      }
    }
    const loops = (ms: number) => {
      const untilMs = performance.now() + ms
      return Promise.all(Array.from({ length: concurrency }, (_, i) => loop(i, untilMs)))
    }
    await loops(durationMs / 5)
    done = 0
    const slice = await during(
      server,
      () => done,
      () => loops(durationMs),
    )
    await client.close()
    return slice
  }
}

const rawMessages = {
  find: (i: number) =>
    encode({ find: collection, filter: { _id: (i * 7919) % documentCount }, limit: 1, singleBatch: true, $db: db }),
  /** Every shard is asked and has no match. */
  broadcast: () =>
    encode({ find: collection, filter: { name: 'nobody' }, limit: 1, singleBatch: true, $db: db, hint: 'name_1' }),
  insert: () => encode({ insert: collection, documents: [documentOf(nextId++)], $db: db }),
} as const

/**
 * Sockets with `depth` messages in flight each; one write for all messages that a read makes room
 * for. Messages are encoded in advance.
 */
export function raw(kind: keyof typeof rawMessages, connections: number, depth: number): Work {
  return async (server, durationMs) => {
    const prepared = kind === 'insert' ? 200_000 : 1000
    const messages = Array.from({ length: prepared }, (_, i) => Buffer.from(encodeCommand(i + 1, rawMessages[kind](i))))
    let next = 0
    let done = 0
    let isRunning = true
    let latenciesUs: number[] = []
    let writtenAtMs = 0
    const isAlone = connections === 1 && depth === 1
    const take = (count: number): Buffer => {
      const batch = Array.from({ length: count }, () => messages[next++ % prepared]!)
      return count === 1 ? batch[0]! : Buffer.concat(batch)
    }
    const sockets = await Promise.all(
      Array.from({ length: connections }, async () => {
        const [host, port] = server.endpoint.split(':') as [string, string]
        const socket = connect({ host, port: Number(port), noDelay: true })
        await once(socket, 'connect')
        return socket
      }),
    )
    const drained = sockets.map((socket) => {
      const reader = new FrameReader()
      let waiting = depth
      return new Promise<void>((resolve) => {
        socket.on('data', (chunk) => {
          reader.push(chunk)
          let answered = 0
          while (reader.next() !== null) answered++
          done += answered
          if (isAlone && answered > 0) {
            const nowMs = performance.now()
            latenciesUs.push((nowMs - writtenAtMs) * 1000)
            writtenAtMs = nowMs
          }
          if (isRunning && answered > 0) socket.write(take(answered))
          else waiting -= answered
          if (waiting <= 0) resolve()
        })
      })
    })
    writtenAtMs = performance.now()
    for (const socket of sockets) socket.write(take(depth))
    await sleep(durationMs / 5)
    done = 0
    latenciesUs = []
    const slice = await during(
      server,
      () => done,
      () => sleep(durationMs),
    )
    isRunning = false
    await Promise.all(drained)
    for (const socket of sockets) socket.destroy()
    return { ...slice, p50Us: isAlone ? median(latenciesUs) : null }
  }
}

async function during(server: Server, done: () => number, work: () => Promise<unknown>): Promise<Slice> {
  const cpuBefore = cpuUs(server.pid)
  const startedMs = performance.now()
  await work()
  const count = done()
  return {
    perSecond: (count / (performance.now() - startedMs)) * 1000,
    cpuUs: (cpuUs(server.pid) - cpuBefore) / count,
    p50Us: null,
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
