import type { Document } from '@shardlab/bson'
import t from 'tap'
import { failure, update } from '../support/helpers.js'

t.test('invalid updates are refused with the code and message of the server', (t) => {
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
