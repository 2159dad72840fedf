import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findDocumentCodecs } from './rules/document-codec.js'
import { expectNoFindings, messagesOf } from './support.js'

const found = (source: string, folder = 'config-server'): string[] =>
  messagesOf(findDocumentCodecs(new Repository({ [`packages/${folder}/src/a.ts`]: source })))

t.test('canary: documents that pass through an object', (t) => {
  const changed = [
    "import { decode, encode } from '@shardlab/bson'",
    'store.put(ns, encode({ ...decode(entry), dropped: true }))',
  ]
  t.match(found(changed.join('\n')), [
    'a decoded document is spread into another one, which reorders its fields: change the bytes',
    'decode passes a document through an object: read fields with findField',
    'encode passes a document through an object: write with a DocumentWriter',
  ])
  const inTwoSteps = [
    "import { decode as read, encode as write, type Document } from '@shardlab/bson'",
    'const entry = read(bytes)',
    "entry['ns'] = to",
    'store.put(ns, write(entry))',
  ]
  t.equal(found(inTwoSteps.join('\n')).length, 2)
  t.match(found("import { fromRawValue } from '@shardlab/bson'\nstore.get(ns, fromRawValue(id))"), [/^fromRawValue /])
  t.match(found("import { toRawValue } from '@shardlab/bson'", 'node'), [/^toRawValue /])
  t.match(found("import * as bson from '@shardlab/bson'"), [/as a whole/])
  t.match(found('const entry = JSON.parse(toExtendedJson(bytes))'), [/^JSON.parse /])
  t.match(found('send({ ...(decode(reply) as Entry), ns })', 'cluster'), [/spread/], 'above the roles')
  t.match(found('send({ ...BSON.deserialize(reply) })', 'runtime'), [/spread/])
  t.end()
})

t.test('canary: reading and writing bytes, and objects above the roles, are fine', (t) => {
  t.strictSame(found("import { findField, DocumentWriter } from '@shardlab/bson'\nwire.decode(bytes)"), [])
  t.strictSame(found("import { decode } from '@shardlab/bson'\nconst { errmsg } = decode(error)", 'cluster'), [])
  t.end()
})

t.test('documents of users and of the catalog stay bytes', (t) => {
  expectNoFindings(t, findDocumentCodecs(readRepository()), 'no document passes through an object')
  t.end()
})
