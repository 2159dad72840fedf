/** OP_QUERY, which only handshakes use. */
import { pick } from '../../fuzz/values.js'
import { cstring, document, int32, message, Op, query } from '../messages.js'
import { kind, type Kind } from './kind.js'

const handshakes = ['hello', 'isMaster', 'ismaster', 'buildInfo', 'buildinfo']

export const queryKinds: readonly Kind[] = [
  kind('a handshake', 'ok', (random, id) =>
    query(id, 'admin.$cmd', document({ [pick(random, handshakes)]: 1 }), { flags: 4 * random.below(2) }),
  ),
  kind('a wrapped handshake', 'ok', (random, id) =>
    query(
      id,
      'admin.$cmd',
      document({
        [pick(random, ['$query', 'query'])]: { [pick(random, handshakes)]: 1 },
        $readPreference: { mode: 'nearest' },
      }),
    ),
  ),
  kind('a command that must not be an OP_QUERY', 352, (random, id) =>
    query(id, 'hostile.$cmd', document({ [pick(random, ['find', 'insert', 'ping', 'nothing', ''])]: 'plain' }), {
      numberToReturn: pick(random, [1, -1]),
    }),
  ),
  kind('an empty command', 352, (_random, id) => query(id, 'hostile.$cmd', document({}))),
  kind('a query on a collection', 'removed operation', (random, id) =>
    query(
      id,
      pick(random, ['hostile.plain', 'hostile.a.$cmd', 'hostile', 'hostile.$cmd.x', '']),
      document({ x: random.below(9) }),
      {
        flags: random.below(256),
        numberToReturn: random.below(1000),
      },
    ),
  ),
  kind('a query on a collection with an invalid document', 'removed operation', (random, id) =>
    query(id, 'hostile.plain', random.bytes(random.below(40))),
  ),
  kind('a stream of replies', 18527, (_random, id) => query(id, 'admin.$cmd', document({ hello: 1 }), { flags: 64 })),
  kind('a number of replies', 16979, (random, id) =>
    query(id, 'admin.$cmd', document({ hello: 1 }), {
      numberToReturn: pick(random, [0, 2, -2, 2 ** 31 - 1, -(2 ** 31)]),
    }),
  ),
  kind('a database in the command', 40621, (_random, id) => query(id, 'admin.$cmd', document({ hello: 1, $db: 'x' }))),
  kind('a time limit outside of the command', 72, (_random, id) =>
    query(id, 'admin.$cmd', document({ $query: { hello: 1 }, $maxTimeMS: 5 })),
  ),
  kind('a wrapped value that is no command', 10065, (random, id) =>
    query(
      id,
      'admin.$cmd',
      document({ [pick(random, ['$query', 'query'])]: pick<unknown>(random, [1, 'x', null, new Date(0)]) }),
    ),
  ),
  kind('options that are no document', 10065, (random, id) =>
    query(id, 'admin.$cmd', document({ hello: 1, $queryOptions: pick<unknown>(random, [1, 'x', null]) })),
  ),
  kind('a message that ends within its numbers', 18634, (random, id) =>
    message(id, Op.query, int32(0), cstring('admin.$cmd'), random.bytes(random.below(8))),
  ),
  kind('no document', 22, (random, id) => query(id, 'admin.$cmd', random.bytes(random.below(5)))),
  kind('a document that is cut off', 22, (random, id) => {
    const whole = document({ hello: 1, text: 'abc' })
    return query(id, 'admin.$cmd', whole.subarray(0, 5 + random.below(whole.length - 5)))
  }),
  kind('a second document that is cut off', 22, (random, id) =>
    query(
      id,
      'admin.$cmd',
      Buffer.concat([document({ hello: 1 }), document({ a: 1 }).subarray(0, 1 + random.below(10))]),
    ),
  ),
  kind(
    'a document that is nested too deep',
    22,
    (random, id) => {
      let nested = {}
      for (let depth = 0; depth < 201 + random.below(20); depth++) nested = { a: nested }
      return query(id, 'admin.$cmd', document({ hello: nested }))
    },
    1,
  ),
]
