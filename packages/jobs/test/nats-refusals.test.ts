/** What is wrong with a server is one sentence. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { NatsOptions } from '@shardlab/nats'
import { natsQueue } from '../src/index.js'
import { echoJobs } from './support/echo-jobs.js'
import { NatsServer, withoutNats } from '@shardlab/nats/testing'
import { OneServer } from './support/one-server.js'

const refused = (t: Test, nats: NatsOptions, message: RegExp, name?: string): Promise<unknown> =>
  t.rejects(natsQueue(echoJobs, { nats, version: '1', ...(name === undefined ? {} : { name }) }), {
    name: 'OptionError',
    message,
  })

t.test('wrong addresses, names and files are one sentence, without the password', async (t) => {
  await refused(
    t,
    { url: 'nats://127.0.0.1:1' },
    /^NATS cannot be reached at nats:\/\/127.0.0.1:1: connect ECONNREFUSED/,
  )
  const withPassword = { url: 'nats://me:secret@127.0.0.1:1' }
  await refused(t, withPassword, /^NATS cannot be reached at nats:\/\/\*\*\*@127.0.0.1:1: (?!.*secret)/)
  for (const url of ['127.0.0.1:4222', 'http://127.0.0.1', 'nats://', 'no address'])
    await refused(t, { url }, /^the address of NATS is ".*": write it as nats:\/\/host:4222 or tls:\/\/host:4222$/)
  const url = 'nats://127.0.0.1:1'
  await refused(t, { url }, /^the name of the job is "a b": use up to 64 letters, digits, - and _$/, 'a b')
  await refused(t, { url, credsFile: '/none.creds' }, /^the file of --nats-creds cannot be read: ENOENT/)
  await refused(t, { url, tlsCaFile: '/none.pem' }, /^the file of --nats-tls-ca cannot be read: ENOENT/)
  await refused(t, { url, tlsCertFile: '/none.pem' }, /^a certificate and its key belong together/)
  const creds = join(t.testdir(), 'wrong.creds')
  writeFileSync(creds, 'no credentials')
  await refused(t, { url, credsFile: creds }, /^NATS cannot be reached|^the file of --nats-creds/)
})

t.test(
  'servers without JetStream, with tiny messages and with other logins are refused',
  { skip: withoutNats },
  async (t) => {
    const bare = await NatsServer.start({ jetStream: false })
    t.teardown(() => bare.stop())
    await refused(t, bare, /^NATS at nats:\/\/\S+ has no JetStream: start nats-server with -js/)
    const tiny = await OneServer.start(t, { config: 'max_payload: 512' })
    await refused(t, tiny.server, /allows messages of 512 bytes, and jobs need 1024: raise its max_payload$/)
    await t.rejects(tiny.worker().ended, /allows messages of 512 bytes/)
    const closed = await OneServer.start(t, { config: 'authorization { user: me, password: "s:ecret" }' })
    await refused(t, closed.server, /refuses the login: check user and password in the URL, or --nats-creds$/)
    const { port } = closed.server
    await refused(t, { url: `nats://me:wrong@127.0.0.1:${port}` }, /\*\*\*@127.0.0.1:\d+ refuses the login/)
    const queue = await closed.queue({ nats: { url: `nats://me:s%3Aecret@127.0.0.1:${port}` } })
    await queue.end()
  },
)

t.test('a server without room for results ends the run with one sentence', { skip: withoutNats }, async (t) => {
  const one = await OneServer.start(t, { storeBytes: 20_000 })
  const message =
    /^NATS at nats:\/\/\S+ has no room for the jobs: insufficient resources\. Raise its limits of JetStream$/
  const noRoom = { name: 'OptionError', message }
  const inputs = await one.queue()
  // The server takes one message that exceeds its limit, and then no more.
  const given = ['a', 'b'].map((key) => inputs.run({ key, input: { value: 'x'.repeat(100_000) } }))
  await Promise.all(given.map((result) => t.rejects(result, noRoom)))
  await inputs.end()
  const results = await one.queue()
  const worker = one.worker({ concurrency: 1 })
  const played = ['c', 'd'].map((key) => results.run({ key, input: { value: 'x', does: 'multiply' } }))
  await t.rejects(Promise.all(played), noRoom)
  await results.end()
  const next = await one.queue()
  t.equal(await next.run({ key: 'e', input: { value: 'e' } }), 'e', 'the worker continues')
  t.ok(worker.events.some((event) => event.type === 'ended' && event.how === 'failed'))
})

t.test('a missing permission ends coordinator and worker with one sentence', { skip: withoutNats }, async (t) => {
  const missing = [
    { who: 'coordinator', may: 'publish', root: '$JS.API.>' },
    { who: 'coordinator', may: 'subscribe', root: '_INBOX.>' },
    { who: 'coordinator', may: 'subscribe', root: 'shardlab.>' },
    { who: 'coordinator', may: 'publish', root: 'shardlab.>' },
    { who: 'worker', may: 'publish', root: '$JS.API.>' },
    { who: 'worker', may: 'subscribe', root: '_INBOX.>' },
    { who: 'worker', may: 'subscribe', root: 'shardlab.>' },
    { who: 'worker', may: 'publish', root: 'shardlab.>' },
    { who: 'worker', may: 'publish', root: '$JS.ACK.>' },
  ] as const
  const users = missing.map(
    ({ may, root }, i) => `{ user: u${i}, password: p, permissions: { ${may}: { deny: "${root}" } } }`,
  )
  const one = await OneServer.start(t, {
    config: `authorization { users: [ { user: all, password: p }, ${users.join(', ')} ] }`,
  })
  const urlOf = (user: string): string => `nats://${user}:p@127.0.0.1:${one.server.port}`
  for (const [i, { who, may, root }] of missing.entries()) {
    const end = root.slice(0, -1).replaceAll(/[$.]/g, String.raw`\$&`)
    const message = new RegExp(
      `^NATS at \\S+ does not allow the user to ${may} to ${end}\\S+: give it the permission to ${may} to ${end}>$`,
    )
    const nats = { url: urlOf(`u${i}`) }
    if (who === 'coordinator') await refused(t, nats, message)
    else {
      const queue = await one.queue({ nats: { url: urlOf('all') } })
      const result = queue.run({ key: 'a', input: { value: 'a' } })
      await t.rejects(one.worker({ url: nats.url }).ended, { name: 'OptionError', message })
      result.catch(() => {})
      await queue.end()
    }
  }
})
