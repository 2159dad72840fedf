/** Errors that a router passes on from a shard, under every version. */
import type { Document } from 'mongodb'
import t from 'tap'
import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { TestClusters } from '../support/clusters.js'

const clusters = new TestClusters({ shards: 2 })
t.teardown(() => clusters.stop())

const isBefore = (version: EmulatedVersion, other: EmulatedVersion): boolean =>
  emulatedVersions.indexOf(version) < emulatedVersions.indexOf(other)

interface Failure {
  readonly code: number
  readonly message: string
}

/** The error of a command, or of the only statement of a write. */
async function failureOf(reply: Promise<Document>): Promise<Failure | null> {
  try {
    const [error] = ((await reply)['writeErrors'] ?? []) as Document[]
    return error === undefined ? null : { code: error['code'], message: error['errmsg'] }
  } catch (error) {
    return error as Failure
  }
}

for (const version of emulatedVersions) {
  t.test(`${version}: writes to names that no collection may have are refused before they write`, async (t) => {
    const db = await (await clusters.at(version)).database()
    const isOld = version === '2.6' || version === '4.0'
    const code = version === '2.6' ? 2 : 73
    const system = `${db.databaseName}.system.foobar`
    for (const [name, message] of [
      ['system.foobar', isOld ? `cannot write to '${system}'` : `Invalid system namespace: ${system}`],
      ['foo$bar', isOld ? 'invalid collection name' : 'Invalid collection name: foo$bar'],
    ] as const) {
      const set = { $set: { a: 1 } }
      const writes: Document[] = [
        { insert: name, documents: [{ _id: 1 }] },
        { update: name, updates: [{ q: {}, u: set }] },
        { update: name, updates: [{ q: {}, u: set, upsert: true }] },
        { update: name, updates: [{ q: {}, u: set, multi: true }] },
        { delete: name, deletes: [{ q: {}, limit: 0 }] },
        { delete: name, deletes: [{ q: {}, limit: 1 }] },
        { findAndModify: name, query: {}, update: set },
        { findAndModify: name, query: {}, remove: true },
      ]
      for (const write of writes) t.match(await failureOf(db.command(write)), { code, message }, JSON.stringify(write))
    }
    t.same(await db.listCollections().toArray(), [])
  })

  t.test(`${version}: cleanupOrphaned of a view is refused`, async (t) => {
    const cluster = await clusters.at(version)
    const db = await cluster.database()
    await db.command({ create: 'c' })
    await db.command({ create: 'v', viewOn: 'c', pipeline: [] })
    const { primary } = (await cluster.config.collection('databases').findOne({ _id: db.databaseName as never }))!
    const shard = (await cluster.shard(primary)).db('admin')
    const cleanUp = (name: string) => failureOf(shard.command({ cleanupOrphaned: `${db.databaseName}.${name}` }))
    t.equal(await cleanUp('c'), null)
    // 2.6 has no views and makes a collection.
    const message = `Namespace ${db.databaseName}.v is a view, not a collection`
    t.match(await cleanUp('v'), version === '2.6' ? null : { code: 166, message })
  })

  t.test(`${version}: a split at a key of more than 512 bytes is refused until 4.0`, async (t) => {
    const cluster = await clusters.at(version)
    const split = (ns: string, length: number) => cluster.admin({ split: ns, middle: { k: 'x'.repeat(length) } })
    const { namespace } = await cluster.spread('c', { k: 1 }, [])
    // The document { k: … } has 13 more bytes than its text.
    t.equal(await failureOf(split(namespace, 499)), null)
    const failure = await failureOf(split(namespace, 500))
    if (isBefore(version, '4.4'))
      t.match(failure, { code: 13334, message: /^shard keys must be less than 512 bytes, but key .* is 513 bytes$/ })
    else t.equal(failure, null)
  })

  t.test(`${version}: errors of $merge and of expressions begin with the text of the version`, async (t) => {
    const db = await (await clusters.at(version)).database()
    await db.command({ insert: 'c', documents: [{ _id: 1, a: 0 }] })
    await db.command({ insert: 'd', documents: [{ _id: 1 }] })
    const prefix = isBefore(version, '4.4')
      ? ''
      : isBefore(version, '8.0')
        ? 'PlanExecutor error during aggregation :: caused by :: '
        : `Executor error during aggregate command on namespace: ${db.databaseName}.c :: caused by :: `
    const aggregate = (...pipeline: Document[]) => failureOf(db.command({ aggregate: 'c', pipeline, cursor: {} }))
    const divided = await aggregate({ $project: { v: { $divide: [1, '$a'] } } })
    t.equal(divided?.message, `${prefix}can't $divide by zero`)
    const merged = await aggregate({ $merge: { into: 'd', whenMatched: 'fail' } })
    if (isBefore(version, '4.4')) t.match(merged, { code: version === '2.6' ? 16436 : 40324 })
    else {
      t.equal(merged?.code, 11000)
      t.equal(merged?.message.slice(0, prefix.length + 7), `${prefix}$merge `)
    }
  })
}
