import type { Document } from '@shardlab/bson'
import { maxBsonObjectSize, maxMessageSizeBytes, maxWriteBatchSize, negotiateCompression } from '@shardlab/wire'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { FakeTarget, open } from './gateway-helpers.js'

/** Answers enough commands of a mongos for a driver to connect and insert. */
function answer(command: Document): Document {
  if (command.hello || command.ismaster || command.isMaster) {
    const compression = negotiateCompression(command.compression ?? [])
    return {
      ismaster: true,
      isWritablePrimary: true,
      msg: 'isdbgrid',
      helloOk: true,
      maxBsonObjectSize,
      maxMessageSizeBytes,
      maxWriteBatchSize,
      localTime: new Date(0),
      logicalSessionTimeoutMinutes: 30,
      minWireVersion: 0,
      maxWireVersion: 25,
      ...(compression.length > 0 && { compression }),
      ok: 1,
    }
  }
  if (command.insert) return { n: 3, ok: 1 }
  return { ok: 1, you: Object.keys(command)[0] }
}

for (const compressors of [null, 'snappy', 'zlib', 'snappy,zlib']) {
  t.test(`the official driver connects and runs commands (compressors: ${compressors ?? 'none'})`, async (t) => {
    const target = new FakeTarget((command) => (command.ping ? Promise.resolve(answer(command)) : answer(command)))
    const { gateway, lines } = await open(target)
    const client = new MongoClient(
      `mongodb://127.0.0.1:${gateway.port}/${compressors === null ? '' : `?compressors=${compressors}`}`,
      {
        serverSelectionTimeoutMS: 5000,
      },
    )
    try {
      await client.connect()
      const admin = client.db('admin')
      t.match(
        await Promise.all(Array.from({ length: 20 }, () => admin.command({ ping: 1 }))),
        Array(20).fill({ ok: 1, you: 'ping' }),
      )
      const inserted = await client
        .db('test')
        .collection('c')
        .insertMany([{ a: 1 }, { a: 2 }, { a: 'x'.repeat(100_000) }])
      t.equal(inserted.insertedCount, 3)
      const unacknowledged = client.db('test').collection('c', { writeConcern: { w: 0 } })
      t.equal((await unacknowledged.insertOne({ a: 1 })).acknowledged, false)
      t.match(await admin.command({ ping: 1 }), { ok: 1 })
    } finally {
      await client.close()
      await gateway.close()
    }
    t.same(
      lines.filter(({ level }) => level !== 'debug'),
      [],
    )
    t.ok(target.commands[0]!.legacy, 'the first handshake is OP_QUERY')
  })
}
