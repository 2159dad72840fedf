/** Timelines that change rates and shards. */
import { parseScenario, runVariant, type VariantRun } from '@shardlab/scenario'
import t from 'tap'

const run = (text: string): Promise<VariantRun> =>
  runVariant(parseScenario(`version: 1\n${text}`, 'timeline.yaml').variants[0]!)

t.test('a new rate applies at once, also after a rate of almost zero', async (t) => {
  for (const rate of ['1/h', '0/s']) {
    const { result } = await run(`cluster: { shards: 1 }
collections: [{ ns: shop.orders, key: { customer: 1 } }]
workload: [{ ns: shop.orders, rate: ${rate}, mix: { findByKey: 1 }, keys: { distribution: uniform, cardinality: 100 } }]
timeline: [{ at: 10s, do: workload, ns: shop.orders, rate: 20/s }]
duration: 30s
`)
    const { total, failed } = result.operations
    t.ok(total > 300 && total < 500, `${rate}: ${total} of about 400 operations`)
    t.equal(failed, 0)
  }
})

t.test("shards that are removed at the same time do not get each other's databases", async (t) => {
  const { result, decisions } = await run(`cluster: { shards: 3 }
collections: [{ ns: shop.orders, key: { customer: 1 } }, { ns: shop.notes, key: { _id: 1 }, sharded: false }]
timeline:
  - { at: 1s, do: removeShard, shard: shard01 }
  - { at: 1s, do: removeShard, shard: shard02 }
duration: 5m
`)
  t.same(result.failedSteps, [])
  t.same(
    decisions.filter(({ text }) => text.endsWith('is removed')).map(({ text }) => text),
    ['shard02 is removed', 'shard01 is removed'],
  )
})

t.test('removeShard is retried while the config server is unavailable', async (t) => {
  const { result, decisions } = await run(`cluster: { shards: 2 }
collections: [{ ns: shop.orders, key: { customer: 1 } }]
timeline:
  - { at: 1s, do: config unavailable for 40s }
  - { at: 2s, do: removeShard, shard: shard02 }
duration: 3m
`)
  t.same(result.failedSteps, [])
  const texts = decisions.filter(({ kind }) => kind === 'timeline').map(({ text }) => text)
  t.match(texts[1], /^removeShard shard02 is retried: .*\(code \d+\)$/)
  t.equal(texts.at(-1), 'shard02 is removed')
})
