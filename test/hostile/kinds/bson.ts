/** Documents that are invalid, and documents that are only strange. */
import type { Random } from '@shardlab/actor'
import { pick } from '../../fuzz/values.js'
import {
  bodySection,
  cstring,
  document,
  field,
  int32,
  msg,
  ping,
  rawDocument,
  sequenceSection,
  text,
} from '../messages.js'
import { kind, type Declared, type Kind } from './kind.js'

const types = {
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binary: 5,
  bool: 8,
  regex: 11,
  pointer: 12,
  code: 13,
  symbol: 14,
  scope: 15,
}

/** The argument that every command accepts, with a value of any type. */
const comment = 'comment'

const lengthsOfNothing = [0, -1, -(2 ** 31), 2 ** 31 - 1, 1_000_000]

/** A ping with one field, in the body or in a document sequence. */
function having(name: string, answer: Declared, make: (random: Random) => Buffer, weight = 10): Kind {
  return kind(
    name,
    answer,
    (random, id) => {
      const bytes = make(random)
      if (random.chance(3, 4)) return msg(id, 0, bodySection(ping(bytes)))
      return msg(id, 0, bodySection(ping()), sequenceSection('documents', [document({ _id: 1 }), rawDocument([bytes])]))
    },
    weight,
  )
}

const onlyInBody = (name: string, answer: Declared, make: (random: Random) => Buffer, weight = 10): Kind =>
  kind(name, answer, (random, id) => msg(id, 0, bodySection(ping(make(random)))), weight)

function nestedTo(depth: number, type: number): Buffer {
  // Built as one buffer: one per level would take long.
  const level = Buffer.concat([int32(0), Buffer.of(type), cstring('0')])
  const size = depth * level.length + 5 + depth
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < depth; i++) {
    level.copy(bytes, i * level.length)
    bytes.writeInt32LE(size - i * (level.length + 1), i * level.length)
  }
  bytes.writeInt32LE(5, depth * level.length)
  return bytes
}

const commented = (...fields: Buffer[]): Buffer => field(types.object, comment, rawDocument(fields))

const codeWithScope = (code: string, scope: Buffer, sizeChange = 0): Buffer =>
  Buffer.concat([int32(4 + text(code).length + scope.length + sizeChange), text(code), scope])

const invalidUtf8 = (random: Random): Buffer => {
  const bytes = pick(random, [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x61, 0xe2, 0x82]])
  return Buffer.concat([int32(bytes.length + 1), Buffer.from(bytes), Buffer.of(0)])
}

const hugeArray = rawDocument(Array.from({ length: 20_000 }, (_, i) => field(0x10, String(i), int32(i))))
const tooLarge = bodySection(ping(field(types.binary, comment, int32(16_793_600), Buffer.alloc(16_793_601))))
const largest = bodySection(ping(field(types.binary, comment, int32(16_793_000), Buffer.alloc(16_793_001))))

