/** The resharding helpers of mongosh. */
import t from 'tap'
import { TestCluster } from '../support/clusters.js'
import { mongoshOn } from '../support/mongosh.js'

/** Runs in the shell; prints one line of JSON. */
const steps = `
const result = {}
const attempt = (name, work) => {
  try {
    result[name] = work().ok
  } catch (error) {
    result[name] = error.code
  }
}
const app = db.getSiblingDB('app')
sh.shardCollection('app.c', { k: 1 })
app.c.insertMany(Array.from({ length: 500 }, (_, i) => ({ k: i, m: (i * 7) % 500 })))
attempt('reshard', () => sh.reshardCollection('app.c', { m: 1 }, false, { numInitialChunks: 4 }))
attempt('abort', () => sh.abortReshardCollection('app.c'))
attempt('commit', () => sh.commitReshardCollection('app.c'))
app.d.createIndex({ k: 1 })
app.d.insertMany(Array.from({ length: 500 }, (_, i) => ({ k: i })))
attempt('distribute', () => sh.shardAndDistributeCollection('app.d', { k: 1 }, false, { numInitialChunks: 6 }))
if (sh.moveCollection !== undefined) {
  app.plain.insertMany([{ _id: 1 }, { _id: 2 }])
  attempt('move', () => sh.moveCollection('app.plain', 'shard02'))
  attempt('abortMove', () => sh.abortMoveCollection('app.plain'))
  attempt('unshard', () => sh.unshardCollection('app.d', 'shard03'))
  attempt('abortUnshard', () => sh.abortUnshardCollection('app.d'))
  result.plain = app.plain.countDocuments()
  const { databases } = sh.status().value
  result.listed = Object.keys(databases.find(({ database }) => database._id === 'app').collections)
}
const config = db.getSiblingDB('config')
const shardsOf = (ns) => new Set(config.chunks.find({ uuid: config.collections.findOne({ _id: ns }).uuid }).toArray().map(({ shard }) => shard)).size
result.shards = [shardsOf('app.c'), config.collections.findOne({ _id: 'app.d' }) === null ? 0 : shardsOf('app.d')]
result.key = Object.keys(config.collections.findOne({ _id: 'app.c' }).key)
result.count = app.c.countDocuments()
console.log(JSON.stringify(result))
`

const shell = mongoshOn('mongodb://127.0.0.1:1/')

for (const [version, distributed] of [
  ['7.0', false],
  ['8.0', true],
] as const) {
  t.test(version, { skip: shell === null ? 'mongosh is not installed' : false }, async (t) => {
    const world = await TestCluster.start(version)
    t.teardown(() => world.stop())
    await world.admin({ enableSharding: 'app', primaryShard: 'shard01' })
    const { stdout, stderr } = await mongoshOn(world.cluster.uri)!(steps)
    t.equal(stderr, '')
    const result = JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, unknown>
    t.match(result, { reshard: 1, abort: 339, commit: 339, key: ['m'], count: 500 })
    // The shell passes its options to shardCollection too, which before 7.2 rejects chunk options
    // for such a collection.
    t.equal(result['distribute'], distributed ? 1 : 72)
    t.same(result['shards'], [3, distributed ? 1 : 0])
    const moves = distributed
      ? { move: 1, abortMove: 339, unshard: 1, abortUnshard: 339 }
      : { move: 59, abortMove: 59, unshard: 59, abortUnshard: 59 }
    t.match(result, { ...moves, plain: 2, listed: ['app.c'] }, 'sh.status() lists the sharded collections')
  })
}
