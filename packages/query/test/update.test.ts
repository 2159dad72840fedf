import { Decimal128, Double, Long, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { codeOf, context, failure, json, update } from './support/helpers.js'

t.test('field operators', (t) => {
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
    [{ $currentDate: { a: true } }, { _id: 1 }, { _id: 1, a: new Date(context.nowMs) }],
    [{ a: 5 }, { _id: 1, b: 2 }, { _id: 1, a: 5 }],
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
      'the _id that the query names is the one to be inserted',
    )
  t.equal(update({ $setOnInsert: { _id: 1, a: 2 } }, { _id: 1 }, { isInsert: true }), json({ _id: 1, a: 2 }))
  t.end()
})

t.test('arithmetic and its types', (t) => {
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

t.test('arrays', (t) => {
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

t.test('positional operators and array filters', (t) => {
  t.equal(
    update({ $set: { 'a.$': 9 } }, { _id: 1, a: [1, 2, 3] }, { filter: { a: 2 } }),
    json({ _id: 1, a: [1, 9, 3] }),
  )
  t.equal(
    update({ $set: { 'a.$.v': 9 } }, { _id: 1, a: [{ k: 1 }, { k: 2 }] }, { filter: { 'a.k': 2 } }),
    json({ _id: 1, a: [{ k: 1 }, { k: 2, v: 9 }] }),
  )
  t.equal(
    update(
      { $inc: { 'a.$.v': 1 } },
      {
        _id: 1,
        a: [
          { k: 1, v: 1 },
          { k: 1, v: 5 },
        ],
      },
      { filter: { a: { $elemMatch: { k: 1, v: { $gt: 2 } } } } },
    ),
    json({
      _id: 1,
      a: [
        { k: 1, v: 1 },
        { k: 1, v: 6 },
      ],
    }),
  )
  t.equal(
    codeOf(() => update({ $set: { 'a.$': 9 } }, { _id: 1, a: [1] }, { filter: { _id: 1 } })),
    2,
  )
  t.equal(
    update({ $set: { 'a.$[x].b': 0 } }, { _id: 1, a: [{ b: 5 }, { b: 1 }] }, { arrayFilters: [{ 'x.b': { $gt: 2 } }] }),
    json({ _id: 1, a: [{ b: 0 }, { b: 1 }] }),
  )
  t.equal(
    update({ $set: { 'a.$[x]': 0 } }, { _id: 1, a: [5, 1] }, { arrayFilters: [{ x: { $gt: 2 } }] }),
    json({ _id: 1, a: [0, 1] }),
  )
  t.equal(update({ $set: { 'a.$[x]': 0 } }, { _id: 1, a: [1] }, { arrayFilters: [{ x: { $gt: 2 } }] }), null)
  t.equal(
    codeOf(() => update({ $set: { 'a.$[x]': 0 } }, { _id: 1, a: [1] })),
    2,
  )
  t.equal(
    codeOf(() => update({ $set: { a: 0 } }, { _id: 1 }, { arrayFilters: [{ x: 1 }] })),
    9,
  )
  t.end()
})

t.test('pipeline updates', (t) => {
  t.equal(
    update([{ $set: { b: { $add: ['$a', 1] }, c: '$$NOW' } }, { $unset: 'a' }], { _id: 1, a: 1 }),
    json({ _id: 1, b: 2, c: new Date(context.nowMs) }),
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

t.test('errors', (t) => {
  const table: [update: Document, before: Document, code: number, message?: string][] = [
    [
      { $foo: { a: 1 } },
      {},
      9,
      'Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array',
    ],
    [
      { $set: { a: 1 }, b: 1 },
      {},
      9,
      'Unknown modifier: b. Expected a valid update modifier or pipeline-style update specified as an array',
    ],
    [{ b: 1, $set: { a: 1 } }, {}, 52],
    [
      { $set: 5 },
      {},
      9,
      'Modifiers operate on fields but we found type int instead. For example: {$mod: {<field>: ...}} not {$set: 5}',
    ],
    [{ $set: { a: 1 }, $inc: { a: 1 } }, {}, 40, "Updating the path 'a' would create a conflict at 'a'"],
    [{ $set: { a: 1 }, $inc: { 'a.b': 1 } }, {}, 40, "Updating the path 'a.b' would create a conflict at 'a'"],
    [{ $set: { 'a.b': 1, a: 1 } }, {}, 40, "Updating the path 'a' would create a conflict at 'a'"],
    [{ $rename: { a: 'b' }, $set: { b: 1 } }, { a: 1 }, 40],
    [{ $set: { 'a.b': 1 } }, { _id: 1, a: 5 }, 28, "Cannot create field 'b' in element {a: 5}"],
    [{ $set: { 'a.b': 1 } }, { _id: 1, a: [5] }, 28, "Cannot create field 'b' in element {a: [ 5 ]}"],
    [{ $set: { 'a.b.c': 1 } }, { _id: 1, a: { b: 'x' } }, 28, 'Cannot create field \'c\' in element {b: "x"}'],
    [
      { $set: { _id: 2 } },
      { _id: 1 },
      66,
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    [{ $unset: { _id: 1 } }, { _id: 1 }, 66],
    [
      { _id: 2, a: 1 },
      { _id: 1 },
      66,
      "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2",
    ],
    [{ $inc: { a: 'x' } }, { _id: 1 }, 14, 'Cannot increment with non-numeric argument: {a: "x"}'],
    [
      { $inc: { a: 1 } },
      { _id: 1, a: 'x' },
      14,
      "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type string",
    ],
    [
      { $push: { a: 1 } },
      { _id: 1, a: 'x' },
      2,
      "The field 'a' must be an array but is of type string in document {_id: 1}",
    ],
    [{ $addToSet: { a: 1 } }, { _id: 1, a: 'x' }, 2],
    [{ $pull: { a: 1 } }, { _id: 1, a: 'x' }, 2, 'Cannot apply $pull to a non-array value'],
    [{ $pop: { a: 2 } }, { _id: 1, a: [] }, 9, '$pop expects 1 or -1, found: 2'],
    [{ $pop: { a: 1 } }, { _id: 1, a: 'x' }, 14, "Path 'a' contains an element of non-array type 'string'"],
    [{ $set: { '': 1 } }, { _id: 1 }, 56],
    [{ $set: { 'a..b': 1 } }, { _id: 1 }, 56],
    [{ $set: { $a: 1 } }, { _id: 1 }, 52],
    [
      { $set: { 'a.$[]': 1 } },
      { _id: 1 },
      2,
      "The path 'a' must exist in the document in order to apply array updates.",
    ],
    [{ $set: { 'a.$[]': 1 } }, { _id: 1, a: 5 }, 2, 'Cannot apply array updates to non-array element a: 5'],
    [{ $set: { 'a.2000000': 1 } }, { _id: 1, a: [] }, 34],
    [
      { $unset: { 'a.$[].b': 1 } },
      { _id: 1 },
      2,
      "The path 'a' must exist in the document in order to apply array updates.",
    ],
    [
      { $set: { 'a.b.$[].c': 1 } },
      { _id: 1, a: 5 },
      2,
      "The path 'a.b' must exist in the document in order to apply array updates.",
    ],
    [
      { $unset: { 'a.$.b': 1 } },
      { _id: 1 },
      2,
      'The positional operator did not find the match needed from the query.',
    ],
    [
      { $set: { '$[].a': 1 } },
      {},
      2,
      "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '$[].a'",
    ],
    [{ $set: { '$.a': 1 } }, {}, 2, "Cannot have positional (i.e. '$') element in the first position in path '$.a'"],
    [{ $set: { 'a.$[].b': 1, 'a.0.c': 1 } }, {}, 40, "Updating the path 'a.0.c' would create a conflict at 'a'"],
    [
      { $pull: { 'a.b': 1 } },
      { _id: 1, a: 5 },
      28,
      'Cannot use the part (b) of (a.b) to traverse the element ({a: 5})',
    ],
    [
      { $pop: { 'a.b.c': 1 } },
      { _id: 1, a: [5] },
      28,
      'Cannot use the part (b) of (a.b.c) to traverse the element ({a: [ 5 ]})',
    ],
    [{ $pullAll: { 'a.1.b': [1] } }, { _id: 1, a: [5] }, 0],
    [{ $unset: { 'a.b': 1 } }, { _id: 1, a: 5 }, 0],
    [
      { $bit: { 'a.b': { and: 1 } } },
      { _id: 1, a: { b: 'x' } },
      2,
      'Cannot apply $bit to a value of non-integral type._id: 1 has the field b of non-integer type string',
    ],
    [{ $push: { a: { $each: 1 } } }, {}, 2, 'The argument to $each in $push must be an array but it was of type: int'],
    [{ $push: { a: { $each: [], $nope: 1 } } }, {}, 2, 'Unrecognized clause in $push: $nope'],
    [
      { $push: { a: { $each: [], $position: 'x' } } },
      {},
      2,
      'The value for $position must be an integer value, not of type: string',
    ],
    [
      { $push: { a: { $each: [], $slice: 1.5 } } },
      {},
      2,
      'The value for $slice must be an integer value but was given type: double',
    ],
    [
      { $push: { a: { $position: 'x', $each: [], $slice: 'y' } } },
      {},
      2,
      'The value for $slice must be an integer value but was given type: string',
    ],
    [{ $push: { a: { $each: [], $sort: { b: 2 } } } }, {}, 2, 'The $sort element value must be either 1 or -1'],
    [{ $push: { a: { $each: [], $sort: { '': 1 } } } }, {}, 2, 'The $sort field cannot be empty'],
    [
      { $push: { a: { $each: [], $sort: { 'b.': 1 } } } },
      {},
      2,
      'The $sort field is a dotted field but has an empty part: b.',
    ],
    [{ $push: { a: 1 } }, { a: 'x' }, 2, "The field 'a' must be an array but is of type string in document {no id}"],
    [
      { $addToSet: { a: { $each: 1 } } },
      {},
      14,
      'The argument to $each in $addToSet must be an array but it was of type int',
    ],
    [
      { $addToSet: { a: { $each: [], x: 1 } } },
      {},
      2,
      'Found unexpected fields after $each in $addToSet: { $each: [], x: 1 }',
    ],
    [{ $pop: { a: 'x' } }, {}, 9, 'Expected a number in: a: "x"'],
    [
      { $rename: { a: 'a.b' } },
      {},
      2,
      'The source and target field for $rename must not be on the same path: a: "a.b"',
    ],
    [
      { $rename: { 'a.b': 'c' } },
      { _id: 1, a: 5 },
      28,
      'cannot use the part (b of a.b) to traverse the element ({a: 5})',
    ],
    [
      { $rename: { 'a.0': 'c' } },
      { _id: 1, a: [5] },
      2,
      "The source field cannot be an array element, 'a.0' in doc with _id: 1 has an array field called 'a'",
    ],
    [{ $rename: { 'a.1': 'c' } }, { _id: 1, a: [5] }, 0],
    [
      { $rename: { c: 'a.b.0' } },
      { _id: 1, a: { b: [] }, c: 1 },
      2,
      "The destination field cannot be an array element, 'a.b.0' in doc with _id: 1 has an array field called 'b'",
    ],
  ]
  for (const [specification, before, code, message] of table) {
    const error = failure(() => update(specification, before))
    t.equal(error?.code ?? 0, code, JSON.stringify(specification))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

t.test('several positional parts', (t) => {
  const filters = { arrayFilters: [{ 'x.k': 1 }, { 'y.k': 1 }] }
  const before = { _id: 1, a: [{ k: 1 }, { k: 2 }] }
  t.equal(
    update({ $set: { 'a.$[x].k': 5, 'a.$[y].m': 1 } }, before, filters),
    json({ _id: 1, a: [{ k: 5, m: 1 }, { k: 2 }] }),
    'filters see the elements as they were',
  )
  t.equal(
    update({ $set: { 'a.$[].z': 1, 'a.$[x].b': 1 } }, before, { arrayFilters: [{ 'x.k': 1 }] }),
    json({
      _id: 1,
      a: [
        { k: 1, b: 1, z: 1 },
        { k: 2, z: 1 },
      ],
    }),
    'new fields come in the order of their names',
  )
  t.equal(
    update({ $set: { 'a.$.z': 1, 'a.0.b': 1 } }, before, { filter: { 'a.k': 1 } }),
    json({ _id: 1, a: [{ k: 1, b: 1, z: 1 }, { k: 2 }] }),
  )
  const conflict = failure(() => update({ $set: { 'a.$[x].k': 5, 'a.$[y].k': 6 } }, before, filters))
  t.same([conflict?.code, conflict?.message], [40, "Update created a conflict at 'a.0.k'"])
  t.equal(
    update({ $set: { 'a.$[x].k': 5, 'a.$[y].k': 6 } }, before, { arrayFilters: [{ 'x.k': 1 }, { 'y.k': 2 }] }),
    json({ _id: 1, a: [{ k: 5 }, { k: 6 }] }),
  )
  const nested = failure(() => update({ $unset: { 'a.$[x].q.r': 1 }, $pull: { 'a.$[y].q': 1 } }, before, filters))
  t.same([nested?.code, nested?.message], [40, "Update created a conflict at 'a.0.q'"])
  t.end()
})

t.test('property: an update of top-level fields does what the same update does one level down', (t) => {
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
