import t from 'tap'
import { codeOf, failure, json, update } from '../support/helpers.js'

t.test('positional operators and array filters select elements', (t) => {
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

t.test('several positional parts may reach the same array', (t) => {
  const filters = { arrayFilters: [{ 'x.k': 1 }, { 'y.k': 1 }] }
  const before = { _id: 1, a: [{ k: 1 }, { k: 2 }] }
  t.equal(
    update({ $set: { 'a.$[x].k': 5, 'a.$[y].m': 1 } }, before, filters),
    json({ _id: 1, a: [{ k: 5, m: 1 }, { k: 2 }] }),
    'filters test the elements as they were before the update',
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
    'new fields are added in the order of their names',
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
