import { userDigest, type UserName } from '@shardlab/auth'
import { Binary, CommandError, decode, encode, UUID, type Document } from '@shardlab/bson'
import { behavioursOf } from '@shardlab/sharding'
import t from 'tap'
import { accessRulesOf } from '../src/access/access-rules.js'
import { ConnectionAccess } from '../src/access/connection-access.js'
import { withSessionUser } from '../src/access/session-user.js'
import { twice } from './support/asked.js'

const ann = { user: 'ann', db: 'admin' }
const own = new Binary(Buffer.from(userDigest(ann)))
const other = new Binary(Buffer.from(userDigest({ user: 'ben', db: 'admin' })))
const id = new UUID()

function accessFor(...names: readonly UserName[]): ConnectionAccess {
  const access = new ConnectionAccess(accessRulesOf(behavioursOf('5.0')))
  for (const name of names) {
    const user = { name, userId: null, credentials: new Map(), customData: null, authenticationRestrictions: null }
    access.logIn({ user: { ...user, roles: [] } as never, roles: [], privileges: [], restrictions: [] }, 0, false)
  }
  return access
}

/** The name of the error, if there is one. */
function changed(body: Document | Uint8Array, access = accessFor(ann), command = 'find'): Document | string {
  try {
    return decode(withSessionUser(command, body instanceof Uint8Array ? body : encode(body), access))
  } catch (error) {
    if (error instanceof CommandError) return error.codeName
    throw error
  }
}

t.test('the id of a session gets the digest of the user', (t) => {
  const before = { find: 'rows', filter: { a: [1, { b: 'x' }] } }
  const after = { comment: 'c', $db: 'shop' }
  t.same(changed({ ...before, lsid: { id }, ...after }), { ...before, lsid: { id, uid: own }, ...after })
  t.same(changed({ ...before, lsid: { id, uid: own } }), { ...before, lsid: { id, uid: own } })
  t.same(changed({ ...before, lsid: {} }), { ...before, lsid: { uid: own } })
  t.same(changed(before), before)
  const sessions = { endSessions: [{ id }, { id, uid: own }], lsid: { id } }
  t.same(changed(sessions, accessFor(ann), 'endSessions'), {
    endSessions: [
      { id, uid: own },
      { id, uid: own },
    ],
    lsid: { id, uid: own },
  })
  t.end()
})

t.test('the digest of another user is refused, also beside the own one', (t) => {
  const find = { find: 'rows' }
  t.equal(changed({ ...find, lsid: { id, uid: other } }), 'Unauthorized')
  t.equal(changed({ ...find, lsid: { id, uid: 'x' } }), 'Unauthorized')
  for (const lsid of [
    { id, uid: own, uix: other },
    { id, uid: other, uix: own },
  ])
    t.equal(changed(twice({ ...find, lsid }, 'uid', 'uix')), 'Unauthorized')
  t.equal(changed({ endSessions: [{ id, uid: other }] }, accessFor(ann), 'endSessions'), 'Unauthorized')
  t.end()
})

t.test('without a user there are no sessions, and with several users none', (t) => {
  t.same(changed({ find: 'rows', lsid: { id, uid: other } }, accessFor()), { find: 'rows' })
  const two = accessFor(ann, { user: 'ben', db: 'shop' })
  t.equal(changed({ find: 'rows', lsid: { id } }, two), 'Unauthorized')
  t.same(changed({ find: 'rows' }, two), { find: 'rows' })
  t.end()
})
