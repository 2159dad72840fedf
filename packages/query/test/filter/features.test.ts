import { encode, type Document } from '@shardlab/bson'
import t from 'tap'
import {
  allFilterFeatures,
  compileFilter,
  noFilterFeatures,
  pipelineFilterFeatures,
  validatorFilterFeatures,
  type FilterFeatures,
} from '../../src/index.js'
import { aggregate, context, failure, project, update } from '../support/helpers.js'

const errorOf = (filter: Document, features: FilterFeatures) => {
  const error = failure(() => compileFilter(encode(filter), context, features))
  return error === null ? null : [error.code, error.message]
}
const near = [5626500, '$geoNear, $near, and $nearSphere are not allowed in this context']
const expr = [224, '$expr is not allowed in this context']
const schema = [224, '$jsonSchema is not allowed in this context']
const text = [2, '$text is not allowed in this context']
const where = [2, '$where is not allowed in this context']

t.test('restricted operators are allowed in some filters only', (t) => {
  const filters: Record<string, Document> = {
    near: { a: { $near: [1, 2] } },
    where: { $and: [{ $where: 'true' }] },
    text: { $text: { $search: 'x' } },
    expr: { $expr: true },
    schema: { $jsonSchema: {} },
    sampleRate: { $sampleRate: 0.5 },
  }
  const errors = (features: FilterFeatures) =>
    Object.fromEntries(Object.entries(filters).map(([name, filter]) => [name, errorOf(filter, features)]))
  const index = [27, 'text index required for $text query']
  const script = [6108304, 'no globalScriptEngine in $where parsing']
  const geo = [291, 'unable to find index for $geoNear query']
  t.same(errors(allFilterFeatures), {
    near: geo,
    where: script,
    text: index,
    expr: null,
    schema: null,
    sampleRate: null,
  })
  t.same(errors(pipelineFilterFeatures), { near, where, text: index, expr: null, schema: null, sampleRate: null })
  t.same(errors(validatorFilterFeatures), { near, where, text, expr: null, schema: null, sampleRate: null })
  t.same(errors(noFilterFeatures), { near, where, text, expr, schema, sampleRate: null })
  t.end()
})

t.test('operators for whole documents are refused in filters of elements', (t) => {
  for (const name of ['$expr', '$text', '$where', '$sampleRate']) {
    const error = errorOf({ a: { $elemMatch: { b: 1, [name]: 1 } } }, allFilterFeatures)
    t.same(error, [2, `${name} can only be applied to the top-level document`])
  }
  t.same(errorOf({ a: { $where: 'true' } }, allFilterFeatures), [2, '$where cannot be applied to a field'])
  t.end()
})

t.test('each kind of filter has its set of features', (t) => {
  const codeAndMessage = (work: () => unknown) => {
    const error = failure(work)
    return [error?.code, error?.message]
  }
  t.same(
    codeAndMessage(() => aggregate([{ $match: { a: { $nearSphere: [1, 2] } } }], [])),
    near,
  )
  t.same(
    codeAndMessage(() => update({ $pull: { a: { $expr: true } } }, { a: [{}] })),
    expr,
  )
  t.same(
    codeAndMessage(() => update({ $set: { 'a.$[x]': 1 } }, { a: [1] }, { arrayFilters: [{ $expr: true }] })),
    [224, 'Error parsing array filter :: caused by :: $expr is not allowed in this context'],
  )
  t.same(
    codeAndMessage(() => project({ a: { $elemMatch: { b: { $near: [1, 2] } } } }, {})),
    near,
  )
  t.end()
})
