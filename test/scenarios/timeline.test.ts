/** What the timeline of a scenario changes: rates, and who belongs to the cluster. */
import { parseScenario, runVariant, type VariantRun } from '@shardlab/scenario'
import t from 'tap'

const run = (text: string): Promise<VariantRun> =>
  runVariant(parseScenario(`version: 1\n${text}`, 'timeline.yaml').variants[0]!)

t.test('a rate holds from when it is set, also after one at which hardly anything comes', async (t) => {
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

t.test('shards that leave at the same time do not give each other their databases', async (t) => {
  const { result, decisions } = await run(`cluster: { shards: 3 }
collections: [{ ns: shop.orders, key: { customer: 1 } }, { ns: shop.notes, key: { _id: 1 }, sharded: false }]
timeline:
  - { at: 1s, do: removeShard, shard: shard01 }
  - { at: 1s, do: removeShard, shard: shard02 }
duration: 5m
`)
  t.same(result.failedSteps, [])
  t.same(
    decisions.filter(({ text }) => text.endsWith('has left')).map(({ text }) => text),
    ['shard02 has left', 'shard01 has left'],
  )
})

t.test('a shard is asked to leave again when nobody could be asked', async (t) => {
  const { result, decisions } = await run(`cluster: { shards: 2 }
collections: [{ ns: shop.orders, key: { customer: 1 } }]
timeline:
  - { at: 1s, do: config unavailable for 40s }
  - { at: 2s, do: removeShard, shard: shard02 }
duration: 3m
`)
  t.same(result.failedSteps, [])
  const texts = decisions.filter(({ kind }) => kind === 'timeline').map(({ text }) => text)
  t.match(texts[1], /^removeShard shard02 will be asked again: .*\(code \d+\)$/)
  t.equal(texts.at(-1), 'shard02 has left')
})
