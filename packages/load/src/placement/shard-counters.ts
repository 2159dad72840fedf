/** `serverStatus.opcounters` of each reachable shard (manual: reference/command/serverStatus). */
import { MongoClient, type Document } from 'mongodb'
import type { Control } from '../run/control.js'

export type Opcounters = Readonly<Record<string, number>>

const patienceMs = 1000

/** None if only the mongos accepts the user's password. */
export class ShardCounters {
  readonly #direct: readonly (readonly [id: string, client: MongoClient])[]

  private constructor(direct: readonly (readonly [string, MongoClient])[]) {
    this.#direct = direct
  }

  static async connect({ client, isMongos, notLearned }: Control): Promise<ShardCounters> {
    if (!isMongos) return new ShardCounters([])
    const missing = (of: string, why: unknown): void =>
      notLearned.add(`what ${of} counted (serverStatus.opcounters)`, why)
    if (client.options.credentials !== undefined) {
      missing('the shards themselves', 'a user of the mongos is none of theirs')
      return new ShardCounters([])
    }
    const shards = await client
      .db('config')
      .collection<Document & { _id: string }>('shards')
      .find({})
      .toArray()
      .catch((error: unknown) => {
        missing('the shards themselves', error)
        return []
      })
    const direct = await Promise.all(
      shards.map(async (shard) => {
        // `name/host:port,host:port`, or `host:port` alone.
        const host = String(shard['host'])
          .replace(/^[^/]*\//, '')
          .split(',')[0]!
        const direct = new MongoClient(`mongodb://${host}/?directConnection=true`, {
          ...{
            serverSelectionTimeoutMS: patienceMs,
            connectTimeoutMS: patienceMs,
            tls: client.options.tls,
            maxPoolSize: 1,
          },
        })
        return direct.connect().then(
          () => [[shard._id, direct] as const],
          async (error: unknown) => {
            missing(`${shard._id} itself`, error)
            await direct.close()
            return []
          },
        )
      }),
    )
    return new ShardCounters(direct.flat())
  }

  /** By shard id. Shards that do not reply are missing. */
  async read(): Promise<ReadonlyMap<string, Opcounters>> {
    const counted = await Promise.all(
      this.#direct.map(async ([id, client]) => {
        const status = await client
          .db('admin')
          .command({ serverStatus: 1 })
          .catch(() => null)
        const counters = status?.['opcounters'] as Document | undefined
        if (counters === undefined) return []
        return [[id, Object.fromEntries(Object.entries(counters).filter(([, n]) => typeof n === 'number'))] as const]
      }),
    )
    return new Map(counted.flat())
  }

  async close(): Promise<void> {
    await Promise.all(this.#direct.map(([, client]) => client.close()))
  }
}

export function risenBy(before: Opcounters | undefined, after: Opcounters | undefined): Opcounters | null {
  if (before === undefined || after === undefined) return null
  const names = Object.keys(after).filter((name) => name in before)
  // Counters of a shard that restarted in between began at zero.
  return Object.fromEntries(
    names.map((name) => [name, after[name]! >= before[name]! ? after[name]! - before[name]! : after[name]!]),
  )
}
