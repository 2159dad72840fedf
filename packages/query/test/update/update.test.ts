import { Decimal128, Double, Long, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { codeOf, context, failure, json, update } from '../support/helpers.js'

t.test('field operators give the documents of the server', (t) => {
  const table: [update: Document, before: Document, after: Document | null][] = [
    [{ $set: { b: 2 } }, { _id: 1, b: 1, c: 3 }, { _id: 1, b: 2, c: 3 }],
    [{ $set: { z: 1, b: 1, a: 1 } }, { _id: 1 }, { _id: 1, a: 1, b: 1, z: 1 }],
    [{ $set: { 'a.c': 1, 'a.b': 1 } }, { _id: 1 }, { _id: 1, a: { b: 1, c: 1 } }],
    [
      { $set: { 'a.10': 1, 'a.9': 2 } },
      { _id: 1, a: {} },
      {
        _id: 1,
        a: new Map([
          ['9', 2],
          ['10', 1],
        ]),
      },
    ],
    [{ $set: { a: 1 } }, { _id: 1, a: 1 }, null],
    [{ $set: { a: new Double(1) } }, { _id: 1, a: 1 }, { _id: 1, a: new Double(1) }],
    [{ $set: { 'a.1': 9 } }, { _id: 1, a: [1, 2] }, { _id: 1, a: [1, 9] }],
    [{ $set: { 'a.3': 9 } }, { _id: 1, a: [1] }, { _id: 1, a: [1, null, null, 9] }],
    [{ $set: { 'a.0.b': 9 } }, { _id: 1, a: [{ b: 1, c: 2 }] }, { _id: 1, a: [{ b: 9, c: 2 }] }],
    [{ $unset: { a: '' } }, { _id: 1, a: 1, b: 2 }, { _id: 1, b: 2 }],
    [{ $unset: { 'a.0': '' } }, { _id: 1, a: [1, 2] }, { _id: 1, a: [null, 2] }],
    [{ $unset: { 'a.x': '', b: '' } }, { _id: 1, a: 5 }, null],
    [
      { $min: { a: 3 }, $max: { b: 3 } },
      { _id: 1, a: 5, b: 5 },
      { _id: 1, a: 3, b: 5 },
    ],
    [{ $max: { a: 'x' } }, { _id: 1, a: 5 }, { _id: 1, a: 'x' }],
    [{ $rename: { a: 'b' } }, { _id: 1, a: 5, b: 6, c: 7 }, { _id: 1, b: 5, c: 7 }],
    [{ $rename: { a: 'x.y' } }, { _id: 1, a: 5 }, { _id: 1, x: { y: 5 } }],
    [{ $rename: { q: 'b' } }, { _id: 1, b: 6 }, null],
    [{ $setOnInsert: { a: 1 } }, { _id: 1 }, null],
    [{ $currentDate: { a: true } }, { _id: 1 }, { _id: 1, a: new Date(context.now()) }],
    [{ a: 5 }, { _id: 1, b: 2 }, { _id: 1, a: 5 }],
    // A replacement without _id always changes the document.
    [{ a: 5 }, { _id: 1, a: 5 }, { _id: 1, a: 5 }],
    [{ _id: 1, a: 5 }, { _id: 1, a: 5 }, null],
    [{ $set: { 'a.$b': 1 } }, { _id: 1 }, { _id: 1, a: { $b: 1 } }],
    [{ $inc: { 'a.$b': 1 } }, { _id: 1, a: { $b: 1 } }, { _id: 1, a: { $b: 2 } }],
    [{ $push: { 'a.$b': 1 } }, { _id: 1, a: {} }, { _id: 1, a: { $b: [1] } }],
    [{ $rename: { a: 'b.$c' } }, { _id: 1, a: 2 }, { _id: 1, b: { $c: 2 } }],
    [{ $unset: { 'a.$b': 1, $c: 1 } }, { _id: 1, a: { $b: 1 }, $c: 1 }, { _id: 1, a: {} }],
    [{ $set: { '$a.b': 2 } }, { _id: 1, $a: { b: 1 } }, { _id: 1, $a: { b: 2 } }],
    [{ $setOnInsert: { $a: 1, '$b.c': 2 } }, { _id: 1 }, null],
    [[{ $replaceWith: { $literal: { _id: 1, $a: 1 } } }], { _id: 1 }, { _id: 1, $a: 1 }],
    [
      { a: 5, _id: 1 },
      { _id: 1, b: 2 },
      { _id: 1, a: 5 },
    ],
    [{ $set: {} }, { _id: 1 }, null],
  ]
  for (const [specification, before, after] of table)
    t.equal(update(specification, before), after === null ? null : json(after), JSON.stringify(specification))
  t.equal(
    update({ $setOnInsert: { a: 1 }, $set: { b: 2 } }, { _id: 1 }, { isInsert: true }),
    json({ _id: 1, a: 1, b: 2 }),
  )
  t.equal(update({ $set: { _id: 7 } }, { a: 1 }, { isInsert: true }), json({ a: 1, _id: 7 }))
  for (const change of [
    { $set: { _id: 7 } },
    { $setOnInsert: { _id: 7 } },
    { $inc: { _id: 6 } },
    { $unset: { _id: 1 } },
  ])
    t.throws(
      () => update(change, { _id: 1 }, { isInsert: true }),
      { code: 66 },
      'the _id in the query is the _id to insert',
    )
  t.equal(update({ $setOnInsert: { _id: 1, a: 2 } }, { _id: 1 }, { isInsert: true }), json({ _id: 1, a: 2 }))
  t.end()
})

t.test('arithmetic operators give the types of the server', (t) => {
  const big = Long.fromString('9223372036854775807')
  const table: [update: Document, before: unknown, after: unknown][] = [
    [{ $inc: { a: 2 } }, 1, 3],
    [{ $inc: { a: 1 } }, 2147483647, Long.fromString('2147483648')],
    [{ $inc: { a: Long.fromNumber(1) } }, 1, Long.fromNumber(2)],
    [{ $inc: { a: 0.5 } }, 1, 1.5],
    [{ $inc: { a: new Double(1) } }, 1, new Double(2)],
    [{ $inc: { a: Decimal128.fromString('0.1') } }, 1, Decimal128.fromString('1.1')],
    [{ $mul: { a: 3 } }, 2, 6],
    [{ $mul: { a: 65536 } }, 65536, Long.fromString('4294967296')],
    [{ $mul: { a: Decimal128.fromString('1.5') } }, Long.fromNumber(2), Decimal128.fromString('3.0')],
    [{ $inc: { a: new Double(1) } }, big, new Double(9223372036854775808)],
    [{ $bit: { a: { or: 5 } } }, 2, 7],
    [{ $bit: { a: { xor: Long.fromNumber(1) } } }, 3, Long.fromNumber(2)],
  ]
  for (const [specification, before, after] of table)
    t.equal(update(specification, { _id: 1, a: before }), json({ _id: 1, a: after }), JSON.stringify(specification))
  t.equal(update({ $inc: { a: 0 } }, { _id: 1, a: 1 }), null)
  t.equal(update({ $inc: { a: Long.fromNumber(5) } }, { _id: 1 }), json({ _id: 1, a: Long.fromNumber(5) }))
  t.equal(update({ $mul: { a: Long.fromNumber(5) } }, { _id: 1 }), json({ _id: 1, a: Long.fromNumber(0) }))
  t.equal(
    failure(() => update({ $inc: { a: 1 } }, { _id: 1, a: big }))?.message,
    'Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: 1}',
  )
  t.end()
})

t.test('array operators give the documents of the server', (t) => {
  const table: [update: Document, before: unknown, after: unknown | null][] = [
    [{ $push: { a: 3 } }, [1], [1, 3]],
    [{ $push: { a: [3] } }, [1], [1, [3]]],
    [{ $push: { a: { $each: [3, 2] } } }, [1], [1, 3, 2]],
    [{ $push: { a: { $each: [3, 2], $position: 0 } } }, [1], [3, 2, 1]],
    [{ $push: { a: { $each: [9], $position: -1 } } }, [1, 2], [1, 9, 2]],
    [{ $push: { a: { $each: [3, 2], $sort: 1 } } }, [5, 1], [1, 2, 3, 5]],
    [{ $push: { a: { $each: [{ b: 2 }], $sort: { b: -1 }, $slice: 2 } } }, [{ b: 1 }, { b: 3 }], [{ b: 3 }, { b: 2 }]],
    [{ $push: { a: { $each: [3, 4], $slice: -3 } } }, [1, 2], [2, 3, 4]],
    [{ $push: { a: { $each: [], $slice: 1 } } }, [1, 2], [1]],
    [{ $push: { a: { $each: [] } } }, [1], null],
    [{ $push: { a: { $each: [], $sort: 1 } } }, [1, 2], null],
    [{ $addToSet: { a: 1 } }, [1, 2], null],
    [{ $addToSet: { a: { $each: [new Double(1), 3, 3] } } }, [1, 2], [1, 2, 3]],
    [{ $pull: { a: 2 } }, [1, 2, 2], [1]],
    [{ $pull: { a: { $gte: 2 } } }, [1, 2, 3], [1]],
    [{ $pull: { a: { b: 1 } } }, [{ b: 1, c: 1 }, { b: 2 }, 5], [{ b: 2 }, 5]],
    [{ $pull: { a: { $in: ['x', /^y/] } } }, ['x', 'yy', 'z'], ['z']],
    [{ $pull: { a: /^y/ } }, ['x', 'yy'], ['x']],
    [{ $pullAll: { a: [1, 3] } }, [1, 2, 3, 1], [2]],
    [{ $pop: { a: 1 } }, [1, 2], [1]],
    [{ $pop: { a: -1 } }, [1, 2], [2]],
    [{ $pop: { a: 1 } }, [], null],
    [{ $set: { 'a.$[]': 0 } }, [1, 2], [0, 0]],
    [{ $inc: { 'a.$[].b': 1 } }, [{ b: 1 }, { b: 2 }], [{ b: 2 }, { b: 3 }]],
    [{ $unset: { 'a.$[].b': '' } }, [{ b: 1, c: 1 }, {}], [{ c: 1 }, {}]],
  ]
  for (const [specification, before, after] of table)
    t.equal(
      update(specification, { _id: 1, a: before }),
      after === null ? null : json({ _id: 1, a: after }),
      JSON.stringify(specification),
    )
  t.equal(update({ $push: { 'a.b': 1 } }, { _id: 1 }), json({ _id: 1, a: { b: [1] } }))
  t.equal(update({ $pop: { a: 1 } }, { _id: 1 }), null)
  t.end()
})

t.test('pipeline updates run $set, $unset, $project and $replaceWith', (t) => {
  t.equal(
    update([{ $set: { b: { $add: ['$a', 1] }, c: '$$NOW' } }, { $unset: 'a' }], { _id: 1, a: 1 }),
    json({ _id: 1, b: 2, c: new Date(context.now()) }),
  )
  t.equal(update([{ $replaceWith: { x: '$a' } }], { _id: 1, a: 1 }), json({ _id: 1, x: 1 }))
  t.equal(update([{ $project: { a: 1 } }], { _id: 1, a: 1, b: 1 }), json({ _id: 1, a: 1 }))
  t.equal(update([{ $set: { a: 1 } }], { _id: 1, a: 1 }), null)
  t.equal(
    update([{ $replaceWith: { x: '$a', _id: '$_id' } }], { _id: 1, a: 1 }),
    json({ _id: 1, x: 1 }),
    '_id comes first',
  )
  t.equal(
    codeOf(() => update([{ $match: {} }], { _id: 1 })),
    72,
  )
  t.equal(
    codeOf(() => update([{ $set: { _id: 2 } }], { _id: 1 })),
    66,
  )
  t.end()
})

t.test('property: updates of top-level fields give the same result one level down', (t) => {
  const name = fc.constantFrom('a', 'b', 'c', '10', '9', 'é')
  const value = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom<unknown>('x', null, 1.5, [1, 2], { q: 1 }, Long.fromNumber(2)),
  )
  const number = fc.constantFrom<unknown>(1, 2.5, Long.fromNumber(3))
  const operation = fc.oneof(
    fc.tuple(fc.constantFrom('$set', '$min', '$max', '$addToSet', '$push', '$pull', '$setOnInsert'), name, value),
    fc.tuple(fc.constantFrom('$inc', '$mul'), name, number),
    fc.tuple(fc.constant('$unset'), name, fc.constant<unknown>('')),
  )
  const outcome = (action: () => string | null): string => {
    try {
      return String(action())
    } catch (error) {
      return `code ${(error as { code: number }).code}`
    }
  }
  fc.assert(
    fc.property(
      fc.uniqueArray(operation, { minLength: 1, maxLength: 4, selector: ([, field]) => field }),
      fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([field]) => field }),
      fc.boolean(),
      (operations, fields, isInsert) => {
        const specification = (prefix: string) => {
          const result: Record<string, Document> = {}
          for (const [operator, field, argument] of operations)
            result[operator] = { ...result[operator], [prefix + field]: argument }
          return result
        }
        const document = new Map(fields)
        const flat = outcome(() => update(specification(''), document, { isInsert }))
        const nested = outcome(() => update(specification('w.'), { w: document }, { isInsert }))
        const expected = flat === 'null' || flat.startsWith('code') ? flat : `{"w":${flat}}`
        if (nested !== expected) throw new Error(`${JSON.stringify(specification(''))}: ${flat} but ${nested}`)
      },
    ),
    { numRuns: 2000 },
  )
  t.pass()
  t.end()
})
