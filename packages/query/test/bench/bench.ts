/**
 * Run by hand: `node packages/query/dist/test/bench/bench.js`. Prints the rates of the hot paths.
 */
import { encode, ObjectId } from '@shardlab/bson'
import { boundsFor, compileFilter, compileUpdate, parseKeyPattern, parseSort, sortKeyOf } from '../../src/index.js'
import { context, run } from '../support/helpers.js'

const encodedFilter = encode({ a: 5, b: { $gt: 3 } })
const documents = Array.from({ length: 1000 }, (_, i) =>
  encode({ _id: i, a: i % 10, b: i % 7, name: 'user number ' + i, sub: { x: i, y: 'text' } }),
)
const wide = Array.from({ length: 1000 }, (_, i) => encode({ a: i % 10, b: i % 7 }))

/** The best of many short slices: slower ones include other load of the machine. */
function rate(name: string, perRound: number, round: () => unknown): void {
  for (let i = 0; i < 200; i++) round()
  const rounds = Math.ceil(2000 / perRound)
  const until = process.hrtime.bigint() + 1_000_000_000n
  let best = Infinity
  while (process.hrtime.bigint() < until) {
    const started = process.hrtime.bigint()
    for (let i = 0; i < rounds; i++) round()
    best = Math.min(best, Number(process.hrtime.bigint() - started) / (rounds * perRound))
  }
  console.log(`${name}: ${(1000 / best).toFixed(2)} M/s, ${best.toFixed(0)} ns`)
}

const filter = compileFilter(encode({ a: 5, b: { $gt: 3 } }), context)
rate('filter {a:5,b:{$gt:3}}, document {a,b}', wide.length, () => {
  let n = 0
  for (let i = 0; i < wide.length; i++) if (filter.matches(wide[i]!)) n++
  return n
})
rate('filter {a:5,b:{$gt:3}}, 5 fields', documents.length, () => {
  let n = 0
  for (let i = 0; i < documents.length; i++) if (filter.matches(documents[i]!)) n++
  return n
})
const nested = compileFilter(encode({ 'sub.x': { $lt: 500 } }), context)
rate(
  "filter {'sub.x':{$lt:500}}",
  documents.length,
  () => documents.filter((document) => nested.matches(document)).length,
)
rate('compileFilter {a:5,b:{$gt:3}}', 1, () => compileFilter(encodedFilter, context))
const inc = compileUpdate({ document: encode({ $inc: { a: 1 } }) }, {}, context)
rate('$inc a', documents.length, () => documents.forEach((document) => inc.apply(document)))
const set = compileUpdate({ document: encode({ $set: { name: 'x', z: 1 } }) }, {}, context)
rate('$set two fields', documents.length, () => documents.forEach((document) => set.apply(document)))
const sort = parseSort(encode({ b: 1, name: -1 }))
rate('sortKeyOf', documents.length, () => documents.forEach((document) => sortKeyOf(document, sort)))
const pattern = parseKeyPattern(encode({ tenant: 1, ts: 1 }))
const routed = compileFilter(encode({ tenant: 't1', ts: { $gte: 5, $lt: 9 } }), context)
rate('boundsFor compound', 1, () => boundsFor(routed.root, pattern))
const stages = [encode({ $match: { b: { $lt: 5 } } }), encode({ $group: { _id: '$a', n: { $sum: '$b' } } })]
rate('$match + $group', documents.length, () => run(stages, documents))
const id = new ObjectId('507f1f77bcf86cd799439011')
const byId = compileFilter(encode({ _id: id }), context)
const withId = encode({ _id: id, a: 1 })
rate('filter by ObjectId', 1000, () => {
  for (let i = 0; i < 1000; i++) byId.matches(withId)
})
