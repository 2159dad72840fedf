import { createServer } from 'node:net'
import { decode, encode } from '@shardlab/bson'
import { encodeCommand } from '@shardlab/wire'
import fc from 'fast-check'
import t from 'tap'
import { findCompressor } from '../src/gateway/compressors.js'
import { openGateway } from '../src/gateway/index.js'
import { deferred, FakeTarget, open, RawClient } from './gateway-helpers.js'

const ping = encode({ ping: 1, $db: 'admin' })

function header(length: number, opCode = 2013): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeInt32LE(length)
  bytes.writeInt32LE(opCode, 12)
  return bytes
}

function flipped(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at < 0 ? copy.length + at : at]! ^= 1
  return copy
}

t.test('malformed input closes only its own connection', async (t) => {
  const target = new FakeTarget(() => ({ ok: 1 }))
  const { gateway, lines } = await open(target)
  t.teardown(() => gateway.close())
  const bystander = await RawClient.open(gateway)
  await bystander.run({ ping: 1 })
  const compressed = encodeCommand(1, ping, { compressor: findCompressor(1)! })
  const cases: [string, Buffer, number][] = [
    ['length 2^31-1', header(2 ** 31 - 1), 17],
    ['length 15', header(15), 17],
    ['negative length', header(-1), 17],
    ['random bytes', Buffer.from('c0ffeeffdeadbeefc0ffee00deadbeef', 'hex'), 17],
    ['removed opcode', header(16, 2002), 5745706],
    ['checksum wrong', flipped(encodeCommand(1, ping, { checksum: true }), -1), 288],
    ['unknown flag', flipped(encodeCommand(1, ping), 17), 223],
    ['broken snappy', flipped(compressed, 25), 2],
    ['unknown compressor', Buffer.concat([compressed.subarray(0, 24), Buffer.from([9]), compressed.subarray(25)]), 1],
  ]
  for (const [name, bytes, code] of cases) {
    const client = await RawClient.open(gateway)
    t.same(await client.run({ ping: 1 }), { ok: 1 })
    client.write(bytes)
    await client.close()
    t.equal(client.chunks.length, 1, `${name}: no answer`)
    t.match(lines.at(-1), { level: 'warn', fields: { code } }, name)
  }
  t.equal(lines.length, cases.length)
  t.same(await bystander.run({ ping: 1 }), { ok: 1 })
  bystander.socket.destroy()
})

t.test('invalid BSON is answered and the connection stays open', async (t) => {
  const { gateway } = await open(new FakeTarget(() => ({ ok: 1 })))
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  client.write(flipped(encodeCommand(1, ping), 21))
  t.match(decode((await client.reply()).body), { ok: 0, code: 22, codeName: 'InvalidBSON' })
  client.write(encodeCommand(2, encode({ ping: 1 })))
  t.match(decode((await client.reply()).body), { ok: 0, code: 40571 })
  t.same(await client.run({ ping: 1 }), { ok: 1 })
  client.socket.destroy()
})

t.test('a message that the end of the connection cuts off is dropped and logged', async (t) => {
  const target = new FakeTarget(() => ({ ok: 1 }))
  const { gateway, lines } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  client.write(encodeCommand(1, ping).subarray(0, 30))
  client.socket.end()
  await client.close()
  await target.disconnections(1)
  t.equal(target.commands.length, 0)
  t.match(lines, [{ level: 'debug', message: 'connection ended within a message' }])
})

