import t from 'tap'
import { encode, toRawValue, type Document } from '@shardlab/bson'
import { compileExpression, compilePipeline } from '../src/index.js'
import { aggregate, context, failure, matches, project, update } from './support/helpers.js'

const expression = (value: unknown) => () => compileExpression(toRawValue(value), context)
const stage = (value: Document) => () => compilePipeline([encode(value)], context)

t.test('messages of refused operators and stages are those of the server', (t) => {
  const table: [name: string, action: () => unknown, code: number, message: string][] = [
    [
      '$type without types names the path',
      () => matches({ 'a.b': { $type: [] } }, {}),
      9,
      'a.b must match at least one type',
    ],
    ['an operator in $all', () => matches({ a: { $all: [{ $gt: 1 }] } }, {}), 2, 'no $ expressions in $all'],
    [
      'a collision of paths below a path',
      () => project({ 'a.b': 1, 'a.b.c.d': 1 }, {}),
      31249,
      'Path collision at a.b.c.d remaining portion b.c.d',
    ],
    [
      '$substr is $substrBytes',
      expression({ $substr: ['a'] }),
      16020,
      'Expression $substrBytes takes exactly 3 arguments. 1 were passed in.',
    ],
    [
      '$slice of find whose argument has neither form',
      () => project({ a: { $slice: 'x' } }, {}),
      28667,
      'Invalid $slice syntax. The given syntax { $slice: "x" } did not match the find() syntax because :: Location31273: $slice only supports numbers and [skip, limit] arrays :: The given syntax did not match the expression $slice syntax. :: caused by :: Expression $slice takes at least 2 arguments, and at most 3, but 1 were passed in.',
    ],
    [
      '$slice of find with an array of one number',
      () => project({ a: { $slice: [1] } }, {}),
      28667,
      'Invalid $slice syntax. The given syntax { $slice: [ 1 ] } did not match the find() syntax because :: Location31272: $slice array argument should be of form [skip, limit] :: The given syntax did not match the expression $slice syntax. :: caused by :: Expression $slice takes at least 2 arguments, and at most 3, but 1 were passed in.',
    ],
    [
      '$slice of find with a limit that is not positive, which the expression accepts',
      () => project({ a: { $slice: [1, -1] } }, { a: [1] }),
      28724,
      'First argument to $slice must be an array, but is of type: int',
    ],
    ['$rand with null', expression({ $rand: null }), 10065, 'invalid parameter: expected an object ($rand)'],
    ['$rand with arguments', expression({ $rand: [1] }), 3040501, '$rand does not currently accept arguments'],
    [
      '$let with variables that are not a document',
      expression({ $let: { vars: 1, in: 1 } }),
      10065,
      'invalid parameter: expected an object (vars)',
    ],
    [
      '$unset of an empty path',
      stage({ $unset: [''] }),
      40352,
      'Invalid $unset :: caused by :: FieldPath cannot be constructed with empty string',
    ],
    [
      '$replaceRoot that is not a document',
      () => aggregate([{ $replaceRoot: { newRoot: '$a' } }], [{ _id: 1, a: 1.5 }]),
      40228,
      "'newRoot' expression must evaluate to an object, but resulting value was: 1.5. Type of resulting value: 'double'. Input document: {_id: 1, a: 1.5}",
    ],
    [
      'an array filter that no path names',
      () => update({ $set: { a: 1, b: 'x' } }, { _id: 1 }, { arrayFilters: [{ i: 0 }] }),
      9,
      'The array filter for identifier \'i\' was not used in the update { $set: { a: 1, b: "x" } }',
    ],
  ]
  for (const [name, action, code, message] of table) t.match(failure(action), { code, message }, name)
  t.end()
})
