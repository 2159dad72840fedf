/** A connection apart from the load: it inspects the server, prepares, loads and checks. */
import { MongoClient, MongoServerSelectionError, type Document, type MongoClientOptions } from 'mongodb'
import { messageOf, OptionError } from '../option-error.js'
import type { Measured } from '../types.js'
import { NotLearned } from './not-learned.js'
import { InterruptedError, type Stopping } from './stopping.js'

export interface Control {
  readonly client: MongoClient
  readonly notLearned: NotLearned
  readonly isMongos: boolean
  readonly topology: Measured['topology']
  readonly version: string
  readonly isEmulator: boolean
  /** `host:port` of each mongos or data-bearing member. */
  readonly hosts: readonly string[]
}

const selectionTimeoutMs = 5000

/** Only options that the connection string does not set. */
export function clientOptions(uri: string, concurrency: number): MongoClientOptions {
  const unset = (name: string): boolean => !new RegExp(`[?&]${name}=`, 'i').test(uri)
  return {
    ...(unset('maxPoolSize') ? { maxPoolSize: Math.max(100, concurrency) } : {}),
    ...(unset('serverSelectionTimeoutMS') ? { serverSelectionTimeoutMS: selectionTimeoutMs } : {}),
    ...(unset('appName') ? { appName: 'shardlab load' } : {}),
  }
}

/**
 * Waits until connected or stopped. @throws OptionError for an invalid string or an unreachable
 * server
 */
export async function connectControl(uri: string, stopping: Stopping): Promise<Control> {
  let client: MongoClient
  try {
    client = new MongoClient(uri, clientOptions(uri, 1))
  } catch (error) {
    throw new OptionError(`the connection string is not valid: ${messageOf(error)}`)
  }
  try {
    return await stopping.unlessStopped(learn(client))
  } catch (error) {
    await client.close()
    if (error instanceof InterruptedError) throw error
    if (error instanceof MongoServerSelectionError)
      throw new OptionError(`nothing answers at ${withoutPassword(uri)}: ${messageOf(error)}`)
    throw new OptionError(`${withoutPassword(uri)} refuses: ${messageOf(error)}`)
  }
}

async function learn(client: MongoClient): Promise<Control> {
  await client.connect()
  const hello = await client
    .db('admin')
    .command({ hello: 1 })
    .catch(() => client.db('admin').command({ isMaster: 1 }))
  const notLearned = new NotLearned()
  const buildInfo: Document = await client
    .db('admin')
    .command({ buildInfo: 1 })
    .catch((error: unknown) => {
      notLearned.add("the server's version (buildInfo)", error)
      return {}
    })
  const isMongos = hello['msg'] === 'isdbgrid'
  return {
    client,
    notLearned,
    isMongos,
    topology: isMongos ? 'sharded' : hello['setName'] === undefined ? 'single' : 'replica set',
    version: typeof buildInfo['version'] === 'string' ? buildInfo['version'] : 'of unknown version',
    // A real server reports the commit it was built from.
    isEmulator: /^0+$/.test(String(buildInfo['gitVersion'])),
    hosts: client.options.hosts.map(String),
  }
}

export function withoutPassword(uri: string): string {
  return uri.replace(/:[^:@/]*@/, ':***@')
}
