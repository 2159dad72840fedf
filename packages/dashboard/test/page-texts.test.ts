import t from 'tap'
import { parsed, readable, shortened, strictJson } from '../src/page/json-texts.js'
import { shardPlansIn } from '../src/page/query-plan.js'
import { shHelpersOf } from '../src/page/sh-helpers.js'

t.test('names may be without quotes', async (t) => {
  for (const [typed, strict] of [
    ['', '{}'],
    ['  ', '{}'],
    ['{ customer: 5 }', '{ "customer": 5 }'],
    ['{"a": "b, c: 5"}', '{"a": "b, c: 5"}'],
    ['{ a: { $gte: 1, $lt: 2 }, "b.c": "it\\"s, d: 1" }', '{ "a": { "$gte": 1, "$lt": 2 }, "b.c": "it\\"s, d: 1" }'],
    ['{a:{b:[{c:1},true]}}', '{"a":{"b":[{"c":1},true]}}'],
    ['{ n: 9007199254740993 }', '{ "n": 9007199254740993 }'],
  ])
    t.equal(strictJson(typed!), strict)
  for (const wrong of ['{', '{ a: b }', 'customer', "{ a: 'x' }"]) t.throws(() => strictJson(wrong), SyntaxError)
})

t.test('long texts of documents are shortened', async (t) => {
  t.equal(shortened('{"a":1}'), '{"a":1}')
  const long = 'x'.repeat(50)
  t.equal(shortened(`{"a":"${long}","b":"it\\"s","c":1}`), `{"a":"${'x'.repeat(20)}…","b":"it\\"s","c":1}`)
  const many = JSON.stringify(Array.from({ length: 200 }, (_, i) => i))
  t.equal(shortened(many), `${many.slice(0, 200)}…`)
})

t.test('replies are indented, and their numbers are not changed', async (t) => {
  const reply = '{"n":9007199254740993,"d":5.0,"a":[],"o":{},"l":[1,{"s":"x, {\\"y: 1"}]}'
  const text = readable(reply)
  t.match(text, /^\{\n  "n": 9007199254740993,\n  "d": 5\.0,\n  "a": \[\],\n/)
  t.equal(
    text,
    `{
  "n": 9007199254740993,
  "d": 5.0,
  "a": [],
  "o": {},
  "l": [
    1,
    {
      "s": "x, {\\"y: 1"
    }
  ]
}`,
  )
  t.same(parsed(reply.replace('9007199254740993', '1')), parsed(text.replace('9007199254740993', '1')))
  t.equal(parsed('{"a":1…'), null)
})

t.test('the plan of each shard is read from explain', async (t) => {
  const plan = { stage: 'LIMIT', inputStage: { stage: 'FETCH', inputStage: { stage: 'IXSCAN', indexName: 'a_1' } } }
  const or = { queryPlan: { stage: 'OR', inputStages: [{ stage: 'COLLSCAN' }, { stage: 'IXSCAN', indexName: 'b_1' }] } }
  const shards = [
    { shardName: 'shard01', winningPlan: plan },
    { shardName: 'shard02', winningPlan: or },
  ]
  const statistics = {
    shardName: 'shard01',
    nReturned: 1,
    executionTimeMillis: 2,
    totalKeysExamined: 3,
    totalDocsExamined: 4,
  }
  const reply = {
    queryPlanner: { winningPlan: { stage: 'SHARD_MERGE', shards } },
    executionStats: { executionStages: { shards: [statistics] } },
  }
  t.same(shardPlansIn(reply), [
    {
      ...{ shard: 'shard01', stages: 'LIMIT ← FETCH ← IXSCAN a_1' },
      ...{ keysExamined: 3, documentsExamined: 4, returned: 1, durationMs: 2 },
    },
    {
      ...{ shard: 'shard02', stages: 'OR ← (COLLSCAN + IXSCAN b_1)' },
      ...{ keysExamined: 0, documentsExamined: 0, returned: 0, durationMs: 0 },
    },
  ])
  t.same(shardPlansIn({ clusteredType: 'ParallelSort' }), [])
})

t.test('helpers begin with the collection and its shard key', async (t) => {
  const collection = { ns: 'app.rows', shardKey: '{"a":1,"b":1}', unsplittable: false, balanced: true, zones: [] }
  const commandOf = (name: string, given = collection as typeof collection | null) =>
    shHelpersOf('8.0')
      .find((each) => each.name === name)!
      .command({
        ...{ ns: 'app.rows', collection: given, shards: ['shard01', 'shard02'] },
      })
  t.same(commandOf('sh.splitAt'), { split: 'app.rows', middle: { a: 0, b: 0 } })
  t.same(commandOf('sh.moveChunk'), { moveChunk: 'app.rows', find: { a: 0, b: 0 }, to: 'shard02' })
  t.same(commandOf('sh.shardCollection', null), { shardCollection: 'app.rows', key: { _id: 1 } })
  t.same(commandOf('sh.enableSharding'), { enableSharding: 'app' })
  const counts = ['2.6', '4.0', '4.4', '5.0', '6.0', '7.0', '8.0'].map((emulate) => shHelpersOf(emulate).length)
  t.same(counts, [5, 11, 12, 13, 14, 14, 16], 'releases have the commands that they know')
})
