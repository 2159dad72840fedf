import t from 'tap'
import { DocumentWriter, encode, type Document } from '@shardlab/bson'
import { compilePipeline } from '../../src/index.js'

const context = { now: () => 0, random: () => 0 }

function open(stages: Document[], memoryLimitBytes?: number) {
  const options = memoryLimitBytes === undefined ? {} : { memoryLimitBytes }
  return compilePipeline(
    stages.map((stage) => encode(stage)),
    context,
    options,
  ).open()
}

t.test('$group counts the bytes of its accumulators over all groups', async (t) => {
  for (const accumulator of [
    { $push: '$s' },
    { $addToSet: '$s' },
    { $firstN: { input: '$s', n: 10 } },
    { $topN: { output: '$s', sortBy: { _id: 1 }, n: 10 } },
  ]) {
    const run = open([{ $group: { _id: '$_id', kept: accumulator } }], 100_000)
    const push = () => {
      for (let i = 0; i < 100; i++) run.push(encode({ _id: i % 20, s: `${i} ${'x'.repeat(2000)}` }))
    }
    t.throws(push, { code: 292 }, JSON.stringify(accumulator))
  }
  const counting = open([{ $group: { _id: '$_id', n: { $sum: 1 } } }], 100_000)
  for (let i = 0; i < 100; i++) counting.push(encode({ _id: i % 20, s: 'x'.repeat(2000) }))
  counting.end()
  while (counting.step() > 0) continue
  t.equal(counting.output.length, 20)
})

t.test('an accumulator of several values holds at most 100 MB', async (t) => {
  const s = 'x'.repeat(4 * 1024 * 1024)
  for (const [name, argument] of [
    ['$firstN', { input: '$s' }],
    ['$lastN', { input: '$s' }],
    ['$topN', { output: '$s', sortBy: { n: 1 } }],
    ['$bottomN', { output: '$s', sortBy: { n: 1 } }],
  ] as const) {
    const pushed = (n: number) => {
      const run = open([{ $group: { _id: null, kept: { [name]: { ...argument, n } } } }], Infinity)
      for (let i = 0; i < 60; i++) run.push(encode({ n: i % 7, s }))
    }
    t.throws(
      () => pushed(30),
      { code: 146, message: new RegExp(`^\\${name} used too much memory and cannot spill to disk`) },
      name,
    )
    t.doesNotThrow(() => pushed(20), `${name}: dropped values do not count`)
  }
})

t.test('$facet outputs at most 100 MB', async (t) => {
  const run = open([{ $facet: { all: [{ $match: {} }] } }])
  const document = new DocumentWriter().string('s', 'x'.repeat(1024 * 1024)).finish()
  const push = () => {
    for (let i = 0; i < 100; i++) run.push(document)
  }
  t.throws(push, {
    code: 4031700,
    message: /^document constructed by \$facet is 1048\d+ bytes, which exceeds the limit of 104857600 bytes$/,
  })
})

t.test('long work checks for an interruption at each document', async (t) => {
  let left = 50
  const checkForInterrupt = () => {
    if (left-- <= 0) throw new Error('enough')
  }
  const interrupted = { ...context, checkForInterrupt }
  const run = compilePipeline([encode({ $unwind: '$a' }), encode({ $group: { _id: '$a' } })], interrupted).open()
  t.throws(
    () => {
      run.push(encode({ a: Array.from({ length: 100 }, (_, i) => i) }))
      while (run.step() > 0) continue
    },
    { message: 'enough' },
  )
})
