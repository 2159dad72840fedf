import { decode, encode } from '@shardlab/bson'
import { decodeReply, encodeCommand, encodeLegacyCommand, MsgFlag } from '@shardlab/wire'
import t from 'tap'
import { findCompressor } from '../src/gateway/compressors.js'
import { deferred, FakeTarget, open, RawClient } from './gateway-helpers.js'

t.test('commands of one connection run in order, one at a time', async (t) => {
  const gates = [deferred<void>(), deferred<void>(), deferred<void>()]
  const started = [deferred<void>(), deferred<void>(), deferred<void>()]
  const target = new FakeTarget(async ({ n }) => {
    started[n]!.resolve()
    await gates[n]!.promise
    return { n, ok: 1 }
  })
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  client.write(Buffer.concat([0, 1, 2].map((n) => encodeCommand(n + 10, encode({ test: 1, n, $db: 'x' })))))
  await started[0]!.promise
  gates[2]!.resolve()
  gates[1]!.resolve()
  t.equal(target.commands.length, 1, 'the second command waits for the answer to the first')
  gates[0]!.resolve()
  for (const n of [0, 1, 2]) {
    const reply = await client.reply()
    t.equal(reply.responseTo, n + 10)
    t.match(decode(reply.body), { n })
  }
  client.socket.destroy()
})

t.test('commands that arrive while others run keep their order', async (t) => {
  const gates = [deferred<void>(), deferred<void>()]
  const started = [deferred<void>(), deferred<void>()]
  const target = new FakeTarget(async ({ n }) => {
    started[n]?.resolve()
    await gates[n]?.promise
    return { n, ok: 1 }
  })
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const [client, other] = [await RawClient.open(gateway), await RawClient.open(gateway)]
  const send = async (n: number): Promise<void> => {
    client.send({ test: 1, n })
    // The gateway reads both sockets before this answer leaves, so each command is a chunk.
    await other.run({ test: 1, n: -1 })
  }
  for (const n of [0, 1, 2]) await send(n)
  gates[0]!.resolve()
  await started[1]!.promise
  await send(3)
  gates[1]!.resolve()
  for (const n of [0, 1, 2, 3]) t.match(decode((await client.reply()).body), { n })
  client.socket.destroy()
  other.socket.destroy()
})

t.test('connections do not wait for each other, and the target gets the connection of each command', async (t) => {
  const gate = deferred<void>()
  const target = new FakeTarget(async ({ wait }) => {
    if (wait) await gate.promise
    return { ok: 1 }
  })
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const [first, second] = [await RawClient.open(gateway), await RawClient.open(gateway)]
  t.equal(gateway.connections(), 2)
  first.send({ test: 1, wait: true })
  t.same(await second.run({ test: 1 }, { sequences: [['documents', [encode({ a: 1 })]]] }), { ok: 1 })
  gate.resolve()
  await first.reply()
  const command = target.commands.find(({ connectionId }) => connectionId === 2)!
  t.same(
    command.sequences.map(([identifier, documents]) => [identifier, documents.map((document) => decode(document))]),
    [['documents', [{ a: 1 }]]],
  )
  t.equal(command.legacy, false)
  t.equal(command.remote, `127.0.0.1:${second.socket.localPort}`)
  first.socket.end()
  second.socket.resetAndDestroy()
  await target.disconnections(2)
  t.same([...target.disconnected].sort(), [1, 2])
  t.equal(gateway.connections(), 0)
})

for (const mode of ['synchronous', 'microtask'] as const) {
  t.test(`pipelined: the answers of one turn leave in one write (${mode})`, async (t) => {
    const target = new FakeTarget((command) =>
      mode === 'synchronous' ? { n: command.n } : Promise.resolve({ n: command.n }),
    )
    const { gateway } = await open(target)
    t.teardown(() => gateway.close())
    const client = await RawClient.open(gateway)
    client.write(
      Buffer.concat(Array.from({ length: 50 }, (_, n) => encodeCommand(n, encode({ test: 1, n, $db: 'x' })))),
    )
    for (let n = 0; n < 50; n++) t.match(decode((await client.reply()).body), { n })
    t.equal(client.chunks.length, 1)
    client.socket.destroy()
  })
}

t.test('a handshake by OP_QUERY is answered by OP_REPLY', async (t) => {
  const target = new FakeTarget(() => ({ ismaster: true, ok: 1 }))
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  for (const flags of [0, 4]) {
    const client = await RawClient.open(gateway)
    client.write(encodeLegacyCommand(31, 'admin', encode({ isMaster: 1 }), flags))
    t.match(await client.reply(), { legacy: true, flags: 8, responseTo: 31 })
    t.equal(target.commands.at(-1)!.legacy, true)
    t.match(decode(target.commands.at(-1)!.body), { isMaster: 1, $db: 'admin' })
    client.socket.destroy()
  }
})

