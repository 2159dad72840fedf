/**
 * The memory of dropped data, finished writes and closed cursors is released. The cluster has a
 * process of its own. With SHARDLAB_LONG=1: a soak of eight minutes, and 500,000 inserts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import t, { type Test } from 'tap'
import { ClusterProcess } from '../support/cluster-process.js'
import { createFillReadDrop, insertLargeMessages, insertRetryably, moveChunks } from '../support/memory-workloads.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const soakMs = 8 * 60_000
/** Idle threads collect their garbage within seconds, after a long load within a minute. */
const settledWithinMs = 120_000

async function connect(t: Test): Promise<{ cluster: ClusterProcess; client: MongoClient; startMb: number }> {
  const cluster = await ClusterProcess.start()
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster[Symbol.asyncDispose]()
  })
  return { cluster, client, startMb: await residentMb(cluster) }
}

async function residentMb(cluster: ClusterProcess): Promise<number> {
  return (await cluster.memory()).residentBytes / 2 ** 20
}

/** Of three members that have written much: 4 MB in memory, and in both areas of the disk. */
const oplogsMb = 3 * 3 * 4

/** Waits until memory is within the limit. */
async function checkSettles(t: Test, cluster: ClusterProcess, startMb: number, growthMbMax: number): Promise<void> {
  const peakMb = await residentMb(cluster)
  const endMs = performance.now() + settledWithinMs
  let nowMb = peakMb
  while (nowMb - startMb > growthMbMax && performance.now() < endMs) {
    await sleep(500)
    nowMb = await residentMb(cluster)
  }
  const [start, peak, now] = [startMb, peakMb, nowMb].map(Math.round)
  t.ok(nowMb - startMb <= growthMbMax, `resident ${start} MB, ${peak} MB under load, ${now} MB afterwards`)
}

t.test('collections that come and go, with open cursors, leave no memory behind', async (t) => {
  const { cluster, client, startMb } = await connect(t)
  for (let round = 0; round < 16; round++) await createFillReadDrop(client, round)
  const { metrics } = await client.db('admin').command({ serverStatus: 1 })
  t.ok(metrics.cursor.open.total > 50, `${metrics.cursor.open.total} cursors are open`)
  await checkSettles(t, cluster, startMb, 100)
})

t.test(
  'a soak of eight minutes ends within 150 MB of its start',
  { skip: !isLong && 'takes ten minutes: SHARDLAB_LONG=1' },
  async (t) => {
    t.setTimeout(2 * soakMs)
    const { cluster, client, startMb } = await connect(t)
    const endMs = performance.now() + soakMs
    let round = 0
    const work = async (): Promise<void> => {
      while (performance.now() < endMs) await createFillReadDrop(client, round++)
    }
    await Promise.all([work(), work()])
    t.comment(`${round} rounds`)
    await checkSettles(t, cluster, startMb, 150)
  },
)

t.test(
  'most memory of ten inserts of 46 MB is released when their database is dropped',
  { skip: !isLong && 'takes half a minute: SHARDLAB_LONG=1' },
  async (t) => {
    t.setTimeout(300_000)
    const { cluster, client, startMb } = await connect(t)
    await insertLargeMessages(client, 'dropped.rows', 10)
    await client.db('dropped').dropDatabase()
    await checkSettles(t, cluster, startMb, 400)
  },
)

const inserts = isLong ? 500_000 : 50_000

t.test(`the memory of ${inserts} retryable inserts is released when their database is dropped`, async (t) => {
  t.setTimeout(300_000)
  const { cluster, client, startMb } = await connect(t)
  await insertRetryably(client, 'dropped.rows', inserts)
  await client.db('dropped').dropDatabase()
  await checkSettles(t, cluster, startMb, 100)
})

const moves = isLong ? 700 : 50

t.test(`the memory of ${moves} moves of chunks is released when their database is dropped`, async (t) => {
  t.setTimeout(300_000)
  const { cluster, client, startMb } = await connect(t)
  await moveChunks(client, 'dropped.rows', moves)
  await client.db('dropped').dropDatabase()
  await checkSettles(t, cluster, startMb, 150 + oplogsMb)
})
