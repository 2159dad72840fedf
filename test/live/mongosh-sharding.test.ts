/**
 * The sharding helpers of mongosh on a cluster with fixed data print what is there. One shell per
 * version.
 */
import t from 'tap'
import type { Document } from 'mongodb'
import { TestCluster } from '../support/clusters.js'
import { mongoshOn } from '../support/mongosh.js'

/** Runs in the shell and returns the results, or errors, of all steps by name. */
const script = (steps: Readonly<Record<string, string>>): string => `
  const results = {}
  ${Object.entries(steps)
    .map(
      ([name, code]) => `
  try { results[${JSON.stringify(name)}] = (() => { ${code} })() }
  catch (error) { results[${JSON.stringify(name)}] = { error: error.message, code: error.code, codeName: error.codeName } }`,
    )
    .join('')}
  print(EJSON.stringify(results))`

const steps = {
  enableSharding: `return sh.enableSharding('shop')`,
  shardCollection: `return sh.shardCollection('shop.orders', { customer: 1 })`,
  shardHashed: `return sh.shardCollection('shop.hashed', { _id: 'hashed' })`,
  splitAt: `return sh.splitAt('shop.orders', { customer: 30 })`,
  // Before any document is inserted: orphans would change the counts.
  moveChunk: `return sh.moveChunk('shop.orders', { customer: 80 }, 'shard02')`,
  insert: `
    const shop = db.getSiblingDB('shop')
    shop.orders.insertMany(Array.from({ length: 90 }, (_, i) => ({ _id: i, customer: i, text: 'x'.repeat(100) })))
    shop.hashed.insertMany(Array.from({ length: 60 }, (_, i) => ({ _id: i })))`,
  splitFind: `return sh.splitFind('shop.orders', { customer: 50 })`,
  addShardToZone: `return sh.addShardToZone('shard01', 'near')`,
  updateZoneKeyRange: `return sh.updateZoneKeyRange('shop.orders', { customer: 0 }, { customer: 30 }, 'near')`,
  getBalancerState: `return sh.getBalancerState()`,
  isBalancerRunning: `return sh.isBalancerRunning()`,
  balancerCollectionStatus: `return sh.balancerCollectionStatus('shop.orders')`,
  listShards: `return sh.listShards()`,
  getShardDistribution: `return db.getSiblingDB('shop').orders.getShardDistribution().value`,
  getShardVersion: `return db.getSiblingDB('shop').orders.getShardVersion()`,
  getShardedDataDistribution: `return sh.getShardedDataDistribution().toArray()`,
  stats: `const { sharded, count, shards } = db.getSiblingDB('shop').orders.stats(); return { sharded, count, shards: Object.keys(shards).sort() }`,
  status: `return sh.status().value`,
  verboseStatus: `return sh.status(true).value`,
  stopBalancer: `sh.stopBalancer(); return sh.getBalancerState()`,
  startBalancer: `sh.startBalancer(); return sh.getBalancerState()`,
  disableBalancing: `sh.disableBalancing('shop.orders'); return db.getSiblingDB('config').collections.findOne({ _id: 'shop.orders' }).noBalance`,
  enableBalancing: `sh.enableBalancing('shop.orders'); return db.getSiblingDB('config').collections.findOne({ _id: 'shop.orders' }).noBalance`,
  ensureIndex: `return db.getSiblingDB('shop').orders.ensureIndex({ text: 1 })`,
  configureQueryAnalyzer: `return db.getSiblingDB('shop').orders.configureQueryAnalyzer({ mode: 'off' })`,
  analyzeShardKey: `return db.getSiblingDB('shop').orders.analyzeShardKey({ customer: 1 }, { readWriteDistribution: false })`,
  checkMetadataConsistency: `return sh.checkMetadataConsistency().toArray()`,
  removeRange: `return sh.removeRangeFromZone('shop.orders', { customer: 0 }, { customer: 30 })`,
  removeShardFromZone: `return sh.removeShardFromZone('shard01', 'near')`,
}

const hasShell = mongoshOn('') !== null

