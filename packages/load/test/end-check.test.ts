/** A correct model collection, and one that is wrong in each relevant way. */
import t from 'tap'
import { encode, type Document } from '@shardlab/bson'
import {
  compileWorkload,
  builtInWorkload,
  EndCheck,
  Journal,
  LaneJournal,
  Schedule,
  type EndCheckReport,
  type Plan,
} from '@shardlab/load'

const cycles = 1200
const workload = compileWorkload({
  ...builtInWorkload('route-mix', { fieldCount: 2, fieldLength: 24 })!,
  records: 200,
  distribution: 'zipfian',
})
const { template } = workload

interface World {
  readonly schedule: Schedule
  readonly journal: LaneJournal
  readonly documents: Map<number, Document>
  /** Cycles of acknowledged writes. */
  readonly updates: number[]
  readonly inserts: number[]
}

/** Plays all cycles in sequence, acknowledged at once unless `outcome` decides otherwise. */
function play(
  outcome: (cycle: number) => 'acknowledged' | 'unknown and done' | 'unknown and not done' | 'none' = () =>
    'acknowledged',
): World {
  const schedule = new Schedule(workload)
  schedule.begin(0, null)
  const journal = new LaneJournal(0, 1)
  const documents = new Map<number, Document>()
  for (let key = 0; key < workload.records; key++) documents.set(key, template.record(key, 0))
  const world: World = { schedule, journal, documents, updates: [], inserts: [] }
  for (let cycle = 0; cycle < cycles; cycle++) {
    const { operation, key, field } = schedule.plan(cycle)
    const what = outcome(cycle)
    if (what === 'none') continue
    journal.note(cycle, what === 'acknowledged', null, 1000 + cycle * 10, 1000 + cycle * 10 + 5)
    if (what === 'unknown and not done') continue
    for (let i = 0; i < operation.newRecords; i++) documents.set(key + i, template.record(key + i, cycle + 1))
    if (operation.newRecords > 0) world.inserts.push(cycle)
    if (operation.fields > 0) {
      const text = template.texts[field]!
      documents.get(key)![text.name] = template.text(text, key, cycle + 1)
      world.updates.push(cycle)
    }
  }
  return world
}

function check({ schedule, journal, documents }: World, extra: readonly Document[] = []): EndCheckReport {
  const check = new EndCheck(schedule, new Journal([journal.data()]), cycles)
  for (const document of [...documents.values(), ...extra]) check.see(encode(document))
  return check.finish({ count: 0, cycles: [] })
}

const sound = { ok: true, lost: 0, unexpected: 0, doubled: 0, stale: 0, corrupt: 0 }

t.test('a correct collection passes', async (t) => {
  const report = check(play())
  t.match(report, { ...sound, unknownOutcomes: 0, examples: [] })
  t.ok(report.documents > workload.records)
})

t.test('a write of unknown outcome may have happened or not', async (t) => {
  for (const what of ['unknown and done', 'unknown and not done'] as const) {
    const report = check(play((cycle) => (cycle % 7 === 0 ? what : 'acknowledged')))
    t.match(report, sound, what)
    t.ok(report.unknownOutcomes > 20)
  }
})

t.test('lost, unexpected, doubled, stale and corrupt documents are found', async (t) => {
  const lies: Record<string, (world: World) => { extra?: Document[]; wanted: Partial<EndCheckReport> }> = {
    'a loaded record is gone': ({ documents }) => {
      documents.delete(17)
      return { wanted: { lost: 1 } }
    },
    'an acknowledged insert is gone': ({ documents, inserts, schedule }) => {
      documents.delete(schedule.plan(inserts[3]!).key)
      return { wanted: { lost: 1 } }
    },
    'a document comes twice': ({ documents }) => ({ extra: [documents.get(5)!], wanted: { doubled: 1 } }),
    'a document of somebody else': () => ({ extra: [{ _id: 'stranger' }], wanted: { unexpected: 1 } }),
    'a record that no cycle made': () => ({ extra: [template.record(1_000_000, 1)], wanted: { unexpected: 1 } }),
    'the last update of a field is undone': ({ documents, updates, schedule }) => {
      const { key, field } = schedule.plan(updates.at(-1)!)
      const text = template.texts[field]!
      documents.get(key)![text.name] = template.text(text, key, 0)
      return { wanted: { stale: 1 } }
    },
    'a text of another record': ({ documents }) => {
      documents.get(3)!['field0'] = template.text(template.texts[0]!, 4, 0)
      return { wanted: { corrupt: 1 } }
    },
    'a text of a write that never was': ({ documents }) => {
      documents.get(3)!['field0'] = template.text(template.texts[0]!, 3, 999_999)
      return { wanted: { corrupt: 1 } }
    },
    'another customer': ({ documents }) => {
      documents.get(9)!['customer'] = -1
      return { wanted: { corrupt: 1 } }
    },
    'another type of number': ({ documents }) => {
      documents.get(9)!['customer'] = BigInt(documents.get(9)!['customer'] as number)
      return { wanted: { corrupt: 1 } }
    },
    'a field too many': ({ documents }) => {
      documents.get(9)!['surprise'] = 1
      return { wanted: { corrupt: 1 } }
    },
    'a field is missing': ({ documents }) => {
      delete documents.get(9)!['region']
      return { wanted: { corrupt: 1 } }
    },
  }
  for (const [name, lie] of Object.entries(lies)) {
    const world = play()
    const { extra, wanted } = lie(world)
    const report = check(world, extra)
    t.match(report, { ...sound, ok: false, ...wanted }, name)
    t.equal(report.examples.length, 1, `${name}: ${report.examples[0]}`)
  }
})

