/** The picture of the dashboard: a cluster with zones, and a migration that a fault holds. */
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { root } from './workspace.mjs'

const ns = 'shop.orders'
const customers = 480
const chunkEvery = 12
/** On shard03, before its next migration is held. */
const chunksBefore = 4
const zones = [
  { zone: 'EU', shard: 'shard02', min: 120, max: 240 },
  { zone: 'US', shard: 'shard04', min: 360, max: 480 },
]

export async function takeDashboardPicture(browser, { path, widthPixels, heightPixels }) {
  const { ShardedCluster } = await import(pathToFileURL(join(root, 'packages/shardlab/dist/src/index.js')).href)
  const cluster = await ShardedCluster.start({
    shards: 4,
    runtime: 'inline',
    seed: 1,
    port: 27017,
    chunkSize: '8KB',
    balancerRoundIntervalMs: 2 ** 31 - 1,
    dashboard: true,
  })
  const client = await MongoClient.connect(cluster.uri)
  try {
    const admin = client.db('admin')
    await admin.command({ shardCollection: ns, key: { customer: 1 } })
    const pad = 'x'.repeat(600)
    const documents = Array.from({ length: customers }, (_, customer) => ({ customer, pad }))
    await client.db('shop').collection('orders').insertMany(documents)
    for (let customer = chunkEvery; customer < customers; customer += chunkEvery)
      await admin.command({ split: ns, middle: { customer } })
    for (const { zone, shard, min, max } of zones) {
      await admin.command({ addShardToZone: shard, zone })
      await admin.command({ updateZoneKeyRange: ns, min: { customer: min }, max: { customer: max }, zone })
    }
    // A round moves one or two of the small chunks, so their number is counted instead of rounds.
    const chunks = client.db('config').collection('chunks')
    while ((await chunks.countDocuments({ shard: 'shard03' })) < chunksBefore) await cluster.balancer.runRound()
    // Before the migration: those that have begun earlier are unknown.
    const page = await browser.newPage({ viewport: { width: widthPixels, height: heightPixels } })
    await page.goto(`${cluster.dashboard}#collections`)
    await page.locator('canvas.chunks').waitFor()
    const orders = client.db('shop').collection('orders')
    // Before the migration, which holds up reads. Some customers order more than others.
    for (let i = 0; i < 4000; i++) await orders.findOne({ customer: (i * i) % 240 })
    await page.getByText('of the operations').first().waitFor()
    const { id } = await cluster.faults.apply('hold at shard.migration.committing first 1')
    const round = cluster.balancer.runRound()
    await cluster.faults.reached(id)
    await page.getByText('1 migration').first().waitFor()
    await page.screenshot({ path })
    await page.close()
    await cluster.faults.heal()
    await round
  } finally {
    await client.close()
    await cluster.stop()
  }
}