t.test('an HTTP request gets the explanation of the server', async (t) => {
  const { gateway } = await open(new FakeTarget(() => ({ ok: 1 })))
  t.teardown(() => gateway.close())
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/`)
  t.match(await answer.text(), /MongoDB over HTTP on the native driver port/)
})

t.test('random bytes never disturb another connection', async (t) => {
  const { gateway } = await open(new FakeTarget(() => ({ ok: 1 })))
  t.teardown(() => gateway.close())
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.constantFrom(2013, 2004, 2012, 2005, 2010),
      fc.boolean(),
      async (payload, opCode, framed) => {
        const client = await RawClient.open(gateway)
        client.write(framed ? Buffer.concat([header(16 + payload.length, opCode), payload]) : payload)
        client.socket.end()
        await client.close()
      },
    ),
    { numRuns: 150 },
  )
  const client = await RawClient.open(gateway)
  t.same(await client.run({ ping: 1 }), { ok: 1 })
  client.socket.destroy()
})

t.test('a target that is gone resets the connection', async (t) => {
  for (const how of ['throws', 'rejects'] as const) {
    const target = new FakeTarget((command) => {
      if (!command.fail) return { ok: 1 }
      if (how === 'throws') throw new Error('crashed')
      return Promise.reject(new Error('crashed'))
    })
    const { gateway, lines } = await open(target)
    const [client, bystander] = [await RawClient.open(gateway), await RawClient.open(gateway)]
    client.send({ test: 1, fail: true })
    client.send({ test: 2 })
    await client.close()
    t.equal(client.error?.code, 'ECONNRESET')
    t.equal(target.commands.length, 1, 'queued commands are not executed')
    t.match(lines, [{ level: 'warn', fields: { error: 'crashed' } }])
    t.same(await bystander.run({ test: 1 }), { ok: 1 })
    bystander.socket.destroy()
    await gateway.close()
  }
})

t.test('close finishes running commands and ends idle connections', async (t) => {
  const gate = deferred<void>()
  const started = deferred<void>()
  const target = new FakeTarget(async ({ wait }) => {
    if (wait) {
      started.resolve()
      await gate.promise
    }
    return { ok: 1 }
  })
  const { gateway } = await open(target)
  const [busy, idle] = [await RawClient.open(gateway), await RawClient.open(gateway)]
  await idle.run({ test: 1 })
  busy.send({ test: 1, wait: true })
  busy.send({ test: 2 })
  await started.promise
  const closed = gateway.close()
  t.equal(gateway.close(), closed)
  await idle.close()
  t.equal(idle.error, null)
  await t.rejects(RawClient.open(gateway), { code: 'ECONNREFUSED' })
  gate.resolve()
  t.match(decode((await busy.reply()).body), { ok: 1 })
  await busy.close()
  t.equal(busy.error, null)
  t.equal(target.commands.length, 2, 'the next command is not started')
  await closed
  t.equal(target.disconnected.length, 2)
})

t.test('close resets connections after its time-out', async (t) => {
  const started = deferred<void>()
  const target = new FakeTarget(() => {
    started.resolve()
    return new Promise(() => {})
  })
  const { gateway } = await open(target, { closeTimeoutMs: 20 })
  const client = await RawClient.open(gateway)
  client.send({ test: 1 })
  await started.promise
  await gateway.close()
  await client.close()
  t.equal(client.error?.code, 'ECONNRESET')
})

t.test('destroy resets all connections, frees the port and reports no disconnection', async (t) => {
  const gate = deferred<void>()
  const started = deferred<void>()
  const target = new FakeTarget(async () => {
    started.resolve()
    await gate.promise
    return { ok: 1 }
  })
  const { gateway } = await open(target)
  const port = gateway.port
  const clients = [await RawClient.open(gateway), await RawClient.open(gateway)]
  clients[0]!.send({ test: 1 })
  await started.promise
  gateway.destroy()
  const again = await open(new FakeTarget(() => ({ ok: 2 })), { port })
  gate.resolve()
  for (const client of clients) {
    await client.close()
    t.equal(client.error?.code, 'ECONNRESET')
  }
  t.same(target.disconnected, [])
  t.equal(gateway.connections(), 0)
  const client = await RawClient.open(again.gateway)
  t.same(await client.run({ test: 1 }), { ok: 2 })
  client.socket.destroy()
  await again.gateway.close()
})

t.test('a taken port makes openGateway reject', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await t.rejects(openGateway({ host: '127.0.0.1', port, target: new FakeTarget(() => ({})), log: () => {} }), {
    code: 'EADDRINUSE',
  })
  server.close()
})
