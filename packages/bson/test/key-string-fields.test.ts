import fc from 'fast-check'
import t from 'tap'
import { encodeKeyString, keyStringFieldEnd } from '@shardlab/bson'
import { valueModel } from './support/arbitrary.js'
import { check } from './support/check.js'
import { rawValue } from './support/model.js'

t.test('the fields of a KeyString end where the next ones begin', async () => {
  check(
    fc.property(fc.array(fc.tuple(valueModel, fc.boolean()), { minLength: 1, maxLength: 4 }), (fields) => {
      const values = fields.map(([model]) => rawValue(model))
      const descending = fields.map(([, descends]) => descends)
      const key = encodeKeyString(values, descending)
      let start = 0
      return (
        values.every((value, i) => {
          const end = keyStringFieldEnd(key, start, descending[i])
          const own = key.slice(start, end)
          start = end
          return own === encodeKeyString([value], [descending[i]!])
        }) && start === key.length
      )
    }),
    5000,
  )
})

t.test('a string that is not a KeyString throws', async (t) => {
  t.throws(() => keyStringFieldEnd('\x01', 0), /not a KeyString/)
  t.throws(() => keyStringFieldEnd('\x30abc', 0), /unterminated text/)
})
