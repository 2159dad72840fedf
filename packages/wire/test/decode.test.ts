import t from 'tap'
import { Binary, decode, encode, findField } from '@shardlab/bson'
import {
  checkOpQueryCommand,
  decodeRequest,
  encodeCommand,
  MsgFlag,
  ProtocolError,
  type CommandRequest,
  type InvalidRequest,
} from '../src/index.js'
import { kind0, kind1, lookup, msg, query, raw } from './helpers.js'

const ping = encode({ ping: 1, $db: 'admin' })
const first = encode({ _id: 1 })
const second = encode({ _id: 2 })

function command(frame: Uint8Array): CommandRequest {
  const request = decodeRequest(frame, lookup)
  if (request.kind !== 'command') throw new Error(JSON.stringify(decode(request.reply)))
  return request
}

function invalid(frame: Uint8Array): InvalidRequest {
  const request = decodeRequest(frame, lookup)
  if (request.kind !== 'invalid') throw new Error('accepted')
  return request
}

function nestedTo(depth: number): Record<string, unknown> {
  let nested: Record<string, unknown> = {}
  for (let i = 0; i < depth; i++) nested = { a: nested }
  return nested
}

t.test('an OP_MSG has its sections in any order, and its documents are views', async (t) => {
  for (const sections of [
    [kind0(ping), kind1('documents', [first, second]), kind1('more', [])],
    [kind1('documents', [first, second]), kind0(ping), kind1('more', [])],
    [kind1('documents', [first, second]), kind1('more', []), kind0(ping)],
  ]) {
    const frame = msg(0, ...sections)
    const request = command(frame)
    t.same(decode(request.body), { ping: 1, $db: 'admin' })
    t.equal(request.body.buffer, frame.buffer)
    t.same(
      request.sequences.map(([identifier, documents]) => [
        identifier,
        documents.map((document) => decode(document)._id),
      ]),
      [
        ['documents', [1, 2]],
        ['more', []],
      ],
    )
    t.same(request.format, { responseTo: 77, legacy: false, legacyFlags: 0, checksum: false, compressorId: null })
  }
})

t.test('unknown required flags of an OP_MSG close the connection, optional ones are ignored', async (t) => {
  t.match(command(msg(MsgFlag.moreToCome, kind0(ping))), { moreToCome: true, exhaustAllowed: false })
  t.match(command(msg(MsgFlag.exhaustAllowed, kind0(ping))), { moreToCome: false, exhaustAllowed: true })
  t.match(command(msg(0x8000_0000, kind0(ping))), { kind: 'command' }, 'unknown optional bits are ignored')
  for (let bit = 2; bit < 16; bit++) {
    t.throws(() => decodeRequest(msg(1 << bit, kind0(ping)), lookup), {
      name: 'ProtocolError',
      code: 223,
      codeName: 'IllegalOpMsgFlag',
    })
  }
})

t.test('a wrong checksum of an OP_MSG closes the connection', async (t) => {
  const good = encodeCommand(5, ping, { checksum: true })
  t.equal(command(good).format.checksum, true)
  for (let at = 16; at < good.length; at++) {
    const bad = Buffer.from(good)
    bad[at]! ^= 1
    if (at === 16) continue
    try {
      t.equal(decodeRequest(bad, lookup).kind, 'invalid', `byte ${at}`)
    } catch (error) {
      t.ok(error instanceof ProtocolError, `byte ${at}`)
    }
  }
  const wrong = Buffer.from(good)
  wrong[wrong.length - 1]! ^= 1
  t.throws(() => decodeRequest(wrong, lookup), { code: 288, codeName: 'ChecksumMismatch' })
  t.match(decode(invalid(msg(MsgFlag.checksumPresent, Buffer.alloc(4))).reply), { code: 51252 })
})

