/**
 * Commands with arguments that no client sends. The types, and which commands refuse unknown
 * arguments, are those of the server's IDL files of 7.0.
 */
import type { Random } from '@shardlab/actor'
import {
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  type Document,
} from 'mongodb'
import { pick } from '../../fuzz/values.js'
import { bodySection, document, msg, sequenceSection } from '../messages.js'
import { kind, type Declared, type Kind } from './kind.js'

const db = 'hostile'

/** One value of each type. Null and undefined count as absent. */
const values = {
  double: new Double(1.5),
  int: new Int32(1),
  long: Long.fromNumber(1),
  decimal: Decimal128.fromString('1'),
  bool: true,
  string: 'x',
  object: { x: 1 },
  array: [1],
  binary: new Binary(Buffer.from('x')),
  objectId: new ObjectId('0123456789abcdef01234567'),
  date: new Date(0),
  regex: new BSONRegExp('x'),
  code: new Code('x'),
  timestamp: new Timestamp({ t: 1, i: 1 }),
  minKey: new MinKey(),
  maxKey: new MaxKey(),
}
type TypeName = keyof typeof values

const number: readonly TypeName[] = ['double', 'int', 'long', 'decimal']
const accepted = {
  object: ['object'],
  string: ['string'],
  array: ['array'],
  number,
  bool: ['bool', ...number],
} as const satisfies Record<string, readonly TypeName[]>

interface Arguments {
  /** Valid, and without effect when one argument more is wrong. */
  readonly command: Document
  readonly required: readonly string[]
  readonly types: Readonly<Record<string, keyof typeof accepted>>
}

const strictCommands: readonly Arguments[] = [
  {
    command: { find: 'plain' },
    required: [],
    types: {
      filter: 'object',
      projection: 'object',
      sort: 'object',
      skip: 'number',
      limit: 'number',
      batchSize: 'number',
      singleBatch: 'bool',
      min: 'object',
      max: 'object',
      collation: 'object',
      let: 'object',
    },
  },
  {
    command: { insert: 'plain', documents: [{ _id: 'new' }] },
    required: ['documents'],
    types: { documents: 'array', ordered: 'bool', bypassDocumentValidation: 'bool' },
  },
  {
    command: { update: 'plain', updates: [{ q: {}, u: { $set: { x: 1 } } }] },
    required: ['updates'],
    types: { updates: 'array', ordered: 'bool', bypassDocumentValidation: 'bool', let: 'object' },
  },
  {
    command: { delete: 'plain', deletes: [{ q: {}, limit: 0 }] },
    required: ['deletes'],
    types: { deletes: 'array', ordered: 'bool', let: 'object' },
  },
  {
    command: { aggregate: 'plain', pipeline: [], cursor: {} },
    required: ['pipeline'],
    types: { pipeline: 'array', allowDiskUse: 'bool', collation: 'object', let: 'object' },
  },
  {
    command: { distinct: 'plain', key: 'x' },
    required: ['key'],
    types: { key: 'string', query: 'object', collation: 'object' },
  },
  { command: { count: 'plain' }, required: [], types: { query: 'object', collation: 'object' } },
  {
    command: { create: 'other' },
    required: [],
    types: {
      capped: 'bool',
      size: 'number',
      max: 'number',
      validator: 'object',
      viewOn: 'string',
      collation: 'object',
    },
  },
  {
    command: { findAndModify: 'plain', update: { $set: { x: 1 } } },
    required: [],
    types: { query: 'object', sort: 'object', fields: 'object', new: 'bool', upsert: 'bool', let: 'object' },
  },
  {
    command: { getMore: Long.fromNumber(1), collection: 'plain' },
    required: ['collection'],
    types: { collection: 'string', batchSize: 'number' },
  },
  { command: { killCursors: 'plain', cursors: [] }, required: ['cursors'], types: { cursors: 'array' } },
]

/** The fields of a command in OP_MSG, as pairs because names may repeat. */
function encode(requestId: number, fields: readonly (readonly [string, unknown])[], $db = db): Buffer {
  const parts = [...fields, ['$db', $db] as const].map(([name, value]) => document({ [name]: value }).subarray(4, -1))
  const content = Buffer.concat([Buffer.alloc(4), ...parts, Buffer.of(0)])
  content.writeInt32LE(content.length)
  return msg(requestId, 0, bodySection(content))
}

const command = (requestId: number, fields: Document, $db = db): Buffer =>
  encode(requestId, Object.entries(fields), $db)

