import { MongoClient, type Db } from 'mongodb'
import type { Test } from 'tap'
import { StartedServer } from './server-process.js'

export const majority = { writeConcern: { w: 'majority' } } as const
/** The server's default is ten seconds. */
export const settings = { electionTimeoutMillis: 1000, heartbeatIntervalMillis: 200 }

/** Ends with the test. */
export function started(t: Test, name: 'mongod' | 'mongos', ...args: string[]): StartedServer {
  const server = new StartedServer(name, args)
  t.teardown(() => server.kill())
  return server
}

/** Of the process on this port alone. */
export async function admin(t: Test, port: number): Promise<Db> {
  const client = await MongoClient.connect(`mongodb://127.0.0.1:${port}/?directConnection=true`)
  t.teardown(() => client.close())
  return client.db('admin')
}
