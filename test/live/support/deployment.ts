/** Deployments with access control, in which tests log in as several users. */
import { ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import { MongoClient, MongoServerError, type Document } from 'mongodb'
import type { Test } from 'tap'

export interface Login {
  readonly user: string
  readonly password: string
  readonly authSource?: string
  readonly authMechanism?: 'SCRAM-SHA-1' | 'SCRAM-SHA-256'
}

export class Deployment {
  readonly cluster: ShardedCluster
  readonly #t: Test

  private constructor(t: Test, cluster: ShardedCluster) {
    this.#t = t
    this.cluster = cluster
  }

  static async start(t: Test, options: ClusterOptions = {}): Promise<Deployment> {
    const isSharded = (options.topology ?? 'sharded') === 'sharded'
    const cluster = await ShardedCluster.start({
      runtime: 'inline',
      auth: true,
      seed: 1,
      ...(isSharded ? { shards: 2, balancerRoundIntervalMs: 2 ** 31 - 1 } : {}),
      ...options,
    })
    t.teardown(() => cluster.stop())
    return new Deployment(t, cluster)
  }

  /** @param login null: without a user */
  async connect(login: Login | null = null, uri = this.cluster.uri): Promise<MongoClient> {
    const { user = '', password = '', authSource = 'admin', authMechanism } = login ?? {}
    const client = new MongoClient(uri, {
      serverSelectionTimeoutMS: 3000,
      ...(login === null ? {} : { auth: { username: user, password }, authSource }),
      ...(authMechanism === undefined ? {} : { authMechanism }),
    })
    this.#t.teardown(() => client.close())
    await client.connect()
    return client
  }

  /** Of a replica set or a standalone mongod. */
  async primaryUri(): Promise<string> {
    const hello = await (await this.connect()).db('admin').command({ hello: 1 })
    return `mongodb://${(hello['primary'] as string | undefined) ?? this.cluster.uri.slice('mongodb://'.length)}`
  }

  /** By the localhost exception. */
  async createRoot(): Promise<MongoClient> {
    const first = await this.connect()
    await first.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
    return this.connect({ user: 'root', password: 'secret' })
  }

  /** A user of admin with the password `pass`. */
  async createUser(root: MongoClient, user: string, roles: readonly unknown[], uri?: string): Promise<MongoClient> {
    await root.db('admin').command({ createUser: user, pwd: 'pass', roles })
    return this.connect({ user, password: 'pass' }, uri)
  }
}

/** Of a command that fails. */
export async function failure(command: Promise<unknown>): Promise<{ code: unknown; message: string }> {
  try {
    await command
  } catch (error) {
    if (error instanceof MongoServerError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('the command succeeded')
}

export const statusOf = (client: MongoClient): Promise<Document> => client.db('admin').command({ connectionStatus: 1 })
