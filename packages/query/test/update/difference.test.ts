import { decode, documentValue, DocumentWriter, encode, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { compileDelta, compileFilter, compileUpdate } from '../../src/index.js'
import { document } from '../support/arbitrary/documents.js'
import { placedUpdate, shaped, target, update } from '../support/arbitrary/update.js'
import { context } from '../support/helpers.js'
import { referenceMatches, type Plain } from '../support/reference/filter.js'
import { runs } from '../support/runs.js'

interface Case {
  readonly before: Document
  readonly change: Document | Document[]
  readonly diff: Document | null
  readonly arrayFilters?: Document[]
}

const long = 'x'.repeat(100)

const modifiers: Readonly<Record<string, Case>> = {
  'a field is set': { before: { _id: 1, a: 1 }, change: { $set: { a: 2 } }, diff: { u: { a: 2 } } },
  'a new field': { before: { _id: 1 }, change: { $inc: { n: 1 } }, diff: { i: { n: 1 } } },
  'a field is removed': { before: { _id: 1, a: 1 }, change: { $unset: { a: 1 } }, diff: { d: { a: false } } },
  'what stays the same is not told': {
    before: { _id: 1, a: 1, b: 1 },
    change: { $set: { a: 1, b: 2 } },
    diff: { u: { b: 2 } },
  },
  'a document that is set is told as a whole': {
    before: { _id: 1, a: { b: 1, c: 1 } },
    change: { $set: { a: { b: 1, c: 2 } } },
    diff: { u: { a: { b: 1, c: 2 } } },
  },
  'a field inside': {
    before: { _id: 1, a: { b: 1, c: 1 } },
    change: { $set: { 'a.c': 2, 'a.d': 3 } },
    diff: { sa: { u: { c: 2 }, i: { d: 3 } } },
  },
  'a new path': {
    before: { _id: 1 },
    change: { $set: { 'a.b': 1, 'a.c.d': 2 } },
    diff: { i: { a: { b: 1, c: { d: 2 } } } },
  },
  'an element': { before: { _id: 1, a: [1, 2] }, change: { $set: { 'a.1': 3 } }, diff: { sa: { a: true, u1: 3 } } },
  'an element behind the end': {
    before: { _id: 1, a: [1] },
    change: { $set: { 'a.3': 3 } },
    diff: { sa: { a: true, u3: 3 } },
  },
  'a removed element': {
    before: { _id: 1, a: [1, 2] },
    change: { $unset: { 'a.0': 1 } },
    diff: { sa: { a: true, u0: null } },
  },
  'elements that a filter selects': {
    before: { _id: 1, a: [{ n: 1 }, { n: 5 }] },
    change: { $set: { 'a.$[e].n': 9 } },
    arrayFilters: [{ 'e.n': { $gt: 2 } }],
    diff: { sa: { a: true, s1: { u: { n: 9 } } } },
  },
  '$push appends': { before: { _id: 1, a: [1] }, change: { $push: { a: 2 } }, diff: { sa: { a: true, u1: 2 } } },
  '$push to an empty array': { before: { _id: 1, a: [] }, change: { $push: { a: 2 } }, diff: { u: { a: [2] } } },
  '$push that sorts': {
    before: { _id: 1, a: [1] },
    change: { $push: { a: { $each: [2], $sort: 1 } } },
    diff: { u: { a: [1, 2] } },
  },
  '$push at a position': {
    before: { _id: 1, a: [1] },
    change: { $push: { a: { $each: [2], $position: 1 } } },
    diff: { u: { a: [1, 2] } },
  },
  '$push behind the end': {
    before: { _id: 1, a: [1] },
    change: { $push: { a: { $each: [2, 3], $position: 5 } } },
    diff: { sa: { a: true, u1: 2, u2: 3 } },
  },
  '$addToSet appends, also to an empty array': {
    before: { _id: 1, a: [] },
    change: { $addToSet: { a: 2 } },
    diff: { sa: { a: true, u0: 2 } },
  },
  '$pop tells the array': { before: { _id: 1, a: [1, 2] }, change: { $pop: { a: 1 } }, diff: { u: { a: [1] } } },
  $rename: { before: { _id: 1, a: 1 }, change: { $rename: { a: 'b' } }, diff: { d: { a: false }, i: { b: 1 } } },
  'a replacement': { before: { _id: 1, a: 1 }, change: { a: 2 }, diff: null },
}

const pipelines: Readonly<Record<string, Case>> = {
  'a document that is set is told by its difference': {
    before: { _id: 1, a: { b: 1, c: 1, long } },
    change: [{ $set: { 'a.c': 2 } }],
    diff: { sa: { u: { c: 2 } } },
  },
  'an array that becomes shorter': {
    before: { _id: 1, a: [1, 2, long, 4] },
    change: [{ $set: { a: [1, 3, long] } }],
    diff: { sa: { a: true, l: 3, u1: 3 } },
  },
  'fields that go and come': {
    before: { _id: 1, b: 1, a: 1, long },
    change: [{ $unset: ['b', 'a'] }, { $set: { z: 1 } }],
    diff: { d: { a: false, b: false }, i: { z: 1 } },
  },
  'a difference that is longer than the document': {
    before: { _id: 1, a: 1 },
    change: [{ $set: { a: 2 } }],
    diff: null,
  },
}

t.test('modifiers and pipelines are told as in oplog entries of the server', (t) => {
  for (const [name, { before, change, diff, arrayFilters = [] }] of Object.entries({ ...modifiers, ...pipelines })) {
    const bytes = encode(before)
    const compiled = compileUpdate(
      Array.isArray(change) ? { pipeline: change.map((stage) => encode(stage)) } : { document: encode(change) },
      { arrayFilters: arrayFilters.map((each) => encode(each)) },
      context,
    )
    const after = compiled.apply(bytes)!
    const told = compiled.difference(bytes, after)
    t.same(told === null ? null : decode(told), diff, name)
    if (told !== null) t.same(compileDelta(documentValue(told)).apply(bytes), after, `${name}: applied again`)
  }
  t.end()
})

t.test('a change of one of two fields with the same name', (t) => {
  const twice = (name: string, inner = false): Uint8Array => {
    const writer = new DocumentWriter().integer('_id', 1)
    if (inner) writer.startDocument('o')
    writer.integer(name, 1).integer('b', 2).integer(name, 1)
    if (inner) writer.end()
    return writer.finish()
  }
  const told = (before: Uint8Array, change: Document) => {
    const compiled = compileUpdate({ document: encode(change) }, {}, context)
    const after = compiled.apply(before)!
    const difference = compiled.difference(before, after)
    if (difference !== null) t.same(compileDelta(documentValue(difference)).apply(before), after)
    return difference
  }
  t.equal(told(twice('a'), { $unset: { a: 1 } }), null, 'only the whole document tells a removal')
  t.ok(told(twice('a', true), { $unset: { 'o.a': 1 } }), 'or the whole value')
  t.ok(told(twice('a'), { $inc: { a: 1 } }), 'another change reaches the first')
  t.end()
})

function restores(
  bytes: Uint8Array,
  after: Uint8Array | null,
  diff: (after: Uint8Array) => Uint8Array | null,
): boolean {
  if (after === null) return false
  const told = diff(after)
  if (told === null) return false
  const restored = compileDelta(documentValue(told)).apply(bytes)
  if (restored === null || Buffer.compare(restored, after) !== 0)
    throw new Error(`${JSON.stringify(decode(told))} gives ${JSON.stringify(restored && decode(restored))}`)
  return true
}

t.test('property: the difference of an update by modifiers restores its result, byte for byte', (t) => {
  let told = 0
  fc.assert(
    fc.property(target, update, (given, specification) => {
      const bytes = encode(given)
      try {
        const compiled = compileUpdate({ document: encode(specification) }, {}, context)
        if (restores(bytes, compiled.apply(bytes), (after) => compiled.difference(bytes, after))) told++
      } catch (error) {
        if ((error as { name: string }).name !== 'CommandError') throw error
      }
    }),
    { numRuns: runs(2000) },
  )
  t.ok(told > runs(400), String(told))
  t.end()
})

t.test('property: so does that of a positional update', (t) => {
  let told = 0
  fc.assert(
    fc.property(shaped, placedUpdate, (given, placed) => {
      const bytes = encode(given)
      const matched = (given['e'] as Plain[]).findIndex((element) => referenceMatches({ n: placed.match }, element))
      if (matched < 0) return
      const filter = compileFilter(encode({ e: { $elemMatch: { n: placed.match } } }), context)
      const options = { arrayFilters: Object.values(placed.arrayFilters).map((each) => encode(each as Document)) }
      try {
        const compiled = compileUpdate({ document: encode(placed.update) }, options, context)
        if (restores(bytes, compiled.apply(bytes, { filter }), (after) => compiled.difference(bytes, after))) told++
      } catch (error) {
        if ((error as { name: string }).name !== 'CommandError') throw error
      }
    }),
    { numRuns: runs(2000) },
  )
  t.ok(told > runs(200), String(told))
  t.end()
})

t.test('property: so does that of any two documents', (t) => {
  let told = 0
  fc.assert(
    fc.property(document(true), document(true), (old, now) => {
      const [bytes, literal] = [encode({ ...old, _id: 1, long }), encode({ ...now, _id: 1, long })]
      const compiled = compileUpdate(
        { pipeline: [encode({ $replaceWith: { $literal: decode(literal) } })] },
        {},
        context,
      )
      if (restores(bytes, compiled.apply(bytes), (after) => compiled.difference(bytes, after))) told++
    }),
    { numRuns: runs(2000) },
  )
  t.ok(told > runs(200), String(told))
  t.end()
})
