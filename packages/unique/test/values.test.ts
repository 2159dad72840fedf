import t from 'tap'
import { Binary, Decimal128, Double, Int32, Long, ObjectId, Timestamp, UUID } from 'mongodb'
import { sameValue } from '../src/core/values.js'
import { documentAfter, writtenFields } from '../src/driver/updates.js'
import { parseSpec } from '../src/core/specs/parse-spec.js'

t.test('values are the same whatever BSON library made them', (t) => {
  const id = new ObjectId()
  const uuid = new UUID()
  const same: [unknown, unknown][] = [
    [1, new Int32(1)],
    [new Double(1), Long.fromNumber(1)],
    [Number.NaN, Number.NaN],
    [id, new ObjectId(id.toHexString())],
    [uuid, new Binary(uuid.buffer, 4)],
    [Decimal128.fromString('1.5'), Decimal128.fromString('1.5')],
    [new Date(5), new Date(5)],
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
    [Timestamp.fromBits(1, 2), Timestamp.fromBits(1, 2)],
    [Long.fromString('9007199254740993'), Long.fromString('9007199254740993')],
  ]
  for (const [a, b] of same) t.ok(sameValue(a, b), String(a))
  const others: [unknown, unknown][] = [
    [1, '1'],
    [null, undefined],
    [null, {}],
    [id, new ObjectId()],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [[1], { 0: 1 }],
    [new Date(5), 5],
    [new Date(5), {}],
    [new Binary(Buffer.from('a'), 0), new Binary(Buffer.from('a'), 4)],
    [Long.fromString('9007199254740993'), Long.fromString('9007199254740992')],
    [id, id.toHexString()],
  ]
  for (const [a, b] of others) t.notOk(sameValue(a, b), `${String(a)} ${String(b)}`)
  t.end()
})

t.test('the result of an update for unique fields is predicted, or the update is refused', (t) => {
  const specs = ['email', { fields: ['tenant', 'handle'] }, 'contact.phone'].map(parseSpec)
  const before = { _id: 1, email: 'a', tenant: 1, handle: 'x', contact: { phone: 5, fax: 6 } }
  const after = (update: object) => {
    const written = writtenFields(specs, update as Record<string, unknown>)
    return written.touched.length === 0 ? null : documentAfter(before, written)
  }
  t.equal(after({ $set: { name: 1, emails: 2, 'contact.fax': 3 }, $inc: { n: 1 } }), null)
  t.same(after({ $set: { email: 'b' } }), { email: 'b' })
  t.same(after({ $set: { handle: 'y' } }), { tenant: 1, handle: 'y' }, 'all fields of the combination')
  t.same(after({ $unset: { email: '', tenant: '' } }), { handle: 'x' })
  t.same(after({ $set: { contact: { phone: 7 } } }), { contact: { phone: 7 } })
  t.same(after({ $set: { contact: 1 } }), {}, 'the field is gone')
  t.same(after({ $unset: { contact: '' } }), {})
  const refused: [object, RegExp][] = [
    [{ $inc: { 'contact.phone': 1 } }, /\$inc of contact.phone/],
    [{ $set: { 'contact.phone.part': 1 } }, /a part of the unique field/],
    [{ $set: { 'contact.$[].phone': 1 } }, /./],
    [{ $rename: { email: 'mail' } }, /\$rename/],
    [{ $rename: { mail: 'email' } }, /\$rename/],
    [{ $setOnInsert: { email: 1 } }, /\$setOnInsert/],
    [{ $currentDate: { email: true } }, /\$currentDate/],
  ]
  for (const [update, message] of refused)
    t.throws(() => after(update), { name: 'RefusedOperationError', message }, JSON.stringify(update))
  t.equal(writtenFields(specs, [{ $set: { n: 1 } }, { $unset: ['m'] }]).touched.length, 0)
  for (const stage of [{ $set: { email: 1 } }, { $unset: 'contact' }, { $replaceWith: {} }, { $project: { a: 1 } }]) {
    t.throws(() => writtenFields(specs, [stage]), { name: 'RefusedOperationError' })
  }
  t.end()
})
