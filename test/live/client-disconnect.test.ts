/** Sockets that are closed while a cluster works for them. */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'

const numbers = { $range: [0, 2000] }
/** On one document this takes hours. */
const endless = {
  aggregate: 'c',
  pipeline: [
    { $project: { a: numbers, b: numbers, c: numbers } },
    { $unwind: '$a' },
    { $unwind: '$b' },
    { $unwind: '$c' },
    { $group: { _id: null, n: { $sum: 1 } } },
  ],
  cursor: {},
  comment: 'endless',
  $db: 'test',
}

async function operations(client: RawClient, localOps: boolean): Promise<Document[]> {
  const { cursor } = (await client.command({
    aggregate: 1,
    pipeline: [{ $currentOp: { localOps } }, { $match: { ns: 'test.c' } }],
    cursor: {},
    $db: 'admin',
  })) as { cursor: { firstBatch: Document[] } }
  return cursor.firstBatch
}

/** Resolves when the router or the shards work for the client. */
async function begun(observer: RawClient, localOps: boolean): Promise<Document[]> {
  for (;;) {
    const running = await operations(observer, localOps)
    if (running.length > 0) return running
  }
}

async function ended(observer: RawClient): Promise<void> {
  for (const localOps of [true, false]) while ((await operations(observer, localOps)).length > 0) continue
}

t.test('operations on routers and shards end with their client', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'threads', hosts: 64 })
  t.teardown(() => cluster.stop())
  const observer = await RawClient.connect(cluster.mongos[0]!)
  t.teardown(() => observer.close())
  await observer.command({ shardCollection: 'test.c', key: { _id: 'hashed' }, $db: 'admin' })
  await observer.command({ insert: 'c', documents: Array.from({ length: 40 }, (_, _id) => ({ _id })), $db: 'test' })

  for (const how of ['closes its connection', 'kills its operation'] as const) {
    const client = await RawClient.connect(cluster.mongos[0]!)
    const answer = client.command(endless).catch((error: Error) => error.message)
    await begun(observer, false)
    const [{ opid }] = (await begun(observer, true)) as [{ opid: number }]
    if (how === 'closes its connection') client.close()
    else {
      await observer.command({ killOp: 1, op: opid, $db: 'admin' })
      t.match(await answer, { ok: 0, code: 11601 })
    }
    await ended(observer)
    t.pass(`the client ${how}`)
    client.close()
    await answer
  }

  const direct = await RawClient.connect(new URL(cluster.shards[0]!.uri).host)
  const answer = direct.command(endless).catch((error: Error) => error.message)
  await begun(observer, false)
  direct.close()
  await ended(observer)
  t.equal(await answer, 'the connection was closed')
})
