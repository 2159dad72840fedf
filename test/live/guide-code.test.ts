/** The TypeScript of README.md and of the guides runs unchanged and prints what the pages show. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { BSON, MongoClient } from 'mongodb'
import { expectTargeted, ShardedCluster, type ClusterOptions } from 'shardlab'
import t, { type Test } from 'tap'

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<unknown>

/** Replacements for code that a guide omits, by the first words after the mark of omission. */
const leftOut: Record<string, string> = {
  'shard shop.orders': `{
    const client = await MongoClient.connect(cluster.uri)
    await client.db('admin').command({ enableSharding: 'shop', primaryShard: 'shard01' })
    await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 1 } })
    const text = 'x'.repeat(473)
    await client.db('shop').collection('orders').insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id, customer: _id, text })))
    await client.close()
  }`,
  'the tests': '',
}

/**
 * Runs the blocks of a page in order; blocks share their declarations. Resolves with the number of
 * blocks.
 */
async function play(t: Test, page: string, options: ClusterOptions = {}): Promise<number> {
  const text = readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!)
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-guide-'))
  const clusters: ShardedCluster[] = []
  const started = (cluster: ShardedCluster): ShardedCluster => {
    clusters.push(cluster)
    const fork = cluster.fork.bind(cluster)
    cluster.fork = async (...args) => started(await fork(...args))
    return cluster
  }
  // Inline, because that starts fastest, and on free ports.
  const start = async ({ port: _port, ...rest }: ClusterOptions = {}): Promise<ShardedCluster> =>
    started(await ShardedCluster.start({ ...('from' in rest ? {} : { runtime: 'inline' }), ...rest }))
  const clients: MongoClient[] = []
  const connect = async (uri: string): Promise<MongoClient> => {
    const client = await MongoClient.connect(uri)
    clients.push(client)
    return client
  }
  const printed: string[] = []
  const cluster = await start(options)
  const scope: Record<string, any> = {
    ...{
      cluster,
      expectTargeted,
      ShardedCluster: { start },
      BSON,
      MongoClient: { connect },
      client: await connect(cluster.uri),
    },
    console: {
      log: (...values: unknown[]) =>
        printed.push(values.map((each) => (typeof each === 'string' ? each : inspect(each))).join(' ')),
    },
    process: { env: {} },
    fill: async (uri: string) => {
      const own = await MongoClient.connect(uri)
      await own.db('shop').collection('orders').insertOne({ customer: 'ada' })
      await own.close()
    },
    beforeEach: (prepare: () => unknown) => prepare(),
    orders: {
      findOne: async (filter: object) =>
        (await connect(scope['cluster'].uri)).db('shop').collection('orders').findOne(filter),
    },
  }
  t.teardown(async () => {
    for (const client of clients) await client.close()
    for (const each of clusters) await each.stop()
    rmSync(folder, { recursive: true })
  })
  for (const block of blocks) {
    for (const [, names = '', from = ''] of block.matchAll(/^import \{ (.+) \} from '(.+)'$/gm))
      for (const name of names.split(', ')) t.ok(name in (await import(from)), `${from} has ${name}`)
    const code = block
      .replaceAll(/^import .+$/gm, '')
      .replaceAll(/^\/\/ … (\w+ [\w.]+).*$/gm, (line, words: string) => leftOut[words] ?? line)
      .replaceAll('=> …', '=> {}')
      .replaceAll(/(\.collection)<\{.+?\}>/g, '$1')
      .replaceAll("'filled.snapshot'", JSON.stringify(join(folder, 'filled.snapshot')))
      .replaceAll("dbPath: 'data'", `dbPath: ${JSON.stringify(join(folder, 'data'))}`)
      .replaceAll(/^(?:await using|const) \{ (\w+) \} = (.+)$/gm, 'scope.$1 = ($2).$1')
      .replaceAll(/^(?:await using|const) (\w+) = /gm, 'scope.$1 = ')
    printed.length = 0
    await t.resolves(new AsyncFunction('scope', `with (scope) { ${code} }`)(scope), block)
    // In output that is shown next to or below a line that prints, numbers and ports may differ.
    const wanted = [...block.matchAll(/^console\.log\(.+\)(?: +|\n)\/\/ (.+)$/gm)].map(([, line]) => line!)
    if (wanted.length > 0) t.same(printed.map(comparable), wanted.map(comparable))
  }
  return blocks.length
}

const comparable = (line: string): string =>
  line
    .replaceAll(/(127\.0\.0\.1:)[\d…]+/g, '$1N')
    .replaceAll(/\b\d{6,}\b/g, 'N')
    .replaceAll(/\bshard0\d/g, 'shardN')

const guides: [page: string, blocks: number, options?: ClusterOptions][] = [
  ['README.md', 1],
  ['docs/guides/start.md', 2],
  ['docs/guides/is-my-query-targeted.md', 1],
  ['docs/guides/watch-the-balancer.md', 3],
  ['docs/guides/add-and-remove-shards.md', 2, { shards: 2 }],
  ['docs/guides/your-test-suite.md', 2],
  ['docs/guides/users.md', 3],
  ['docs/guides/other-machines.md', 1],
  ['docs/guides/copy-a-cluster.md', 5],
  ['docs/guides/durable-data.md', 1],
  ['docs/guides/break-a-shard.md', 3],
  ['docs/guides/stop-clusters.md', 1],
  ['docs/guides/replica-set.md', 4, { topology: 'replica-set', members: 3 }],
  ['docs/guides/tail-a-sharded-collection.md', 5, { shards: 2 }],
  ['docs/guides/transactions.md', 3],
  ['docs/guides/split-brain.md', 5, { topology: 'replica-set', members: 3 }],
]
for (const [page, blocks, options] of guides) t.test(page, async (t) => t.equal(await play(t, page, options), blocks))