t.test('each error of an OP_MSG is answered, or closes the connection, as on the server', async (t) => {
  const cases: [name: string, frame: Buffer, code: number, codeName: string][] = [
    ['two bodies', msg(0, kind0(ping), kind0(ping)), 40430, 'Location40430'],
    ['no body', msg(0, kind1('documents', [first])), 40587, 'Location40587'],
    ['nothing', msg(0), 40587, 'Location40587'],
    ['unknown kind', msg(0, kind0(ping), Buffer.from([7])), 40432, 'Location40432'],
    ['same sequence twice', msg(0, kind0(ping), kind1('a', []), kind1('a', [])), 40431, 'Location40431'],
    ['sequence and field', msg(0, kind0(ping), kind1('ping', [])), 40433, 'Location40433'],
    ['no $db', msg(0, kind0(encode({ ping: 1 }))), 40571, 'Location40571'],
    ['$db a number', msg(0, kind0(encode({ ping: 1, $db: 5 }))), 13111, 'Location13111'],
    [
      'sequence and path',
      msg(0, kind0(encode({ ping: { a: [] }, $db: 'x' })), kind1('ping.a.b', [])),
      40433,
      'Location40433',
    ],
    ['security token', msg(0, kind0(ping), Buffer.from([2])), 13, 'Unauthorized'],
    ['sequence too long', msg(0, kind0(ping), kind1('a', [], 1)), 15, 'Overflow'],
    ['sequence too short', msg(0, kind0(ping), kind1('a', [first], -1)), 22, 'InvalidBSON'],
    ['sequence without name', msg(0, kind0(ping), Buffer.from([1, 5, 0, 0, 0, 65])), 15, 'Overflow'],
    ['body too long', msg(0, kind0(ping).subarray(0, -1)), 22, 'InvalidBSON'],
    ['body of 4 bytes', msg(0, Buffer.from([0, 4, 0, 0, 0])), 22, 'InvalidBSON'],
    ['body of -1 bytes', msg(0, Buffer.from([0, 255, 255, 255, 255, 0])), 22, 'InvalidBSON'],
    ['unknown type', msg(0, kind0(Buffer.from([8, 0, 0, 0, 0x55, 65, 0, 0]))), 22, 'InvalidBSON'],
  ]
  for (const [name, frame, code, codeName] of cases) {
    const request = invalid(frame)
    t.match(decode(request.reply), { ok: 0, code, codeName, errmsg: String }, name)
    t.same(Object.keys(decode(request.reply)), ['ok', 'errmsg', 'code', 'codeName'])
    t.equal(request.moreToCome, false)
  }
  t.equal(invalid(msg(MsgFlag.moreToCome)).moreToCome, true)
  t.throws(() => decodeRequest(msg(0, kind0(ping), kind1('a', []), kind1('b', []), kind1('c', [])), lookup), {
    code: 233,
  })
  t.throws(() => decodeRequest(raw(2013, Buffer.alloc(3)), lookup), ProtocolError)
})

t.test('documents that are too large or nested too deep are refused', async (t) => {
  const big = encode({ ping: 'x'.repeat(16_793_600), $db: 'admin' })
  t.match(decode(invalid(msg(0, kind0(big))).reply), { code: 10334, codeName: 'BSONObjectTooLarge' })
  t.match(decode(invalid(msg(0, kind0(encode({ ping: nestedTo(210), $db: 'admin' })))).reply), {
    code: 15,
    codeName: 'Overflow',
  })
})

t.test('D716 old binary data with a wrong length inside are refused', async (t) => {
  for (const [inner, kind] of [
    [3, 'command'],
    [4, 'invalid'],
    [-1, 'invalid'],
  ] as const) {
    const body = Buffer.from(encode({ ping: new Binary(Buffer.from('abc'), 2), $db: 'x' }))
    body.writeInt32LE(inner, body.indexOf('abc') - 4)
    t.equal(decodeRequest(msg(0, kind0(body)), lookup).kind, kind, `length ${inner}`)
  }
})

t.test('D715 removed and unknown opcodes are refused as on servers since 5.1', async (t) => {
  for (const [opCode, code] of [
    [2001, 5745705],
    [2002, 5745706],
    [2006, 5745704],
    [2007, 5745707],
    [1, 20],
    [2011, 20],
    [0, 20],
    [-1, 20],
  ] as const) {
    t.throws(
      () => decodeRequest(raw(opCode, Buffer.alloc(40)), lookup),
      { name: 'ProtocolError', code },
      `opcode ${opCode}`,
    )
  }
  const getMore = invalid(raw(2005, Buffer.alloc(40)))
  t.match(getMore.format, { legacy: true, legacyFlags: 2, responseTo: 77 })
  t.throws(() => decodeRequest(raw(2005, Buffer.from('\0\0\0\0test.c')), lookup), { code: 18633 })
  t.match(decode(getMore.reply), { $err: /^OP_GET_MORE is no longer supported/, code: 5739101, ok: 0 })
})

