import { FakeContext } from '@shardlab/actor/testing'
import { decode, encode, Long, UUID, type Document } from '@shardlab/bson'
import { StorageNode } from '@shardlab/node'
import { behavioursOf } from '@shardlab/sharding'
import t from 'tap'
import { DocumentFeed } from '../src/cloning/document-feed.js'
import { importSessions } from '../src/cloning/import-sessions.js'
import { watchCollection } from '../src/cloning/watch-collection.js'

function storageNode(): StorageNode {
  const node = new StorageNode(
    new FakeContext('shard01'),
    { behaviours: behavioursOf('7.0'), maxWireVersion: 21 },
    () => ({
      name: 'shard',
      setName: 'shard01',
      memberName: 'shard01',
      rows: [],
      enter: () => ({ ownership: null }),
      checkReplacement: () => {},
      checkImplicitCreate: () => {},
    }),
  )
  node.start()
  return node
}

const session = (byte: number) => ({ id: new UUID(Buffer.alloc(16, byte)) })

async function run(node: StorageNode, command: Document): Promise<Document> {
  const { body } = await node.nodeCommand({
    db: 'db',
    body: encode(command),
    sequences: [],
    shardVersion: null,
    databaseVersion: null,
    stmtIds: null,
    clusterTime: [1, 1],
    operationKey: 0,
  })
  return decode(body)
}

const insert = (name: string, byte: number, count: number, txnNumber = 1): Document => ({
  insert: name,
  documents: Array.from({ length: count }, (_, i) => ({ _id: `${byte} ${txnNumber} ${i}` })),
  lsid: session(byte),
  txnNumber: Long.fromNumber(txnNumber),
})

t.test('A feed sends the retry history of its namespace alone', async (t) => {
  const donor = storageNode()
  await run(donor, insert('other', 1, 1000))
  await run(donor, insert('dropped', 2, 1000))
  await run(donor, { drop: 'dropped' })
  await run(donor, { create: 'moved' })
  const { uuid } = donor.collection('db.moved')!
  const feed = new DocumentFeed(donor, { ns: 'db.moved', contains: () => true, next: () => null })
  const stop = watchCollection(donor, uuid, {
    changed: (id) => feed.note(id),
    decided: () => {},
    executed: (key) => feed.noteSession(key),
    redefined: () => {},
  })
  t.equal(feed.mods(0).sessions, null, 'nothing was written to it')
  await run(donor, insert('other', 1, 1000, 2))
  t.equal(feed.mods(1).sessions, null)
  await run(donor, insert('moved', 3, 200))
  const { sessions, reloaded } = feed.mods(2)
  t.equal(reloaded.length, 200)
  const recipient = storageNode()
  importSessions(recipient, sessions!)
  await recipient.flush()
  t.equal(recipient.retries.statementCount, 200)
  t.equal((await run(recipient, insert('moved', 3, 200)))['retriedStmtIds'].length, 200)
  t.equal(feed.mods(3).sessions, null)
  stop()
})
