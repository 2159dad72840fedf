import t from 'tap'
import {
  blockCycles,
  builtInWorkload,
  builtInWorkloads,
  compileWorkload,
  distributionNames,
  distributionOf,
  parseWorkload,
  Schedule,
  dueBefore,
  startOffsetUs,
  zetaOf,
  zipfian,
  type Workload,
} from '@shardlab/load'

const shape = { fieldCount: 10, fieldLength: 100 }
const seed = Number(process.env['SHARDLAB_SEED'] ?? 20_261_121)
const draws = 100_000
/** Independent of the generators under test. */
function* uniforms(count: number): Generator<number> {
  let state = seed >>> 0
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 4294967296
  }
}

function histogram(name: (typeof distributionNames)[number], records: number, newest = records - 1): number[] {
  const counts: number[] = new Array(records).fill(0)
  const pick = distributionOf(name, records)
  let cycle = 0
  for (const u of uniforms(draws)) {
    const key = pick(u, cycle++, newest)
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

t.test(`distributions have their shape, seed ${seed}`, async (t) => {
  const records = 1000
  const near = (actual: number, wanted: number, name: string, tolerance = 0.05) =>
    t.ok(Math.abs(actual - wanted) <= wanted * tolerance, `${name}: ${actual} is near ${wanted}`)
  const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0)

  for (const name of distributionNames) {
    const counts = histogram(name, records)
    t.equal(counts.length, records, `${name} stays below the number of records`)
    t.equal(sum(counts), draws)
  }
  const uniform = histogram('uniform', records)
  t.ok(Math.max(...uniform) < 180 && Math.min(...uniform) > 40, 'uniform: no record stands out')
  near(sum(uniform.slice(0, 500)) / draws, 0.5, 'uniform: half of the draws in half of the records')

  const zipf = [...histogram('zipfian', records)].sort((a, b) => b - a)
  // The most frequent of 10^10 ranked items has a weight of 1 in 26.469; scattering adds a little.
  near(zipf[0]! / draws, 1 / 26.469, 'zipfian: the hottest record', 0.15)
  near(zipf[1]! / draws, 0.5 ** 0.99 / 26.469, 'zipfian: the second', 0.2)
  const hottest = histogram('zipfian', records).indexOf(zipf[0]!)
  t.ok(hottest > 10 && hottest < records - 10, 'zipfian: scattered, so that the hottest is not the first')

  const latest = histogram('latest', records, 4999)
  t.equal(latest.findIndex((count) => count > 0) >= 0, true)
  near(latest[4999]! / draws, 1 / zetaOf(records), 'latest: the newest record')
  near(latest[4998]! / draws, 0.5 ** 0.99 / zetaOf(records), 'latest: the one before it')

  const hotspot = histogram('hotspot', records)
  near(sum(hotspot.slice(0, 200)) / draws, 0.8, 'hotspot: 80% of the draws in 20% of the records')

  const exponential = histogram('exponential', records).reverse()
  near(
    sum(exponential.slice(0, 857)) / draws,
    0.95 / (1 - Math.exp(Math.log(0.05) / 0.8571428571)),
    'exponential: 95% in the newest 86%, of what is in range',
    0.02,
  )
  t.ok(sum(exponential.slice(0, 100)) > sum(exponential.slice(100, 200)), 'exponential: newer is hotter')

  const rank = zipfian(100, zetaOf(100))
  const expected = (i: number) => 1 / (i + 1) ** 0.99 / zetaOf(100)
  const counts: number[] = new Array(100).fill(0)
  for (const u of uniforms(draws)) counts[rank(u)]!++
  for (const i of [0, 1]) near(counts[i]! / draws, expected(i), `zipfian rank ${i}`, 0.03)
  near(
    sum(counts.slice(0, 50)) / draws,
    Array.from({ length: 50 }, (_, i) => expected(i)).reduce((a, b) => a + b, 0),
    'zipfian: half of the ranks',
    0.03,
  )
})

/**
 * Operations draw records in equal classes of the record's number; the shares follow from the
 * definition. The statistic of 20 classes exceeds 50 once in 8,000 tries.
 */
t.test(`operations choose records in the shares of their distribution, seed ${seed}`, async (t) => {
  const [records, classes] = [1000, 20]
  const inAll = 1 - 0.05 ** (1 / 0.8571428571)
  const reach = (i: number) => (1 - 0.05 ** (i / classes / 0.8571428571)) / inAll
  const shares: Record<string, (i: number) => number> = {
    uniform: () => 1 / classes,
    hotspot: (i) => (i < classes * 0.2 ? 0.8 / (classes * 0.2) : 0.2 / (classes * 0.8)),
    // The newest records come last.
    exponential: (i) => reach(classes - i) - reach(classes - i - 1),
  }
  for (const [distribution, share] of Object.entries(shares)) {
    const source = builtInWorkload('c', shape)!
    const operations = { read: { ...source.operations['read']!, distribution: distribution as 'uniform' } }
    const schedule = new Schedule(compileWorkload({ ...source, records, seed, operations }))
    schedule.begin(0, null)
    const counts: number[] = new Array(classes).fill(0)
    for (let cycle = 0; cycle < draws; cycle++) counts[Math.floor((schedule.plan(cycle).key / records) * classes)]!++
    const statistic = counts.reduce((sum, count, i) => sum + (count - share(i) * draws) ** 2 / (share(i) * draws), 0)
    t.ok(statistic < 50, `${distribution}: ${statistic.toFixed(1)} in ${classes} classes`)
  }

  // Recency is ranked by an approximation, so compare its shares with those of 1 / rank^0.99
  // cumulatively.
  const schedule = new Schedule(compileWorkload({ ...builtInWorkload('d', shape)!, records, seed }))
  schedule.begin(0, null)
  const byRank: number[] = new Array(records).fill(0)
  let reads = 0
  for (let cycle = 0; cycle < draws; cycle++) {
    const { operation, key } = schedule.plan(cycle)
    if (operation.newRecords > 0) continue
    // A block of 1,000 creates 50 records; reads ask for records up to the block before the last.
    const newest = records + Math.max(0, Math.floor(cycle / blockCycles) - 1) * 50 - 1
    byRank[newest - key]!++
    reads++
  }
  let [drawn, defined, apart] = [0, 0, 0]
  byRank.forEach((count, rank) => {
    drawn += count / reads
    defined += 1 / (rank + 1) ** 0.99 / zetaOf(records)
    apart = Math.max(apart, Math.abs(drawn - defined))
  })
  t.ok(apart < 0.02, `latest: at most ${apart.toFixed(4)} apart`)
})

const described = (workload: Workload, schedule: Schedule, cycle: number): unknown => {
  const plan = schedule.plan(cycle)
  return { ...plan, operation: plan.operation.name, record: workload.template.record(plan.key, cycle) }
}

t.test('a cycle is a function of its number and the seed', async (t) => {
  for (const name of builtInWorkloads) {
    const make = (seed: number): [Workload, Schedule] => {
      const workload = compileWorkload({ ...builtInWorkload(name, shape)!, seed })
      const schedule = new Schedule(workload)
      schedule.begin(0, null)
      return [workload, schedule]
    }
    const [a, b, other] = [make(7), make(7), make(8)]
    const cycles = [0, 1, 17, 999, 1000, 123_456, 98_765_432]
    const forward = cycles.map((cycle) => described(...a, cycle))
    const backward = [...cycles]
      .reverse()
      .map((cycle) => described(...b, cycle))
      .reverse()
    t.same(forward, backward, `${name}: the same in any order`)
    t.notSame(
      forward,
      cycles.map((cycle) => described(...other, cycle)),
      `${name}: another seed, other data`,
    )
  }
})

t.test('each block holds the operations in proportion, and every record has one maker', async (t) => {
  for (const name of ['d', 'route-mix'] as const) {
    const workload = compileWorkload({ ...builtInWorkload(name, shape)!, records: 50 })
    const schedule = new Schedule(workload)
    schedule.begin(0, null)
    const second = schedule.begin(2500, { [workload.operations[0]!.name]: 1, insert: 3 })
    t.equal(second, 3000, 'a segment begins with a block')
    const total = workload.operations.reduce((sum, { weight }) => sum + weight, 0)
    const made = new Map<number, number>()
    for (const first of [0, 1000, 3000, 4000]) {
      const counts: Record<string, number> = {}
      for (let cycle = first; cycle < first + blockCycles; cycle++) {
        const { operation, key } = schedule.plan(cycle)
        counts[operation.name] = (counts[operation.name] ?? 0) + 1
        for (let i = 0; i < operation.newRecords; i++) {
          if (made.has(key + i)) t.fail(`record ${key + i} is made twice`)
          made.set(key + i, cycle)
          const maker = schedule.makerOf(key + i)
          if (maker?.cycle !== cycle || maker.index !== i)
            t.fail(`record ${key + i} of cycle ${cycle} leads back to ${JSON.stringify(maker)}`)
        }
        if (operation.newRecords === 0 && !(key >= 0 && !(made.get(key)! > cycle)))
          t.fail(`cycle ${cycle} asks for record ${key}, which is not there yet`)
      }
      for (const { name: operation, weight } of workload.operations) {
        const share =
          first < 3000
            ? weight / total
            : operation === 'insert'
              ? 0.75
              : operation === workload.operations[0]!.name
                ? 0.25
                : 0
        t.equal(counts[operation] ?? 0, Math.round(share * blockCycles), `${name} ${first}: ${operation}`)
      }
    }
    t.equal(Math.min(...made.keys()), 50, 'new records follow the loaded ones')
    t.equal(schedule.makerOf(49), null)
    t.equal(schedule.makerOf(-1), null)
  }
})

t.test('ids and texts lead back to records and writes', async (t) => {
  const text =
    'name: n\nrecord: { _id: { $key: {} }, a: { $text: 12 }, b: { $text: 40 } }\noperations: { r: { do: findOne, by: [_id] } }'
  const numbered = parseWorkload(text, 'w.yaml')
  t.equal(numbered.template.keyOfId(12), 12)
  t.equal(numbered.template.keyOfId('user0000000012'), null)
  const named = compileWorkload(builtInWorkload('a', shape)!)
  const seen = new Set<unknown>()
  for (let key = 0; key < 2000; key++) {
    const { _id } = named.template.record(key, 0)
    t.equal(named.template.keyOfId(_id), key)
    seen.add(_id)
  }
  t.equal(seen.size, 2000)
  for (const id of ['user123', 'user9999999999', 'somebody', 1.5, null]) t.equal(named.template.keyOfId(id), null)
  const record = named.template.record(3, 0)
  t.equal(Object.keys(record).length, 11)
  for (const [name, value] of Object.entries(record)) if (name !== '_id') t.equal(String(value).length, 100)
  t.notSame(record, named.template.record(4, 0))
  t.notSame(record['field0'], named.template.record(3, 1)['field0'])
  t.not(
    String(record['field0']).slice(11),
    String(record['field1']).slice(11),
    'the same write, another field, another text',
  )
})

t.test('an open loop computes when each operation starts', async (t) => {
  const steady = startOffsetUs(2000, null)
  t.same([0, 1, 2000].map(steady), [0, 500, 1e6])
  const rising = startOffsetUs({ from: 100, to: 300 }, 10)
  t.equal(Math.round(rising(2000)), 10e6, '200 a second on average over 10 s')
  t.ok(rising(1) - rising(0) > rising(2000) - rising(1999), 'closer and closer')
  const falling = startOffsetUs({ from: 300, to: 100 }, 10)
  t.equal(Math.round(falling(2000)), 10e6)
  t.equal(falling(1e9), Number.POSITIVE_INFINITY)
  for (const [rate, offsetUs] of [
    [2000, steady],
    [{ from: 100, to: 300 }, rising],
    [{ from: 300, to: 100 }, falling],
  ] as const) {
    // Operation `i` starts before this time, so `i + 1` operations are due.
    for (const i of [1, 7, 999]) t.equal(dueBefore(rate, 10)(offsetUs(i) + 1), i + 1)
  }
  t.equal(dueBefore(0.001, null)(5e6), 1)
})