for (const version of ['4.4', '7.0'] as const) {
  const isOld = version === '4.4'
  t.test(
    `mongosh's sharding helpers print what is there on ${version}`,
    { timeout: 90_000, ...(hasShell ? {} : { skip: 'mongosh is not installed: npm run clients' }) },
    async (t) => {
      const lab = await TestCluster.start(version, { shards: 3 })
      t.teardown(() => lab.stop())
      const { code, stdout, stderr } = await mongoshOn(lab.cluster.uri)!(script(steps))
      t.equal(code, 0, stderr)
      const results = JSON.parse(stdout.slice(stdout.indexOf('{"'))) as Record<keyof typeof steps, any>

      for (const name of [
        'enableSharding',
        'shardCollection',
        'splitAt',
        'splitFind',
        'moveChunk',
        'addShardToZone',
        'updateZoneKeyRange',
      ] as const)
        t.match(results[name], { ok: 1 }, name)
      t.equal(results.shardCollection.collectionsharded, 'shop.orders')

      const orders = lab.client.db('shop').collection<any>('orders')
      const chunks = await lab.chunks(orders)
      t.equal(chunks.length, 3)
      const placed = await lab.placed(orders)
      const owners = Object.keys(placed)
      const { primary } = (await lab.config
        .collection<Document & { _id: string }>('databases')
        .findOne({ _id: 'shop' }))!
      t.same(new Set(owners), new Set([primary, 'shard02']))

      t.equal(results.getBalancerState, true)
      t.match(results.isBalancerRunning, { mode: 'full', inBalancerRound: false, ok: 1 })
      t.equal(typeof results.balancerCollectionStatus.balancerCompliant, 'boolean')
      t.same(
        results.listShards.map(({ _id, host, state }: Document) => [_id, host, state]),
        lab.cluster.shards.map(({ id, uri }) => [id, `${id}/${new URL(uri.replace('mongodb:', 'http:')).host}`, 1]),
      )
      t.match(results.getShardVersion, { ok: 1 })
      t.match(results.stats, { sharded: true, count: 90, shards: owners })

      const { Totals: totals, ...parts } = results.getShardDistribution
      t.equal(totals.docs, 90)
      t.equal(totals.chunks, 3)
      t.same(
        Object.keys(parts).sort(),
        lab.cluster.shards
          .filter(({ id }) => owners.includes(id))
          .map(({ id, uri }) => `Shard ${id} at ${id}/${new URL(uri.replace('mongodb:', 'http:')).host}`),
      )
      for (const id of owners) {
        const part = Object.entries<any>(parts).find(([name]) => name.startsWith(`Shard ${id} `))![1]
        const count = placed[id]!.length
        t.equal(part.docs, count, `documents on ${id}`)
        t.equal(part.chunks, chunks.filter(({ shard }) => shard === id).length, `chunks on ${id}`)
        t.equal(part['estimated docs per chunk'], Math.floor(count / part.chunks))
        const percent = Math.floor((count / 90) * 10000) / 100
        t.match(totals[`Shard ${id}`], [`${percent} % data`, `${percent} % docs in cluster`, /obj size on shard$/])
      }

      if (isOld) t.match(results.getShardedDataDistribution, { code: 40324 })
      else {
        const ours = results.getShardedDataDistribution.find(({ ns }: Document) => ns === 'shop.orders')
        for (const { shardName, numOwnedDocuments, numOrphanedDocs } of ours.shards)
          t.equal(numOwnedDocuments + numOrphanedDocs, placed[shardName]?.length ?? 0, `distribution on ${shardName}`)
      }

      for (const status of [results.status, results.verboseStatus]) {
        t.equal(status.shardingVersion._id, 1)
        t.equal('currentVersion' in status.shardingVersion, false, 'the shell leaves it out')
        t.same(
          status.shards.map(({ _id }: Document) => _id),
          lab.shardIds,
        )
        t.match(status.balancer, { 'Currently running': 'no' })
        const shop = status.databases.find(({ database }: Document) => database._id === 'shop')
        t.equal(shop.database.primary, primary)
        t.same(Object.keys(shop.collections).sort(), ['shop.hashed', 'shop.orders'])
        const { shardKey, unique, balancing, chunkMetadata, chunks: listed, tags } = shop.collections['shop.orders']
        t.same(shardKey, { customer: 1 })
        t.equal(unique, false)
        t.equal(balancing, true)
        t.same(
          chunkMetadata,
          owners.map((shard) => ({ shard, nChunks: chunks.filter((chunk) => chunk['shard'] === shard).length })),
        )
        t.same(
          listed.map((chunk: Document) => chunk['on shard']),
          chunks.map(({ shard }) => shard),
        )
        t.match(tags, [{ tag: 'near', min: { customer: 0 }, max: { customer: 30 } }])
        t.equal(shop.collections['shop.hashed'].chunkMetadata.length, 3)
      }

      t.equal(results.stopBalancer, false)
      t.equal(results.startBalancer, true)
      t.equal(results.disableBalancing, true)
      t.equal(results.enableBalancing, false)
      t.match(results.ensureIndex, ['text_1'])
      if (isOld) {
        t.match(results.analyzeShardKey, { code: 59 })
        t.match(results.configureQueryAnalyzer, { code: 59 })
        t.match(results.checkMetadataConsistency, { code: 59 })
      } else {
        t.match(results.analyzeShardKey.keyCharacteristics, { isUnique: false })
        t.equal(Number(results.analyzeShardKey.keyCharacteristics.numDistinctValues), 90)
        t.match(results.configureQueryAnalyzer, { ok: 1 })
        t.same(results.checkMetadataConsistency, [])
      }
      t.match(results.removeRange, { ok: 1 })
      t.match(results.removeShardFromZone, { ok: 1 })
    },
  )
}
