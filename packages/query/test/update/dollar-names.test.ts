import { CommandError, decode, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { compileUpdate, type EvaluationContext } from '../../src/index.js'
import { context } from '../support/helpers.js'

interface Given {
  readonly over?: Partial<EvaluationContext>
  readonly isInsert?: boolean
}

function result(update: Document, document: Document, { over = {}, isInsert = false }: Given = {}): Document | string {
  const given = Array.isArray(update)
    ? { pipeline: update.map((stage) => encode(stage as Document)) }
    : { document: encode(update) }
  const compiled = compileUpdate(given, {}, { ...context, ...over })
  try {
    return decode(compiled.apply(encode(document), { isInsert }) ?? encode(document))
  } catch (error) {
    if (!(error instanceof CommandError) || error.codeName !== 'DollarPrefixedFieldName') throw error
    return error.message
  }
}

const replaced = (name: string, path = name) =>
  `The dollar ($) prefixed field '${name}' in '${path}' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.`
const invalid = (name: string, path = name) =>
  `The dollar ($) prefixed field '${name}' in '${path}' is not valid for storage.`

t.test('only top-level names of existing documents may not start with a dollar since 5.0', (t) => {
  t.same(result({ $set: { 'address.$street': 'x' } }, { _id: 1 }), { _id: 1, address: { $street: 'x' } })
  t.same(result({ $set: { a: { $b: 1 } } }, { _id: 1 }), { _id: 1, a: { $b: 1 } })
  t.equal(result({ $set: { $a: 1 } }, { _id: 1 }), replaced('$a'))
  t.equal(result({ $inc: { $a: 1 } }, { _id: 1, $a: 1 }), replaced('$a'))
  t.equal(result({ $set: { '$a.b': 1, c: 1 } }, { _id: 1 }), replaced('$a'))
  t.equal(result({ b: 1, $set: { a: 1 } }, { _id: 1 }), replaced('$set'))
  t.same(result({ $set: { $a: 1 } }, { _id: 1, $a: 1 }), { _id: 1, $a: 1 }, 'nothing changes')
  t.end()
})

t.test('an upsert inserts top-level names that start with a dollar since 5.0', (t) => {
  const isInsert = true
  t.same(result({ $set: { $a: 1 } }, { _id: 1 }, { isInsert }), { _id: 1, $a: 1 })
  t.same(result({ b: 1, $a: 1 }, { _id: 1 }, { isInsert }), { _id: 1, b: 1, $a: 1 })
  t.end()
})

t.test('no name that is written may start with a dollar before 5.0', (t) => {
  const over = { dollarFieldsCanBeStored: false }
  for (const isInsert of [false, true]) {
    t.equal(result({ $set: { 'a.$b': 1 } }, { _id: 1 }, { over, isInsert }), invalid('$b', 'a.$b'))
    t.equal(result({ $set: { a: [{ $b: 1 }] } }, { _id: 1 }, { over, isInsert }), invalid('$b', 'a.0.$b'))
    t.equal(result({ b: { $a: 1 } }, { _id: 1 }, { over, isInsert }), invalid('$a', 'b.$a'))
    t.equal(result([{ $set: { b: { $literal: { $a: 1 } } } }], { _id: 1 }, { over, isInsert }), invalid('$a', 'b.$a'))
    t.match(result({ $set: { a: { $ref: 'c', $id: 1 } } }, { _id: 1 }, { over, isInsert }), { a: { oid: 1 } })
  }
  t.same(result({ $unset: { 'a.$b': 1 } }, { _id: 1, a: { $b: 1 } }, { over }), { _id: 1, a: {} })
  t.end()
})
