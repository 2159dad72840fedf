/** Scenarios whose shards and config server have several members. */
import { parseScenario, runVariant, scenarioPage, textReport, type VariantRun } from '@shardlab/scenario'
import { chartOf } from '@shardlab/report/testing'
import t from 'tap'

const parse = (text: string) => parseScenario(`version: 1\n${text}`, 'members.yaml')
const run = (text: string): Promise<VariantRun> => runVariant(parse(text).variants[0]!)

const measured = (members: number, timeline: string): string => `cluster: { shards: 2, members: ${members} }
collections: [{ ns: shop.orders, key: { customer: hashed }, mode: metadata }]
data: [{ ns: shop.orders, size: 2GB, keys: { distribution: uniform, cardinality: 1e6 } }]
workload: [{ ns: shop.orders, rate: 50/s, mix: { insert: 1 }, keys: { distribution: uniform, cardinality: 1e6 } }]
timeline:
  - { at: 1m, do: addShard }
${timeline}
duration: 15m
`

t.test('sizes of mode metadata survive elections, and members that lose their disk', async (t) => {
  const faults = `  - { at: 2m, do: crash the primary of shard01 for 2m }
  - { at: 5m, do: destroy the primary of shard02 for 30s }
  - { at: 8m, do: destroy a secondary of shard02 for 30s }
  - { at: 10m, do: crash the primary of config for 30s }
  - { at: 12m, do: step down the primary of shard03 for 30s }
`
  const { result } = await run(measured(3, faults))
  const { result: calm } = await run(measured(1, ''))
  t.same(result.failedSteps, [])
  t.match(result.replication, { elections: 5, stepDowns: 1 })
  t.ok(result.replication!.longestWithoutPrimaryMs > 8000, 'elections begin after the timeout of the server')
  t.ok(result.migrations.total > 0)
  const bytesOf = ({ shards }: VariantRun['result']): number =>
    Object.values(shards).reduce((sum, { bytes }) => sum + bytes, 0)
  const failedBytes = result.operations.failed * 1024
  t.ok(result.operations.failed > 100, 'operations on a shard without a primary fail')
  const missing = bytesOf(calm) - bytesOf(result)
  t.ok(missing > 0 && missing < 1.5 * failedBytes, `only failed inserts are missing: ${missing} of ${failedBytes}`)
  t.equal(calm.replication, null)
})

t.test('equal scenarios with several members give equal results', async (t) => {
  const text = `cluster: { shards: 2, members: 3 }
collections: [{ ns: a.b, key: { k: hashed } }]
workload: [{ ns: a.b, rate: 5/s, mix: { insert: 1 }, keys: { distribution: uniform } }]
timeline: [{ at: 2s, do: crash the primary of shard02 for 5s }]
duration: 20s
`
  const [first, second] = [await run(text), await run(text)]
  t.same(second.result, first.result)
  t.match(
    first.decisions.filter(({ kind }) => kind === 'replication').map((each) => each.text),
    [/^shard02-[23] is elected primary of shard02 in term 2 with 2 votes \(electionTimeout\)/],
  )
  const file = parse(text)
  t.match(textReport(file, [first]), /elections \/ step-downs +1 \/ 0\n/)
  t.ok(chartOf(scenarioPage(file, [first]), 'Lag of the member that is furthest behind its primary'))
})

t.test('a scenario that names members it does not have is refused', async (t) => {
  const named = (members: number, fault: string): string => `cluster: { shards: 2, members: ${members} }
collections: [{ ns: a.b, key: { k: 1 } }]
timeline: [{ at: 1s, do: ${fault} }]
duration: 20s
`
  parse(named(3, 'crash shard02-3'))
  parse(named(3, 'partition config-1 from the secondaries of config'))
  for (const [members, fault] of [
    [3, 'crash shard02-4'],
    [3, 'crash shard03-1'],
    [1, 'crash shard02-1'],
    [3, 'crash mongos01-1'],
  ] as const)
    t.throws(() => parse(named(members, fault)), { message: /is not a member; members are shards/ }, fault)
  t.throws(() => parse(named(8, 'crash shard01')), { message: /members/ })
  t.throws(() => parse(`${named(3, 'crash shard01')}expect: [shards.shard01-1.bytes > 1MB]\n`), {
    message: /never has a shard shard01-1/,
  })
})
