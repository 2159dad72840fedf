/** Flags, sections and checksums of OP_MSG. */
import type { Random } from '@shardlab/actor'
import { pick } from '../../fuzz/values.js'
import {
  bodySection,
  checkedMsg,
  document,
  field,
  int32,
  msg,
  ping,
  rawDocument,
  sequenceSection,
  text,
} from '../messages.js'
import { kind, type Kind } from './kind.js'

const rare = 2
const body = bodySection(ping())
const documents = (random: Random): Buffer[] =>
  Array.from({ length: random.below(4) }, (_, i) => document({ _id: i, text: 'x'.repeat(random.below(30)) }))
const sequence = (random: Random, name = 'documents'): Buffer => sequenceSection(name, documents(random))

export const msgKinds: readonly Kind[] = [
  kind('an unknown flag that is required', 'closed', (random, id) => msg(id, 1 << (2 + random.below(14)), body), rare),
  kind('unknown flags that are optional', 'ok', (random, id) => msg(id, (1 + random.below(2 ** 16 - 1)) << 16, body)),
  kind('a command that wants no reply', 'none', (_random, id) => msg(id, 2, body)),
  kind('an error that wants no reply', 'none', (_random, id) => msg(id, 2, body, body)),
  kind('a checksum', 'ok', (random, id) => checkedMsg(id, random.below(2) << 16, [body])),
  kind('a wrong checksum', 'closed', (random, id) => checkedMsg(id, 0, [body], 1 + random.below(2 ** 32 - 1)), rare),
  kind('a wrong checksum that wants no reply', 'closed', (_random, id) => checkedMsg(id, 2, [body], 1), rare),
  kind('a wrong checksum of an invalid message', 40430, (_random, id) => checkedMsg(id, 0, [body, body], 1)),
  kind('nothing but a checksum', 51252, (random, id) => msg(id, 1, random.bytes(random.below(5)))),
  kind('no sections', 40587, (_random, id) => msg(id, 0)),
  kind('no body', 40587, (random, id) => msg(id, 0, sequence(random))),
  kind('two bodies', 40430, (random, id) => msg(id, 0, body, ...(random.chance(1, 2) ? [sequence(random)] : []), body)),
  kind('an unknown section', 40432, (random, id) =>
    msg(id, 0, body, Buffer.of(3 + random.below(253)), random.bytes(random.below(9))),
  ),
  kind('a security token', 13, (random, id) => msg(id, 0, body, Buffer.of(2), random.bytes(random.below(9)))),
  kind('the same sequence twice', 40431, (random, id) => msg(id, 0, body, sequence(random), sequence(random))),
  kind(
    'three sequences',
    'closed',
    (random, id) => msg(id, 0, body, ...['a', 'b', 'c'].map((name) => sequence(random, name))),
    rare,
  ),
  kind('a sequence named as a field', 40433, (random, id) =>
    msg(id, 0, body, sequence(random, pick(random, ['ping', '$db', 'ping.']))),
  ),
  kind('a sequence named as a path to a field', 40433, (random, id) => {
    const deep = rawDocument([field(0x03, 'b', document({ c: 1 })), field(0x04, 'list', document({ 0: 1 }))])
    const name = pick(random, ['comment.b', 'comment.b.c', 'comment.list.x.y'])
    return msg(id, 0, bodySection(ping(field(0x03, 'comment', deep))), sequence(random, name))
  }),
  kind('a sequence that is longer than the message', 15, (random, id) =>
    msg(id, 0, body, sequenceSection('documents', documents(random), 1 + random.below(2 ** 30))),
  ),
  kind('a sequence with a size that it cannot have', 15, (random, id) =>
    msg(id, 0, body, Buffer.of(1), int32(pick(random, [-(2 ** 31), -1, 0, 1, 2, 3, 4])), random.bytes(random.below(8))),
  ),
  kind('a sequence that ends within its size', 15, (random, id) =>
    msg(id, 0, body, Buffer.of(1), random.bytes(random.below(4))),
  ),
  kind('a sequence whose name does not end', 15, (random, id) =>
    msg(id, 0, body, Buffer.of(1), int32(4 + 3), Buffer.from('abc'.slice(0, 3 - random.below(1)))),
  ),
  kind('a sequence that ends within a document', 22, (random, id) => {
    const cut = document({ _id: 1, text: 'abc' }).subarray(0, 5 + random.below(15))
    return msg(id, 0, body, sequenceSection('documents', [...documents(random), cut]))
  }),
  kind('a body that is longer than the message', 22, (random, id) =>
    msg(id, 0, body.subarray(0, 1 + random.below(body.length - 1))),
  ),
  kind(
    'a checksum that the message does not have',
    'derived',
    (random, id) => msg(id, 1, body, random.bytes(random.below(6))),
    rare,
  ),
  kind('no database', 40571, (random, id) => msg(id, 0, bodySection(document({ ping: random.below(9) })))),
  kind('no field', 40571, (_random, id) => msg(id, 0, bodySection(document({})))),
  kind('a database that is no string', 13111, (random, id) =>
    msg(id, 0, bodySection(document({ ping: 1, $db: pick<unknown>(random, [1, null, true, {}, [], new Date(0)]) }))),
  ),
  kind('the name of a database in another type', 13111, (random, id) =>
    msg(
      id,
      0,
      bodySection(
        rawDocument([field(0x10, 'ping', int32(1)), field(pick(random, [0x0d, 0x0e]), '$db', text('admin'))]),
      ),
    ),
  ),
]