t.test('a reply is compressed as its request was', async (t) => {
  const target = new FakeTarget((command) => ({ echo: command.text, ok: 1 }))
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway, findCompressor)
  const text = 'ab'.repeat(50_000)
  for (const id of [1, 2]) {
    for (const checksum of [false, true]) {
      client.send({ test: 1, text }, { compressor: findCompressor(id)!, checksum })
      const reply = await client.reply()
      t.equal(reply.compressed, true)
      t.equal(reply.flags & MsgFlag.checksumPresent, checksum ? 1 : 0)
      t.equal(decode(reply.body).echo, text)
    }
  }
  client.send({ test: 1, text })
  t.equal((await client.reply()).compressed, false, 'the request was not compressed')
  const sent = client.chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  t.ok(sent < text.length * 2.5, 'snappy and zlib make it smaller')
  client.socket.destroy()
})

t.test('a command with moreToCome is executed and not answered', async (t) => {
  const target = new FakeTarget((command) => (command.slow ? Promise.resolve({ ok: 1 }) : { ok: 1 }))
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  client.send({ first: 1 }, { flags: MsgFlag.moreToCome })
  client.send({ second: 1, slow: true }, { flags: MsgFlag.moreToCome })
  client.send({ third: 1, $db: 5 }, { flags: MsgFlag.moreToCome })
  const requestId = client.send({ fourth: 1 })
  t.equal((await client.reply()).responseTo, requestId)
  t.same(
    target.commands.map(({ body }) => Object.keys(decode(body))[1]),
    ['first', 'second', 'fourth'],
  )
  client.send({ last: 1 }, { flags: MsgFlag.moreToCome })
  client.socket.end()
  await target.disconnections(1)
  t.equal(target.commands.length, 4, 'a command that arrives before the end of the input is executed')
})

t.test('commands that arrive before the end of the input are answered', async (t) => {
  const target = new FakeTarget(async () => ({ ok: 1 }))
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  client.send({ test: 1 })
  client.send({ test: 2 })
  client.socket.end()
  await client.reply()
  await client.reply()
  await client.close()
  t.equal(client.error, null)
})

t.test('a client that does not read its answers is not read either, and loses none', async (t) => {
  const blob = Buffer.alloc(3_000_000, 7)
  const target = new FakeTarget((command) => ({ n: command.n, blob, ok: 1 }))
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  client.socket.pause()
  const count = 20
  client.write(
    Buffer.concat(Array.from({ length: count }, (_, n) => encodeCommand(n, encode({ test: 1, n, $db: 'x' })))),
  )
  const other = await RawClient.open(gateway)
  await other.run({ n: -1 })
  t.ok(target.commands.length < count, `only ${target.commands.length} ran while the client did not read`)
  client.socket.resume()
  for (let n = 0; n < count; n++) {
    const body = decode((await client.reply()).body)
    t.equal(body.n, n)
    t.equal(body.blob.length(), blob.length)
  }
  client.socket.destroy()
  other.socket.destroy()
})

t.test('input beyond the limit stays in the client', async (t) => {
  const gate = deferred<void>()
  const started = deferred<void>()
  const target = new FakeTarget(async () => {
    started.resolve()
    await gate.promise
    return { ok: 1 }
  })
  const { gateway } = await open(target, { maxQueuedInputBytes: 100_000 })
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  const command = encodeCommand(1, encode({ test: 1, filler: Buffer.alloc(1_000_000), $db: 'x' }))
  client.write(encodeCommand(1, encode({ test: 1, $db: 'x' })))
  await started.promise
  const count = 40
  for (let i = 0; i < count; i++) client.write(command)
  const other = await RawClient.open(gateway)
  other.socket.destroy()
  await target.disconnections(1)
  t.ok(client.socket.writableLength > 20_000_000, `${client.socket.writableLength} bytes wait`)
  gate.resolve()
  for (let i = 0; i <= count; i++) await client.reply()
  client.socket.destroy()
})

t.test('connections above the limit are closed and logged', async (t) => {
  const target = new FakeTarget((command) => Promise.resolve({ n: command.n }))
  const { gateway, lines } = await open(target, { limits: { maxIncomingConnections: 300 } })
  t.teardown(() => gateway.close())
  const clients = await Promise.all(Array.from({ length: 300 }, () => RawClient.open(gateway)))
  const replies = await Promise.all(clients.map((client, n) => client.run({ test: 1, n })))
  t.same(
    replies.map(({ n }) => n),
    clients.map((_, n) => n),
  )
  t.equal(new Set(target.commands.map(({ connectionId }) => connectionId)).size, 300)
  const refused = await RawClient.open(gateway)
  await refused.close()
  t.match(lines, [{ level: 'warn', message: /too many open connections/ }])
  t.equal(gateway.connections(), 300)
  for (const client of clients) client.socket.destroy()
  await target.disconnections(300)
})

t.test('the length of a reply is that in its header', async (t) => {
  const { gateway } = await open(new FakeTarget(() => ({ ok: 1 })))
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  client.send({ test: 1 }, { checksum: true })
  await client.reply()
  const bytes = Buffer.concat(client.chunks)
  t.equal(bytes.readInt32LE(), bytes.length)
  t.match(decodeReply(bytes), { flags: 1 })
  client.socket.destroy()
})
