import { CommandError, decode, DocumentWriter, encode, errorDocument, Long, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import type { FakeCluster } from './support/fake-cluster.js'
import { threeShards } from './support/three-shards.js'

const lsid = { id: new UUID(Buffer.alloc(16, 1)) }
const update = { update: 'c', updates: [{ q: { x: 5 }, u: { $set: { x: 500 } } }], lsid, txnNumber: Long.fromNumber(1) }
const change = {
  preImage: { _id: 1, x: 5 },
  postImage: { _id: 1, x: 500 },
  shouldUpsert: false,
  ns: 'test.c',
  uuid: new UUID(),
}

/** Shards reject updates; requests to move get the given replies in turn. */
function refusing(answers: (CommandError | null)[]): { cluster: FakeCluster; requests: Document[] } {
  const cluster = threeShards()
  const requests: Document[] = []
  cluster.script((_shard, _command, name) =>
    name === 'update'
      ? { n: 0, nModified: 0, writeErrors: [{ index: 0, code: 283, ...change, errmsg: 'it moves' }], ok: 1 }
      : { ok: 0, code: 283, errmsg: 'it moves', ...change },
  )
  cluster.onShardExchange = (
    shard,
    kind,
    request: { before: Uint8Array; after: Uint8Array; session: Uint8Array; requestId: string },
  ) => {
    const { before, after, session, requestId } = request
    requests.push({ shard, kind, before: decode(before), after: decode(after), session: decode(session), requestId })
    const answer = answers.shift()
    return { error: answer === null || answer === undefined ? null : errorDocument(answer), clusterTime: [1, 1] }
  }
  return { cluster, requests }
}

const gone = () => new CommandError('WouldChangeOwningShardDeletedNoDocument', 'gone')

t.test('the shard that has the document is asked to move it, and the client gets the reply of an update', async (t) => {
  const { cluster, requests } = refusing([null])
  const reply = await cluster.run(update)
  t.match(reply, { n: 1, nModified: 1, ok: 1 })
  t.notOk(reply['writeErrors'])
  const { preImage, postImage } = change
  t.match(requests, [
    {
      shard: 'shard02',
      kind: 'shard.move-document',
      before: preImage,
      after: postImage,
      session: { lsid, txnNumber: Long.fromNumber(1), stmtId: 0 },
    },
  ])
})

t.test('a statement whose document changed during its move runs again, up to the limit', async (t) => {
  const { cluster, requests } = refusing([gone(), gone(), null])
  t.match(await cluster.run(update), { n: 1 })
  t.equal(requests.length, 3)
  t.equal(cluster.commandsTo('shard02').length, 3)
  const never = refusing(Array.from({ length: 20 }, gone))
  t.match(await never.cluster.run(update), {
    n: 0,
    writeErrors: [
      {
        code: 112,
        errmsg: /^Update operation was converted into a distributed transaction .* :: caused by :: WriteConflict error/,
      },
    ],
  })
  t.equal(never.requests.length, 10)
})

t.test('a move that is refused for stale routing refreshes it', async (t) => {
  const stale = new CommandError('StaleConfig', 'stale', {
    extra: new DocumentWriter().string('ns', 'test.c').finish(),
  })
  const { cluster, requests } = refusing([stale, null])
  t.match(await cluster.run(update), { n: 1, nModified: 1 })
  t.equal(requests.length, 2)
})

t.test('errors of a move get the texts of the server', async (t) => {
  const duplicate = new CommandError('DuplicateKey', 'E11000', {
    extra: encode({ keyPattern: { y: 1 }, keyValue: { y: 2 } }),
  })
  const { cluster } = refusing([duplicate, duplicate])
  const words =
    'Update operation was converted into a distributed transaction because the document being updated would move shards and that transaction failed.'
  t.match(await cluster.run(update), {
    writeErrors: [
      {
        code: 11000,
        keyPattern: { y: 1 },
        errmsg: `${words} :: caused by :: During insert stage of updating a shard key :: caused by :: E11000`,
      },
    ],
  })
  const command = {
    findAndModify: 'c',
    query: { x: 5 },
    update: { $set: { x: 500 } },
    lsid,
    txnNumber: Long.fromNumber(2),
  }
  t.match(await cluster.run(command), {
    ok: 0,
    code: 11000,
    errmsg: `${words} :: caused by :: findAndModify :: caused by :: During insert stage of updating a shard key :: caused by :: E11000`,
  })
})

t.test('a findAndModify that moves its document runs again, fails with a conflict, or returns its image', async (t) => {
  const command = {
    findAndModify: 'c',
    query: { x: 5 },
    update: { $set: { x: 500 } },
    lsid,
    txnNumber: Long.fromNumber(3),
  }
  const { cluster, requests } = refusing([gone(), null, null])
  t.match(await cluster.run(command), { lastErrorObject: { n: 1, updatedExisting: true }, value: change.preImage })
  t.equal(requests.length, 2)
  t.match(await cluster.run({ ...command, new: true }), { value: change.postImage })
  const never = refusing(Array.from({ length: 20 }, gone))
  t.match(await never.cluster.run(command), { ok: 0, code: 112 })
})
