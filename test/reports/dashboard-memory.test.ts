// Own process: the test measures the heap of this file alone.

/** A page of the dashboard that is left open for an hour of virtual time. */
import { MongoClient } from 'mongodb'
import type { Page } from 'playwright-core'
import t from 'tap'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ShardedCluster } from 'shardlab'
import { onPage, options } from './support/dashboard-page.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const minuteMs = 60_000
/** When the buffers of the page are full: it keeps operations of two minutes and 500 events. */
const warmMinutes = 10
const minutes = 60
const documents = 300
const views = ['Collections', 'Operations', 'Balancer', 'Data', 'Cluster', 'Faults']

/** Allowed growth from minute 10 to minute 60, of some 4 MB and 80 MB. */
const pageBytesMax = 1024 * 1024
const processBytesMax = 4 * 1024 * 1024
const nodesMax = 500

interface Used {
  readonly pageBytes: number
  readonly pageNodes: number
  readonly processBytes: number
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// The flag of a process would also be that of worker threads.
setFlagsFromString('--no-expose-gc')

async function usedBy(page: Page): Promise<Used> {
  const session = await page.context().newCDPSession(page)
  // What a first collection releases may hold what a second one does.
  for (let round = 0; round < 3; round++) {
    await session.send('HeapProfiler.collectGarbage')
    collectGarbage()
  }
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  await session.detach()
  return { pageBytes: usedSize, pageNodes: nodes, processBytes: process.memoryUsage().heapUsed }
}

const skip = isLong ? {} : { skip: 'takes some minutes: SHARDLAB_LONG=1' }

t.test(
  'a page that is open for an hour of load needs no more memory at its end',
  { ...options, ...skip },
  async (t) => {
    t.setTimeout(1_800_000)
    await using cluster = await ShardedCluster.start({
      ...{ runtime: 'inline', clock: 'manual', seed: 1, shards: 3, dashboard: true },
      // Otherwise the logs of the members grow.
      ...{ oplogSize: '64KB', balancerRoundIntervalMs: 10_000 },
    })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(() => client.close())
    const admin = client.db('admin')
    const orders = client.db('shop').collection<{ customer: number; n: number }>('orders')
    await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
    for (let customer = 20; customer < documents; customer += 20)
      await admin.command({ split: 'shop.orders', middle: { customer } })
    await orders.insertMany(Array.from({ length: documents }, (_, customer) => ({ customer, n: 0 })))
    let n = 0
    const second = async (): Promise<void> => {
      for (let i = 0; i < 2; i++) await orders.findOne({ customer: n++ % documents })
      await orders.updateOne({ customer: n % documents }, { $inc: { n: 1 } })
      if (n % 10 === 0) await orders.findOne({ n: -1 })
      await cluster.faults.apply(`slow disk of shard02 by ${1 + (n % 3)}ms for 500ms`)
      await cluster.advance(1000)
    }
    await onPage(t, cluster.dashboard!, async (page) => {
      const show = async (view: string): Promise<void> => {
        await page.locator('nav a', { hasText: view }).click()
        await page.locator('h1', { hasText: view }).waitFor()
      }
      const beganMs = cluster.now()
      /** Also a migration and another view. */
      const minute = async (number: number): Promise<void> => {
        await show(views[number % views.length]!)
        const to = `shard0${1 + (number % 3)}`
        await admin.command({ moveChunk: 'shop.orders', find: { customer: 20 * (number % 15) }, to })
        while (cluster.now() < beganMs + number * minuteMs) await second()
      }
      /** After the page has shown everything up to now. */
      const measured = async (): Promise<Used> => {
        await show('Faults')
        const { id } = await cluster.faults.apply(`slow disk of shard01 by ${n}ms`)
        await page.locator('.faults li', { hasText: `slow disk of shard01 by ${n}ms` }).waitFor()
        await cluster.faults.heal(id)
        await page.locator('.faults').waitFor({ state: 'detached' })
        return usedBy(page)
      }
      for (let number = 1; number <= warmMinutes; number++) await minute(number)
      const warm = await measured()
      for (let number = warmMinutes + 1; number <= minutes; number++) await minute(number)
      const end = await measured()
      t.ok(n > 5000, `${n} reads`)
      t.comment(JSON.stringify({ warm, end }))
      const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`
      const grown = (of: keyof Used): number => end[of] - warm[of]
      t.ok(
        grown('pageBytes') <= pageBytesMax,
        `the page grew from ${megabytes(warm.pageBytes)} to ${megabytes(end.pageBytes)}`,
      )
      t.ok(grown('pageNodes') <= nodesMax, `the page grew from ${warm.pageNodes} to ${end.pageNodes} nodes`)
      t.ok(
        grown('processBytes') <= processBytesMax,
        `the process grew from ${megabytes(warm.processBytes)} to ${megabytes(end.processBytes)}`,
      )
    })
  },
)
