/** `$changeStreamSplitLargeEvent` through a router, with the official driver. */
import t from 'tap'
import { MongoClient, type Document, type ResumeToken } from 'mongodb'
import { ShardedCluster } from 'shardlab'

const split = { $changeStreamSplitLargeEvent: {} }
const isLong = process.env['SHARDLAB_LONG'] === '1'
const letters = 'a'.repeat(9 * 1024 * 1024)

/** Long runs read each version's events with both. */
const fullDocuments = {
  '6.0': isLong ? ['required', 'updateLookup'] : ['required'],
  '7.0': isLong ? ['required', 'updateLookup'] : ['updateLookup'],
}

for (const emulate of ['6.0', '7.0'] as const)
  t.test(`a router returns large events in fragments and resumes after each (${emulate})`, async (t) => {
    const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', emulate })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    const db = client.db('app')
    await db.createCollection('c', { changeStreamPreAndPostImages: { enabled: true } })
    await client.db('admin').command({ shardCollection: 'app.c', key: { k: 1 } })
    const c = db.collection<{ _id: number; k: number; letters?: string; n?: number }>('c')
    await c.insertOne({ _id: 1, k: 1, letters })
    // The oplog drops the large entry, and keeps what follows.
    for (const _id of [-1, -2]) await c.insertOne({ _id, k: 1 })
    const opened = c.watch([], { maxAwaitTimeMS: 10 })
    await opened.tryNext()
    const start = opened.resumeToken
    await opened.close()
    await c.updateOne({ _id: 1, k: 1 }, { $set: { n: 1 } })
    await c.insertOne({ _id: 2, k: 2 })

    for (const fullDocument of fullDocuments[emulate]) {
      const options = { fullDocument, fullDocumentBeforeChange: 'required' }
      const read = async (resumeAfter: ResumeToken, stages: Document[]) => {
        const stream = c.watch(stages, { ...options, resumeAfter })
        const events: Document[] = []
        try {
          while (events.at(-1)?.['documentKey']?._id !== 2) events.push(await stream.next())
          return events
        } finally {
          await stream.close()
        }
      }
      const events = await read(start, [split])
      t.match(events, [
        { splitEvent: { fragment: 1, of: 2 }, operationType: 'update', fullDocument: { n: 1 } },
        { splitEvent: { fragment: 2, of: 2 }, fullDocumentBeforeChange: { k: 1 } },
        { operationType: 'insert' },
      ])
      t.equal(events.length, 3)
      for (const [i, { _id }] of events.slice(0, 2).entries())
        t.same(
          (await read(_id as ResumeToken, [split])).map((event) => event['_id'] as Document),
          events.slice(i + 1).map((event) => event['_id'] as Document),
          `resuming after fragment ${i + 1} with ${fullDocument}`,
        )
      await t.rejects(read(start, []), { code: 10334 })
      await t.rejects(read(events[1]!['_id'] as ResumeToken, []), { code: 280 })
      await t.rejects(read(events[1]!['_id'] as ResumeToken, [{ $unset: 'fullDocument' }, split]), { code: 280 })
      const small = await read(start, [{ $unset: ['fullDocument.letters', 'fullDocumentBeforeChange'] }, split])
      t.match(small, [{ fullDocument: { n: 1 } }, { operationType: 'insert' }])
    }
  })
