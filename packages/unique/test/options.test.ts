/** Wrong options get one sentence that names the option and an alternative. */
import t from 'tap'
import { MongoClient, MongoServerError } from 'mongodb'
import { DuplicateValueError, parseSpec, uniqueCollection, ValueTakenError, type UniqueOptions } from '@shardlab/unique'

const client = new MongoClient('mongodb://127.0.0.1:1')
const collection = client.db('records').collection('information')
t.teardown(() => client.close())

t.test('each wrong option is refused with one sentence', (t) => {
  const unique = ['email']
  const wrong: [unknown, string][] = [
    [undefined, "the options are undefined: use { unique: ['email'] }"],
    ['email', "the options are 'email': use { unique: ['email'] }"],
    [{}, "the option unique is missing: name at least one field, { unique: ['email'] }"],
    [{ unique: 'email' }, "the option unique is 'email': use an array, ['email']"],
    [{ unique: [] }, 'the option unique is empty: name at least one field'],
    [{ unique: [3] }, 'an element of the option unique is 3: use the name of a field, or { fields, … }'],
    [{ unique: [null] }, 'an element of the option unique is null: use the name of a field, or { fields, … }'],
    [
      { unique: [{ field: 'email' }] },
      'unknown option field of a unique field: the options are fields, normalize, collation, missing, proxy',
    ],
    [
      { unique: [{ missing: 'skip' }] },
      'the unique field {"missing":"skip"} has no option fields: name at least one field',
    ],
    [{ unique: [{ fields: 3 }] }, 'the option fields is 3: use the name of a field, or several names'],
    [
      { unique: [{ fields: 'email', missing: 'ignore' }] },
      "the option missing of the unique field email is 'ignore': use 'reserve' or 'skip'",
    ],
    [
      { unique: [{ fields: 'email', normalize: 'lower' }] },
      "the option normalize of the unique field email is 'lower': use a function",
    ],
    [
      { unique: [{ fields: 'email', collation: 'en' }] },
      "the option collation of the unique field email is 'en': use an object with a locale, such as { locale: 'en' }",
    ],
    [{ unique: [{ fields: 'email', proxy: 3 }] }, 'the option proxy is 3: use the name of a collection'],
    [
      { unique, sharded: true },
      'unknown option sharded of uniqueCollection: the options are unique, proxies, proxy, transactions, reservationMs, busyMs',
    ],
    [{ unique, proxies: 'many' }, "the option proxies is 'many': use 'sharded' or 'unsharded'"],
    [{ unique, proxy: '' }, "the option proxy is '': use the name of a collection"],
    [{ unique, transactions: true }, "the option transactions is true: use 'never' or 'auto'"],
    [{ unique, reservationMs: '1m' }, "the option reservationMs is '1m': use a number of milliseconds, at least 1000"],
    [{ unique, busyMs: -1 }, 'the option busyMs is -1: use a number of milliseconds, at least 0'],
  ]
  for (const [options, message] of wrong)
    t.throws(() => uniqueCollection(collection, options as UniqueOptions), { name: 'RefusedOperationError', message })
  t.throws(() => uniqueCollection('users' as never, { unique }), {
    name: 'RefusedOperationError',
    message:
      'the first argument is not a collection of the mongodb driver 5.9 or later: use client.db(name).collection(name)',
  })
  t.end()
})

t.test('the parameter of normalize needs no type', (t) => {
  // Compiling this is the test.
  uniqueCollection(collection, {
    unique: ['handle', { fields: 'email', normalize: (email) => email.toLowerCase() }],
  })
  t.equal(parseSpec({ fields: 'email', normalize: (email) => email.trim() }).normalize!(' a ', 'email'), 'a')
  t.end()
})

t.test("DuplicateValueError is a MongoServerError with the fields of the server's duplicate key error", (t) => {
  const taken = new ValueTakenError(parseSpec({ fields: ['tenant', 'handle'] }), [1, 'x'], 7, null)
  const error = new DuplicateValueError(taken)
  t.type(error, MongoServerError)
  t.match(error, {
    name: 'DuplicateValueError',
    message: 'E11000 duplicate value 1, "x" of the unique field tenant,handle: it is used by document 7',
    code: 11000,
    codeName: 'DuplicateKey',
    keyPattern: { tenant: 1, handle: 1 },
    keyValue: { tenant: 1, handle: 'x' },
    owner: 7,
    confirmed: true,
    until: null,
  })
  t.equal(error.hasErrorLabel('RetryableWriteError'), false)
  t.end()
})
