/** The measured servers, each in its own process: the stub, and clusters. */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { encode, type Document } from '@shardlab/bson'
import { RawClient } from '../../support/raw-client.js'
import { up } from '../../support/up.js'

export interface Server {
  readonly name: string
  readonly endpoint: string
  readonly pid: number
  stop(): Promise<unknown>
}

export const db = 'bench'
export const collection = 'rows'
export const documentCount = 20_000
const text = 'a text of some length, as documents have them, and a little more of it'
export const documentOf = (i: number): Document => ({ _id: i, n: 0, name: `name ${i}`, text })

/** A cluster with a filled collection, sharded by a hash of `_id`. */
export async function startCluster(name: string, ...options: string[]): Promise<Server> {
  const running = await up('--port', '0', '--quiet', ...options)
  const endpoint = running.ready.mongos[0]!
  const client = await RawClient.connect(endpoint)
  await checked(client, { shardCollection: `${db}.${collection}`, key: { _id: 'hashed' }, $db: 'admin' })
  await fill(client)
  client.close()
  return { name, endpoint, pid: running.process.pid!, stop: () => running.stop() }
}

async function fill(client: RawClient): Promise<void> {
  for (let from = 0; from < documentCount; from += 1000) {
    const documents = Array.from({ length: 1000 }, (_, i) => encode(documentOf(from + i)))
    await checked(client, { insert: collection, ordered: false, $db: db }, [['documents', documents]])
  }
}

const javaStartMs = 20_000

/**
 * mongo-java-server with its in-memory backend, one node without sharding
 * (github.com/bwaldvogel/mongo-java-server).
 * @param classpath its classes and their dependencies; the main class takes a port
 */
export async function startJavaServer(classpath: string): Promise<Server> {
  const { server, client } = await launchJavaServer(classpath)
  await fill(client)
  client.close()
  return server
}

/** Starts it without documents; resolves when it accepts a connection. */
export async function launchJavaServer(
  classpath: string,
): Promise<{ readonly server: Server; readonly client: RawClient }> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  const child = spawn('java', ['-cp', classpath, 'de.bwaldvogel.mongo.InMemoryMongoServer', String(port)], {
    stdio: 'ignore',
  })
  let failure: string | null = null
  child.on('error', (error) => (failure = error.message))
  child.on('exit', (code) => (failure = `it ended with code ${code}`))
  const endpoint = `localhost:${port}`
  const untilMs = performance.now() + javaStartMs
  const connect = async (): Promise<RawClient> => {
    for (;;) {
      try {
        return await RawClient.connect(endpoint)
      } catch (error) {
        if (failure !== null || performance.now() > untilMs)
          throw new Error(`mongo-java-server does not start: ${failure ?? String(error)}`, { cause: error })
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }
  const stop = async (): Promise<void> => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  return { server: { name: 'mongo-java-server', endpoint, pid: child.pid!, stop }, client: await connect() }
}

/** A stub with that cluster's answers: the driver reads the same bytes. */
export async function startStub(model: Server): Promise<Server> {
  const client = await RawClient.connect(model.endpoint)
  const hello = await client.command({ hello: 1, $db: 'admin' })
  // Without it a driver polls instead of awaiting changes.
  delete hello['topologyVersion']
  const bodies = {
    hello: encode(hello),
    ping: await client.commandBytes(encode({ ping: 1, $db: 'admin' })),
    find: await client.commandBytes(
      encode({ find: collection, filter: { _id: 1 }, limit: 1, singleBatch: true, $db: db }),
    ),
    insert: await client.commandBytes(encode({ insert: collection, documents: [{ _id: -1 }], $db: db })),
  }
  await checked(client, { delete: collection, deletes: [{ q: { _id: -1 }, limit: 1 }], $db: db })
  client.close()
  return forkStub(
    Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, Buffer.from(body).toString('base64')])),
  )
}

/** @param bodies base64 of the answer to each command; `ping` for all others */
export async function forkStub(bodies: Readonly<Record<string, string>>): Promise<Server> {
  const child = fork(new URL('stub-process.js', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.send(bodies)
  const [port] = (await once(child, 'message')) as [number]
  return {
    name: 'stub',
    endpoint: `127.0.0.1:${port}`,
    pid: child.pid!,
    stop: async () => {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** CPU of all threads of a process since its start, in microseconds. */
export function cpuUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
  const ticksPerSecond = 100
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
}

export async function checked(
  client: RawClient,
  command: Document,
  sequences?: readonly (readonly [string, readonly Uint8Array[]])[],
): Promise<Document> {
  const reply = await client.command(command, sequences)
  if (reply['ok'] !== 1 || reply['writeErrors'] !== undefined)
    throw new Error(`${Object.keys(command)[0]} failed: ${JSON.stringify(reply).slice(0, 300)}`)
  return reply
}
