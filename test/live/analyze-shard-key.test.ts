/**
 * Runs the shard key analysis and the sampling switch of the guide in mongosh: the output equals
 * the guide's.
 */
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { ShardedCluster } from 'shardlab'
import { blocksOf } from '../support/guide-shell.js'
import { mongoshOn } from '../support/mongosh.js'

const guide = await readFile(new URL('../../../docs/guides/choose-a-shard-key.md', import.meta.url), 'utf8')

const skipped = mongoshOn('') === null ? { skip: 'mongosh is not installed: npm run clients' } : {}

t.test(
  'db.collection.analyzeShardKey() and configureQueryAnalyzer() print what the guide shows',
  skipped,
  async (t) => {
    const cluster = await ShardedCluster.start({ runtime: 'inline', shards: 2 })
    t.teardown(() => cluster.stop())
    const blocks = blocksOf(guide)
    const untilSampled = blocks.slice(0, blocks.findIndex(({ code }) => code.includes("mode: 'full'")) + 1)
    const code = untilSampled
      .map((block) => (block.output === null ? block.code : `console.log(${block.code})`))
      .join('\n')
    const { stdout, stderr } = await mongoshOn(cluster.uri)!(`db = db.getSiblingDB('shop')\n${code}`)
    t.equal(stderr, '')
    t.equal(stdout.trim(), untilSampled.flatMap(({ output }) => output ?? []).join('\n'))
  },
)
