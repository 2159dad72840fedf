/**
 * Deployments for the tests of `@shardlab/unique`: inline clusters of two versions, or the
 * deployment that `SHARDLAB_TEST_URI` names.
 */
import { MongoClient, type Collection, type Db } from 'mongodb'
import { TestClusters } from '../../support/clusters.js'

export type Loose = Collection<any>

export interface Place {
  readonly title: string
  readonly client: MongoClient
  /** Whether collections can be sharded and there are several shards. */
  readonly sharded: boolean
  database(): Promise<Db>
}

const { SHARDLAB_TEST_URI } = process.env
const clusters = new TestClusters()
const connected: Place[] = []
let databases = 0

export async function places(): Promise<readonly Place[]> {
  if (SHARDLAB_TEST_URI !== undefined) {
    const client = await MongoClient.connect(SHARDLAB_TEST_URI)
    const sharded = (await client.db('admin').command({ hello: 1 }))['msg'] === 'isdbgrid'
    const title = `${client.options.hosts.join()}, ${(await client.db('admin').command({ buildInfo: 1 }))['version']}`
    const run = Date.now().toString(36)
    const database = async (): Promise<Db> => {
      const db = client.db(`unique_${run}_${++databases}`)
      made.push(db)
      return db
    }
    const made: Db[] = []
    connected.push({ title, client, sharded, database })
    closing.push(async () => {
      for (const db of made) await db.dropDatabase()
      await client.close()
    })
  } else {
    for (const version of ['4.4', '7.0'] as const) {
      const cluster = await clusters.at(version)
      connected.push({ title: version, client: cluster.client, sharded: true, database: () => cluster.database() })
    }
    closing.push(() => clusters.stop())
  }
  return [...connected]
}

const closing: (() => Promise<void>)[] = []

export async function leave(): Promise<void> {
  connected.length = 0
  for (const close of closing.splice(0)) await close()
}

/** A collection, on a sharded cluster sharded by a field that is not unique. */
export async function mainCollection(place: Place, name = 'information'): Promise<Loose> {
  const db = await place.database()
  if (place.sharded) {
    const admin = place.client.db('admin')
    await admin.command({ enableSharding: db.databaseName })
    await admin.command({ shardCollection: `${db.databaseName}.${name}`, key: { region: 'hashed' } })
  }
  return db.collection<any>(name)
}
