import { encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { compilePipeline, languageOf } from '../../src/index.js'
import { join } from '../support/foreign.js'
import { codeOf, context, failure } from '../support/helpers.js'

t.test('invalid arguments of joins are refused with the code and message of the server', (t) => {
  const lookup = (fields: Document) => ({ $lookup: { from: 'f', as: 'j', ...fields } })
  const graph = (fields: Document) => ({
    $graphLookup: { from: 'f', startWith: 1, connectFromField: 'a', connectToField: 'b', as: 'j', ...fields },
  })
  const table: [stage: Document, code: number, message?: string][] = [
    [{ $lookup: 1 }, 9, 'the $lookup stage specification must be an object, but found int'],
    [lookup({}), 9, "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified"],
    [lookup({ localField: 'a' }), 9],
    [
      lookup({ localField: 'a', pipeline: [] }),
      9,
      "$lookup requires both or neither of 'localField' and 'foreignField' to be specified",
    ],
    [
      lookup({ localField: 'a', foreignField: 'b', let: { x: 1 } }),
      9,
      "$lookup with a 'let' argument must also specify 'pipeline'",
    ],
    [lookup({ localField: 'a', foreignField: 'b', nope: '1' }), 9, 'unknown argument to $lookup: nope'],
    [{ $lookup: { from: 'f', localField: 'a', foreignField: 'b' } }, 9, "must specify 'as' field for a $lookup"],
    [{ $lookup: { as: 'x', pipeline: [{ $match: {} }] } }, 9],
    [{ $lookup: { as: 'x' } }, 9, "must specify 'pipeline' when 'from' is empty"],
    [lookup({ from: 1, pipeline: [] }), 9, "$lookup 'from' field must be a string, but found int"],
    [lookup({ from: { db: 'x', coll: 'y' }, pipeline: [] }), 9],
    [lookup({ from: { db: 'config', coll: 'cache.chunks.a.b' }, pipeline: [] }), 0],
    [lookup({ pipeline: 1 }), 14],
    [lookup({ pipeline: [1] }), 14],
    [lookup({ pipeline: [{ $nope: 1 }] }), 40324],
    [lookup({ pipeline: [{ $out: 'x' }] }), 51047, "$out is not allowed within a $lookup's sub-pipeline"],
    [lookup({ let: { Bad: 1 }, pipeline: [] }), 9],
    [lookup({ let: { x: 1 }, pipeline: [{ $match: { $expr: '$$y' } }] }), 17276],
    [lookup({ let: { x: '$a' }, pipeline: [{ $match: { $expr: { $divide: [1, '$$x'] } } }] }), 0],
    [lookup({ from: '', localField: 'a', foreignField: 'b' }), 73],
    [{ $unionWith: 1 }, 9],
    [{ $unionWith: {} }, 9],
    [{ $unionWith: { coll: 'f', nope: 1 } }, 40415, "BSON field '$unionWith.nope' is an unknown field."],
    [{ $unionWith: { coll: 1 } }, 14],
    [
      { $unionWith: { coll: 'f', pipeline: [{ $merge: 'x' }] } },
      31441,
      "$merge is not allowed within a $unionWith's sub-pipeline",
    ],
    [{ $graphLookup: {} }, 9],
    [graph({ maxDepth: 'x' }), 40100],
    [graph({ maxDepth: -1 }), 40101, 'maxDepth requires a nonnegative argument, found: -1'],
    [graph({ maxDepth: 1.5 }), 40102],
    [graph({ as: 1 }), 40103],
    [graph({ nope: 'x' }), 40104],
    [graph({ as: '' }), 40105],
    [graph({ from: '' }), 73],
    [graph({ restrictSearchWithMatch: 1 }), 40185],
    [graph({ restrictSearchWithMatch: { a: { $nope: 1 } } }), 2],
  ]
  for (const [stage, code, message] of table) {
    const error = failure(() => compilePipeline([encode(stage)], context, { db: 'test' }))
    t.equal(error?.code ?? 0, code, JSON.stringify(stage))
    if (message !== undefined) t.equal(error?.message, message)
  }
  const old = { ...context, language: languageOf('4.4') }
  t.equal(
    codeOf(() =>
      compilePipeline([encode(lookup({ localField: 'a', foreignField: 'b', pipeline: [] }))], old, { db: 'x' }),
    ),
    9,
  )
  t.equal(
    codeOf(() => join([graph({})], [{}], { f: [{ b: 1 }] })),
    40271,
    'documents without _id cannot be distinguished',
  )
  t.end()
})