export const bsonKinds: readonly Kind[] = [
  having('an unknown type', 22, (random) => {
    const known = new Set([...Array.from({ length: 0x14 }, (_, i) => i), 0x7f, 0xff])
    let type = 0x14
    do type = random.below(256)
    while (known.has(type))
    return field(type, comment, random.bytes(random.below(9)))
  }),
  having('a string of an impossible length', 22, (random) =>
    field(
      pick(random, [types.string, types.code, types.symbol, types.pointer]),
      comment,
      int32(pick(random, lengthsOfNothing)),
      Buffer.from('abc\0'),
    ),
  ),
  having('a string without its terminator', 22, (random) =>
    field(pick(random, [types.string, types.code, types.symbol]), comment, int32(3), Buffer.from('abc')),
  ),
  having('a document of an impossible size', 22, (random) =>
    field(
      pick(random, [types.object, types.array]),
      comment,
      int32(pick(random, [...lengthsOfNothing, 1, 4])),
      Buffer.of(0),
    ),
  ),
  having('a document with a wrong size', 22, (random) => {
    const size = pick(random, [5, 6, 11, 13, 14, 100])
    return field(pick(random, [types.object, types.array]), comment, rawDocument([field(0x10, 'a', int32(1))], size))
  }),
  having('binary data of an impossible length', 22, (random) =>
    field(
      types.binary,
      comment,
      int32(pick(random, lengthsOfNothing.slice(1))),
      Buffer.of(pick(random, [0, 4, 0x80])),
      Buffer.from('abc'),
    ),
  ),
  having('a boolean that is neither', 22, (random) => field(types.bool, comment, Buffer.of(2 + random.below(254)))),
  having('a code with scope of a wrong size', 22, (random) =>
    field(types.scope, comment, codeWithScope('code', document({ a: 1 }), pick(random, [-2, -1, 1, 2, 1000]))),
  ),
  having('a code with a scope that is cut off', 22, (random) =>
    field(types.scope, comment, codeWithScope('code', document({ a: 1 }).subarray(0, random.below(12)))),
  ),
  kind('a pattern that does not end', 22, (random, id) => {
    const bytes = rawDocument([
      field(0x10, 'ping', int32(1)),
      field(types.regex, comment, Buffer.from('abc'.slice(random.below(3)))),
    ])
    return msg(id, 0, bodySection(bytes))
  }),
  kind('a value that is cut off', 22, (random, id) => {
    const [type, size] = pick(random, [
      [1, 8],
      [7, 12],
      [9, 8],
      [0x10, 4],
      [0x11, 8],
      [0x12, 8],
      [0x13, 16],
    ] as const)
    return msg(id, 0, bodySection(rawDocument([field(type, comment, Buffer.alloc(random.below(size), 1))])))
  }),
  kind('a document that is longer than its size', 22, (_random, id) => {
    const fields = [field(0x10, 'ping', int32(1)), field(types.string, '$db', text('admin'))]
    const whole = rawDocument(fields)
    return msg(id, 0, bodySection(rawDocument(fields, whole.length - 1)))
  }),
  kind('a document without its terminator', 22, (random, id) => {
    const bytes = ping()
    bytes[bytes.length - 1] = 1 + random.below(255)
    return msg(id, 0, bodySection(bytes))
  }),
  kind('a document that ends early', 22, (_random, id) =>
    msg(id, 0, bodySection(rawDocument([Buffer.of(0), ...Array.from({ length: 3 }, () => Buffer.of(0))]))),
  ),
  kind('a document of an impossible size as the body', 22, (random, id) =>
    msg(id, 0, bodySection(Buffer.concat([int32(pick(random, [...lengthsOfNothing, 1, 2, 3, 4])), Buffer.of(0)]))),
  ),
  having(
    'documents nested too deep',
    15,
    (random) => {
      const type = pick(random, [types.object, types.array])
      return field(type, comment, nestedTo(200 + random.below(30), type))
    },
    2,
  ),
  onlyInBody(
    'documents nested very deep',
    15,
    () => field(types.object, comment, nestedTo(100_000, types.object)),
    0.05,
  ),
  onlyInBody(
    'documents nested as deep as allowed',
    'ok',
    (random) => {
      const type = pick(random, [types.object, types.array])
      return field(type, comment, nestedTo(199, type))
    },
    2,
  ),
  having(
    'a code with scope that is nested too deep',
    15,
    () => {
      let bytes = rawDocument([])
      for (let depth = 0; depth < 101; depth++) bytes = rawDocument([field(types.scope, 'x', codeWithScope('', bytes))])
      return field(types.object, comment, bytes)
    },
    1,
  ),
  onlyInBody('the same name many times', 'ok', (random) =>
    field(
      types.object,
      comment,
      rawDocument(Array.from({ length: 1 + random.below(9) }, () => field(0x10, 'a', int32(1)))),
    ),
  ),
  onlyInBody('text that is not UTF-8', 'ok', (random) =>
    field(pick(random, [types.string, types.code, types.symbol]), comment, invalidUtf8(random)),
  ),
  onlyInBody('a name that is not UTF-8', 'ok', (random) =>
    commented(
      Buffer.concat([
        Buffer.of(0x0a),
        Buffer.from([0xff, 0xc0]),
        random.bytes(2).map((byte) => byte | 1),
        Buffer.of(0),
      ]),
    ),
  ),
  onlyInBody('an empty name', 'ok', () => commented(field(0x0a, ''))),
  onlyInBody('an array whose indexes are wrong', 'ok', (random) =>
    field(types.array, comment, rawDocument([field(0x0a, pick(random, [comment, '7', '-1', ''])), field(0x0a, '0')])),
  ),
  onlyInBody('names of JavaScript', 'ok', (random) =>
    commented(field(types.object, pick(random, ['__proto__', 'constructor', 'toString']), document({ a: 1 }))),
  ),
  onlyInBody('text with a zero in it', 'ok', () => field(types.string, comment, int32(4), Buffer.from('a\0b\0'))),
  onlyInBody('a huge array', 'ok', () => field(types.array, comment, hugeArray), 0.2),
  kind('a document that is too large', 10334, (_random, id) => msg(id, 0, tooLarge), 0.02),
  kind('a document as large as allowed', 'ok', (_random, id) => msg(id, 0, largest), 0.02),
  kind(
    'damaged bytes in the body',
    'derived',
    (random, id) => {
      const content = ping(
        field(types.object, comment, document({ a: [1, 'text', { b: true }], d: new Date(0), n: null })),
      )
      for (let flips = 1 + random.below(3); flips > 0; flips--)
        content[random.below(content.length)] = random.below(256)
      return msg(id, 0, bodySection(content))
    },
    30,
  ),
  kind(
    'damaged lengths in the body',
    'derived',
    (random, id) => {
      const content = ping(
        field(types.object, comment, document({ a: [1, 'text', { b: true }], d: new Date(0), n: null })),
      )
      content.writeInt32LE(
        pick(random, [-1, 0, 4, 5, 2 ** 31 - 1, content.length, content.length - 1]),
        random.below(content.length - 4),
      )
      return msg(id, 0, bodySection(content))
    },
    20,
  ),
]
