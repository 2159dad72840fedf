import t from 'tap'
import { encode, encodeKeyString, fieldsOf, hashedKeyValue, Long, MinKey, toRawValue } from '@shardlab/bson'
import {
  Journal,
  LaneJournal,
  latenciesInCriticalSections,
  parseWorkload,
  Placement,
  Schedule,
  type Plan,
  type PlacementData,
} from '@shardlab/load'

const workload = parseWorkload(
  `name: w
records: 300
shardKey: { group: 1, _id: 1 }
record: { group: { $key: { div: 10 } }, note: { $text: 12 } }
operations:
  one: { do: findOne, by: [group, _id] }
  group: { do: find, by: [group] }
  id: { do: findOne, by: [_id] }
  near: { do: find, range: { field: group, width: 2 } }
  wide: { do: find, range: { field: group, width: 12 } }
  rest: { do: find, range: { field: group } }
  insert: { do: insert }
  bulk: { do: bulkInsert, documents: 120 }
  upsert: { do: upsert }
`,
  'w.yaml',
)
const planOf = (name: string, key: number): Plan => ({
  cycle: 0,
  operation: workload.operations.find((operation) => operation.name === name)!,
  key,
  field: 0,
  limit: 0,
  keys: [],
})
const bound = (group: unknown) => encode({ group, _id: new MinKey() })
const data: PlacementData = {
  isRouted: true,
  isKnown: true,
  shards: ['a', 'b', 'c', 'idle'],
  key: [
    { field: 'group', hashed: false },
    { field: '_id', hashed: false },
  ],
  bounds: [bound(new MinKey()), bound(10), bound(20)],
  owners: [0, 1, 2],
  primary: 3,
}

t.test('operations on a ranged key are classified by chunks', async (t) => {
  const placement = new Placement(data, workload)
  const cases: [string, number, string, number[]][] = [
    ['one', 0, 'targeted', [0]],
    ['one', 99, 'targeted', [0]],
    ['one', 100, 'targeted', [1]],
    ['one', 299, 'targeted', [2]],
    ['group', 150, 'targeted', [1]],
    ['group', 100, 'targeted', [1]],
    ['id', 150, 'broadcast', [0, 1, 2]],
    ['near', 150, 'targeted', [1]],
    // Groups 8 to 10, which is not included.
    ['near', 80, 'targeted', [0]],
    ['near', 90, 'multi', [0, 1]],
    ['wide', 0, 'multi', [0, 1]],
    ['wide', 90, 'broadcast', [0, 1, 2]],
    ['rest', 0, 'broadcast', [0, 1, 2]],
    ['rest', 100, 'multi', [1, 2]],
    ['rest', 250, 'targeted', [2]],
    ['insert', 305, 'targeted', [2]],
    ['upsert', 105, 'targeted', [1]],
    ['bulk', 0, 'multi', [0, 1]],
    ['bulk', 210, 'targeted', [2]],
  ]
  for (const [name, key, routingClass, shards] of cases) {
    // The second time, the answer comes from the cache.
    for (let i = 0; i < 2; i++)
      t.same(placement.targetOf(planOf(name, key)), { routingClass, shards }, `${name} ${key}`)
  }
})

t.test('operations on hashed, unsharded and unrouted collections are classified', async (t) => {
  const hashed = new Placement(
    {
      ...data,
      key: [{ field: 'group', hashed: true }],
      bounds: [encode({ group: new MinKey() }), encode({ group: Long.fromBigInt(0n) })],
      owners: [0, 1],
    },
    workload,
  )
  for (let key = 0; key < 300; key += 10) {
    const hash = hashedKeyValue(toRawValue(key / 10)).asBigInt()
    t.same(hashed.targetOf(planOf('group', key)), { routingClass: 'targeted', shards: [hash < 0n ? 0 : 1] })
  }
  t.same(
    hashed.targetOf(planOf('near', 0)),
    { routingClass: 'broadcast', shards: [0, 1] },
    'a range of a hashed field goes everywhere',
  )
  t.same(new Placement({ ...data, key: null }, workload).targetOf(planOf('id', 0)), {
    routingClass: 'targeted',
    shards: [3],
  })
  t.same(new Placement({ ...data, isRouted: false }, workload).targetOf(planOf('id', 0)), {
    routingClass: 'unrouted',
    shards: [],
  })
})

t.test('operations that overlap a critical section of their key are found', async (t) => {
  const schedule = new Schedule(workload)
  schedule.begin(0, null)
  const journal = new LaneJournal(0, 1)
  const keyString = (group: unknown) => encodeKeyString(fieldsOf(bound(group)).map(([, value]) => value))
  // The chunk of shard b moves between 1,000 and 2,000.
  const sections = [{ fromUs: 1000, toUs: 2000, min: keyString(10), max: keyString(20) }]
  let wanted = 0
  for (let cycle = 0; cycle < 1000; cycle++) {
    const { operation, key } = schedule.plan(cycle)
    const [startUs, endUs] = cycle % 3 === 0 ? [100, 900] : cycle % 3 === 1 ? [900, 1500] : [2100, 2200]
    journal.note(cycle, true, null, startUs, endUs)
    const byKey = operation.newRecords === 1 || operation.name === 'one'
    const group = Math.floor(key / 10)
    if (cycle % 3 === 1 && (!byKey || (group >= 10 && group < 20))) wanted++
  }
  const histogram = latenciesInCriticalSections(sections, schedule, new Journal([journal.data()]), data, {
    from: 0,
    to: 1000,
  })
  t.ok(wanted > 0)
  t.equal(histogram.totalCount, wanted)
  t.equal(histogram.maxValue, 600)
  t.equal(
    latenciesInCriticalSections([], schedule, new Journal([journal.data()]), data, { from: 0, to: 1000 }).totalCount,
    0,
  )
})