function fixed(name: string, answer: Declared, fields: Document, $db = db): Kind {
  return kind(name, answer, (_random, id) => command(id, fields, $db), 2)
}

function wrongTypeOf(random: Random, types: readonly TypeName[]): unknown {
  const others = (Object.keys(values) as TypeName[]).filter((type) => !types.includes(type))
  return values[pick(random, others)]
}

export const commandKinds: readonly Kind[] = [
  kind(
    'an argument of a wrong type',
    14,
    (random, id) => {
      const { command: valid, types } = pick(random, strictCommands)
      const [name, type] = pick(random, Object.entries(types))
      return command(id, { ...valid, [name]: wrongTypeOf(random, accepted[type]) })
    },
    60,
  ),
  kind(
    'an unknown argument',
    40415,
    (random, id) => {
      const { command: valid } = pick(random, strictCommands)
      const name = pick(random, ['unknown', '', 'x.y', 'Filter', '__proto__', `n${random.uint32()}`])
      return encode(id, [...Object.entries(valid), [name, pick(random, Object.values(values))]])
    },
    20,
  ),
  kind('an argument twice', 40413, (random, id) => {
    const { command: valid } = pick(
      random,
      strictCommands.filter(({ required }) => required.length > 0),
    )
    const fields = Object.entries(valid)
    return encode(id, [...fields, fields[1]!])
  }),
  kind('a missing argument', 40414, (random, id) => {
    const { command: valid, required } = pick(
      random,
      strictCommands.filter(({ required }) => required.length > 0),
    )
    const missing = pick(random, required)
    return encode(
      id,
      Object.entries(valid).filter(([name]) => name !== missing),
    )
  }),
  kind(
    'a document sequence that the command does not have',
    40415,
    (random, id) => {
      const { command: valid } = pick(
        random,
        strictCommands.filter(({ command }) => ['insert', 'update', 'delete'].includes(Object.keys(command)[0]!)),
      )
      return msg(id, 0, bodySection(document({ ...valid, $db: db })), sequenceSection('others', [document({ _id: 1 })]))
    },
    2,
  ),
  kind('an unknown command', 59, (random, id) =>
    command(id, {
      [pick(random, ['nothing', '', 'PING', 'find ', '$find', `c${random.uint32()}`, '__proto__x', 'constructor'])]: 1,
    }),
  ),
  kind('an impossible name of a database', 73, (random, id) =>
    command(id, { ping: 1 }, pick(random, ['', 'a.b', 'a b', 'a/b', 'a\\b', 'a"b', 'x'.repeat(64), '.', 'a\0b'])),
  ),
  kind('a name of a collection that is no string', 73, (random, id) => {
    const name = pick(random, ['find', 'aggregate', 'distinct', 'count'])
    const further =
      name === 'aggregate' ? { pipeline: [{ $match: {} }], cursor: {} } : name === 'distinct' ? { key: 'x' } : {}
    return command(id, { [name]: pick<unknown>(random, [true, {}, [], new Date(0)]), ...further })
  }),
  kind('an empty name of a collection', 73, (random, id) => {
    const { command: valid } = pick(
      random,
      strictCommands.filter((each) => !('collection' in each.types)),
    )
    const [first, ...rest] = Object.entries(valid)
    return encode(id, [[first![0], ''], ...rest])
  }),
  kind(
    'a command of the database admin',
    13,
    (random, id) =>
      command(id, {
        [pick(random, ['listDatabases', 'getParameter', 'setParameter', 'getCmdLineOpts', 'replSetGetStatus'])]:
          'hostile.plain',
      }),
    2,
  ),
  kind(
    'a concern of a wrong type',
    14,
    (random, id) => command(id, { find: 'plain', readConcern: pick<unknown>(random, [1, 'local', [], true]) }),
    2,
  ),
  kind('an unknown operator', 2, (random, id) =>
    command(id, { find: 'plain', filter: { x: { [pick(random, ['$nothing', '$', `$n${random.uint32()}`])]: 1 } } }),
  ),
  kind('an unknown stage', 40324, (random, id) =>
    command(id, {
      aggregate: 'plain',
      pipeline: [{ [pick(random, ['$nothing', 'match', '', `$n${random.uint32()}`])]: {} }],
      cursor: {},
    }),
  ),
  fixed('a negative limit', 51024, { find: 'plain', skip: -1 }),
  fixed('a cursor that does not exist', 43, { getMore: Long.fromNumber(7), collection: 'plain' }),
]
