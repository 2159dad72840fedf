import type { Document } from '@shardlab/bson'
import { long, NodeUnderTest, session } from '@shardlab/node/testing'
import t from 'tap'
import { DocumentFeed } from '../src/cloning/document-feed.js'
import { importSessions } from '../src/cloning/import-sessions.js'
import { watchCollection } from '../src/cloning/watch-collection.js'

const insert = (name: string, byte: number, count: number, txnNumber = 1): Document => ({
  insert: name,
  documents: Array.from({ length: count }, (_, i) => ({ _id: `${byte} ${txnNumber} ${i}` })),
  lsid: session(byte),
  txnNumber: long(txnNumber),
})

t.test('A feed sends the retry history of its namespace alone', async (t) => {
  const donor = new NodeUnderTest()
  const { node } = donor
  const run = (member: NodeUnderTest, command: Document) => member.ok(command, { db: 'db' })
  await run(donor, insert('other', 1, 1000))
  await run(donor, insert('dropped', 2, 1000))
  await run(donor, { drop: 'dropped' })
  await run(donor, { create: 'moved' })
  const { uuid } = node.collection('db.moved')!
  const feed = new DocumentFeed(node, { ns: 'db.moved', contains: () => true, next: () => null })
  const stop = watchCollection(node, uuid, {
    changed: (id) => feed.note(id),
    executed: (key) => feed.noteSession(key),
    redefined: () => {},
  })
  t.equal(feed.mods(0).sessions, null, 'nothing was written to it')
  await run(donor, insert('other', 1, 1000, 2))
  t.equal(feed.mods(1).sessions, null)
  await run(donor, insert('moved', 3, 200))
  const { sessions, reloaded } = feed.mods(2)
  t.equal(reloaded.length, 200)
  const recipient = new NodeUnderTest()
  importSessions(recipient.node, sessions!)
  await recipient.node.flush()
  t.equal(recipient.node.retries.statementCount, 200)
  t.equal((await run(recipient, insert('moved', 3, 200)))['retriedStmtIds'].length, 200)
  t.equal(feed.mods(3).sessions, null)
  stop()
  const transaction = { lsid: session(4), txnNumber: long(7), autocommit: false }
  await run(donor, { insert: 'other', documents: [{ _id: 1 }], startTransaction: true, ...transaction })
  await donor.ok({ commitTransaction: 1, ...transaction }, { db: 'admin' })
  const later = new DocumentFeed(node, { ns: 'db.moved', contains: () => true, next: () => null })
  importSessions(recipient.node, later.mods(0).sessions!)
  const again = { insert: 'moved', documents: [{ _id: 1 }], lsid: session(4), txnNumber: long(7) }
  const reply = await recipient.run(again, { db: 'db' })
  t.match(reply, { ok: 0, code: 217 }, 'no write repeats a transaction')
})