t.test('transactions are there as a whole or not at all', async (t) => {
  const workload = compileWorkload({
    ...builtInWorkload('transactions', { fieldCount: 1, fieldLength: 24 })!,
    records: 64,
  })
  const { template } = workload
  const [text] = template.texts
  const schedule = new Schedule(workload)
  schedule.begin(0, null)
  const plans = Array.from({ length: 200 }, (_, cycle) => schedule.plan(cycle))
  for (const { keys, operation } of plans) {
    t.equal(new Set(keys).size, 4, 'different records')
    if (operation.name === 'oneShard') t.equal(new Set(keys.map((key) => Math.floor(key / 16))).size, 1)
  }
  const checked = (...updates: readonly (readonly [cycle: number, writes: readonly number[]])[]): EndCheckReport => {
    const journal = new LaneJournal(0, 1)
    const documents = Array.from({ length: workload.records }, (_, key) => template.record(key, 0) as Document)
    for (const [cycle, writes] of updates) {
      journal.note(cycle, false, null, 1000 + cycle * 10, 1005 + cycle * 10)
      for (const i of writes) {
        const key = plans[cycle]!.keys.slice(2)[i]!
        documents[key]![text!.name] = template.text(text!, key, cycle + 1)
      }
    }
    const check = new EndCheck(schedule, new Journal([journal.data()]), 200)
    for (const document of documents) check.see(encode(document))
    return check.finish({ count: 0, cycles: [] })
  }
  t.match(checked([5, [0, 1]]), { ...sound, torn: 0, unknownOutcomes: 1 })
  t.match(checked([5, []]), { ...sound, torn: 0 })
  t.match(checked([5, [1]]), {
    ...sound,
    ok: false,
    torn: 1,
    examples: [/cycle 5 is there, except for its update of /],
  })
  const [, second] = plans[5]!.keys.slice(2)
  const later = plans.find(({ cycle, keys }) => cycle > 5 && keys.indexOf(second!) === 2)!
  t.match(checked([5, [0, 1]], [later.cycle, [0, 1]]), { ...sound, torn: 0 }, 'the other update was overwritten')
})

t.test('concurrent updates may be applied in either order', async (t) => {
  const world = play((cycle) => (cycle < 10 ? 'acknowledged' : 'none'))
  const plans = Array.from({ length: cycles - 10 }, (_, i) => world.schedule.plan(i + 10)).filter(
    ({ operation }) => operation.fields > 0,
  )
  const [first, second] = plans
    .map(
      (plan) =>
        [
          plan,
          plans.find(({ cycle, key, field }) => cycle > plan.cycle && key === plan.key && field === plan.field),
        ] as const,
    )
    .find((pair) => pair[1] !== undefined) as [Plan, Plan]
  const text = template.texts[first.field]!
  for (const [startOfSecond, stale] of [
    [550, 0],
    [601, 1],
  ] as const) {
    const journal = new LaneJournal(0, 1)
    journal.note(first.cycle, true, null, 500, 600)
    journal.note(second.cycle, true, null, startOfSecond, startOfSecond + 100)
    const documents = new Map(
      Array.from({ length: workload.records }, (_, key) => [key, template.record(key, 0) as Document]),
    )
    documents.get(first.key)![text.name] = template.text(text, first.key, first.cycle + 1)
    t.equal(check({ ...world, journal, documents }).stale, stale, `the second begins at ${startOfSecond}`)
  }
})

t.test('the acknowledged part of a failed bulk must be there', async (t) => {
  const world = play()
  const bulk = world.inserts.find((cycle) => world.schedule.plan(cycle).operation.newRecords > 1)!
  const { key } = world.schedule.plan(bulk)
  world.journal.note(bulk, false, [0, 2], 1, 2)
  world.documents.delete(key + 1)
  t.match(check(world), sound)
  world.documents.delete(key + 2)
  t.match(check(world), { ...sound, ok: false, lost: 1 })
})