t.test('the handshakes of drivers by OP_QUERY are decoded', async (t) => {
  for (const [flags, extra] of [
    [0, {}],
    [4, { $readPreference: { mode: 'secondaryPreferred' } }],
  ] as const) {
    const body = '13000000' + '10' + '69734d617374657200' + '01000000' + '00' // { isMaster: 1 }
    const frame = Buffer.from(
      '3a000000' +
        '2a000000' +
        '00000000' +
        'd4070000' +
        `0${flags}000000` +
        Buffer.from('admin.$cmd\0').toString('hex') +
        '00000000' +
        'ffffffff' +
        body,
      'hex',
    )
    t.equal(frame.readInt32LE(), frame.length)
    const request = command(frame)
    t.same(request.format, { responseTo: 42, legacy: true, legacyFlags: 8, checksum: false, compressorId: null })
    t.same(decode(request.body), { isMaster: 1, ...extra, $db: 'admin' })
  }
})

t.test('a command by OP_QUERY is unwrapped, with its read preference', async (t) => {
  for (const name of ['$query', 'query']) {
    const wrapped = query('test.$cmd', encode({ [name]: { hello: 1 }, $readPreference: { mode: 'nearest' } }))
    t.same(decode(command(wrapped).body), { hello: 1, $readPreference: { mode: 'nearest' }, $db: 'test' })
  }
  t.same(
    decode(
      command(query('a.$cmd', encode({ hello: 1, $queryOptions: { $readPreference: { mode: 'primary' } } }))).body,
    ),
    {
      hello: 1,
      $readPreference: { mode: 'primary' },
      $db: 'a',
    },
  )
  t.equal(findField(command(query('a.$cmd', encode({ hello: 1 }), 4)).body, '$readPreference')?.type, 3)
})

t.test('servers since 5.1 accept only handshake commands by OP_QUERY', async (t) => {
  for (const name of ['hello', 'isMaster', 'ismaster', 'buildinfo']) t.doesNotThrow(() => checkOpQueryCommand(name))
  for (const name of ['find', 'getlasterror', '']) {
    t.throws(() => checkOpQueryCommand(name), {
      code: 352,
      codeName: 'UnsupportedOpQueryCommand',
      message: new RegExp('^Unsupported OP_QUERY command: ' + name),
    })
  }
  t.same(
    decode(command(query('test.$cmd', encode({ find: 'c' }))).body),
    { find: 'c', $db: 'test' },
    'the role decides by its version',
  )
})

t.test('each error of an OP_QUERY has the code of the server', async (t) => {
  const hello = encode({ hello: 1 })
  const cases: [Buffer, number][] = [
    [query('admin.$cmd', hello, 64), 18527],
    [query('admin.$cmd', hello, 0, 0), 16979],
    [query('admin.$cmd', encode({ hello: 1, $db: 'x' })), 40621],
    [query('admin.$cmd', encode({ $query: { hello: 1 }, $maxTimeMS: 5 })), 72],
    [query('admin.$cmd', encode({ $query: 1 })), 10065],
    [query('admin.$cmd', hello.subarray(0, -1)), 22],
    [query('admin.$cmd', Buffer.alloc(2)), 22],
    [query('admin.$cmd', Buffer.alloc(0)), 22],
    [query('admin.$cmd', encode({ hello: nestedTo(210) })), 22],
  ]
  for (const [frame, code] of cases) {
    const request = invalid(frame)
    t.match(decode(request.reply), { ok: 0, code }, `code ${code}`)
    t.match(request.format, { legacy: true, legacyFlags: 8 })
  }
  const find = invalid(query('test.c', encode({ a: 1 })))
  t.match(decode(find.reply), { $err: /^OP_QUERY is no longer supported/, code: 5739101, ok: 0 })
  t.equal(find.format.legacyFlags, 2)
  t.throws(() => decodeRequest(raw(2004, Buffer.from('\0\0\0\0admin.$cmd')), lookup), ProtocolError)
})
