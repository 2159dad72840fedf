/**
 * How routers committed: `serverStatus.transactions.commitTypes` (manual:
 * reference/command/serverStatus).
 */
import { MongoClient, type Document } from 'mongodb'
import type { Control } from '../run/control.js'

/** Successful commits by path. */
export type CommitPaths = Readonly<Record<string, number>>

const patienceMs = 1000

export class CommitPathCounters {
  readonly #control: Control
  /** Of each router, if there are several. */
  readonly #routers: readonly MongoClient[]

  private constructor(control: Control, routers: readonly MongoClient[]) {
    this.#control = control
    this.#routers = routers
  }

  static connect(control: Control): CommitPathCounters {
    const { client, hosts, isMongos } = control
    if (!isMongos || hosts.length < 2 || client.options.credentials !== undefined)
      return new CommitPathCounters(control, [])
    const options = {
      ...{ directConnection: true, serverSelectionTimeoutMS: patienceMs, connectTimeoutMS: patienceMs },
      ...{ tls: client.options.tls, maxPoolSize: 1 },
    }
    return new CommitPathCounters(
      control,
      hosts.map((host) => new MongoClient(`mongodb://${host}/`, options)),
    )
  }

  /** Summed over the routers; null: the server is not a router, or does not say it. */
  async read(): Promise<CommitPaths | null> {
    const { client, hosts, isMongos, notLearned } = this.#control
    if (!isMongos) return null
    try {
      if (hosts.length > 1 && this.#routers.length === 0)
        throw new Error('there are several routers, and the user signs in to all of them')
      const routers = this.#routers.length === 0 ? [client] : this.#routers
      const paths: Record<string, number> = {}
      for (const router of routers) {
        const status = await router.db('admin').command({ serverStatus: 1 })
        const types = (status['transactions'] as Document | undefined)?.['commitTypes'] as Document | undefined
        if (types === undefined) throw new Error('serverStatus has no transactions.commitTypes')
        for (const [path, counts] of Object.entries(types))
          paths[path] = (paths[path] ?? 0) + Number((counts as Document)['successful'] ?? 0)
      }
      return paths
    } catch (error) {
      notLearned.add('by which paths transactions committed (serverStatus.transactions)', error)
      return null
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#routers.map((router) => router.close()))
  }
}
