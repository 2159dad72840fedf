/** Clients that log in against the protocol: what each version answers, and that none gets in. */
import { Binary, UUID, type Document } from '@shardlab/bson'
import { scramMechanisms } from '@shardlab/auth'
import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import type { RawClient } from '../support/raw-client.js'
import { logIn, ScramClient } from '../support/scram-client.js'
import { begun, connections, createRoot, next, root, start, usersOf } from './support/raw-logins.js'

const refused = (code: number, errmsg: string): Document => ({ ok: 0, code, errmsg })
const failed = refused(18, 'Authentication failed.')
const noSession = refused(17, 'No SASL session state found')
/** Not in replies of 2.6. */
const codeNames: Readonly<Record<number, string>> = {
  2: 'BadValue',
  9: 'FailedToParse',
  14: 'TypeMismatch',
  16: 'InvalidLength',
  17: 'ProtocolError',
  18: 'AuthenticationFailed',
  334: 'MechanismUnavailable',
  10270: 'Location10270',
  40537: 'Location40537',
}
const login = { ...root, mechanism: 'SCRAM-SHA-1' } as const
const nonce = 'r=abcdefgh'

/** The answer to the last message of a case. */
type Answer = (since: (version: EmulatedVersion) => boolean) => Document
type Case = readonly [name: string, run: (client: RawClient) => Promise<Document>, answer: Document | Answer]

const first = (name: string, payload: unknown): Case => [name, (client) => client.command(start(payload)), failed]

/** A final message that is made from the right one. */
const final = (name: string, change: (final: string) => string, answer: Document | Answer = failed): Case => [
  name,
  async (client) => {
    const { final } = await begun(client)
    return client.command(next(change(final)))
  },
  answer,
]

const withProof = (proof: string) => (final: string) => final.replace(/p=.*$/, `p=${proof}`)

/** A message after a failure of an earlier one. */
async function afterwards(client: RawClient, ...messages: readonly Document[]): Promise<Document> {
  const { final } = await begun(client)
  for (const message of messages) await client.command(message)
  return client.command(next(final))
}

const badType: Answer = (since) =>
  since('5.0')
    ? refused(2, 'Invalid SASLPayload type. Expected Base64 or BinData, got: int')
    : refused(14, 'Wrong type for field; expected BinData or String for payload: 1')

const badBase64 =
  (code: number, text: string): Answer =>
  (since) =>
    since('5.0') ? refused(code, `Failed decoding SASL payload: ${text}`) : refused(9, text)

const firstMessages: readonly Case[] = [
  first('empty', ''),
  first('one part', 'n'),
  first('no name and no nonce', 'n,,'),
  first('no nonce', 'n,,n=root'),
  first('no name', `n,,${nonce}`),
  first('an empty name', `n,,n=,${nonce}`),
  first('a short nonce', 'n,,n=root,r=abc'),
  first('channel binding', `p=tls-unique,,n=root,${nonce}`),
  first('channel binding of TLS 1.3', `p=tls-exporter,,n=root,${nonce}`),
  first('an unknown flag', `x,,n=root,${nonce}`),
  first('another authzid', `n,a=admin,n=root,${nonce}`),
  first('a mandatory extension', `n,,m=x,n=root,${nonce}`),
  first('an unknown user', `n,,n=nobody,${nonce}`),
  first('the internal user', `n,,n=__system,${nonce}`),
  first('a name with a zero byte', `n,,n=ro\0ot,${nonce}`),
  first('a large message', 'x'.repeat(100_000)),
  first('a large name', `n,,n=${'x'.repeat(100_000)},${nonce}`),
  first('bytes that are no text', new Binary(Buffer.from([0xff, 0xfe, 0, 0x2c, 0x2c]))),
  ['a number', (client) => client.command(start(1)), badType],
  [
    'a UUID',
    (client) => client.command(start(new UUID())),
    (since) => (since('5.0') ? refused(2, 'Invalid SASLPayload subtype. Expected BinDataGeneral, got: UUID') : failed),
  ],
  [
    'half a group of base64',
    (client) => client.command({ ...start(''), payload: 'bix' }),
    badBase64(10270, 'invalid base64'),
  ],
  [
    'characters outside of base64',
    (client) => client.command({ ...start(''), payload: 'bi*s' }),
    badBase64(40537, 'Invalid base64 character'),
  ],
  [
    'another mechanism',
    (client) => client.command(start(new ScramClient(root).first, { mechanism: 'PLAIN' })),
    (since) => {
      if (since('5.0')) return refused(334, 'Received authentication for mechanism PLAIN which is not enabled')
      if (since('4.4')) return refused(2, 'Received authentication for mechanism PLAIN which is unknown or not enabled')
      return refused(2, "Unsupported mechanism 'PLAIN' on authentication database 'admin'")
    },
  ],
  [
    'the mechanism before SCRAM',
    (client) => client.command({ authenticate: 1, mechanism: 'MONGODB-CR', user: 'root', nonce: 'x', $db: 'admin' }),
    (since) => {
      if (since('7.0')) return failed
      if (since('5.0')) return refused(334, 'Received authentication for mechanism MONGODB-CR which is not enabled')
      if (since('4.4'))
        return refused(2, 'Received authentication for mechanism MONGODB-CR which is unknown or not enabled')
      return refused(2, 'Unsupported mechanism: MONGODB-CR')
    },
  ],
  [
    'an option of another type',
    (client) => client.command(start(new ScramClient(login).first, { options: { skipEmptyExchange: 1 } })),
    (since) => (since('4.4') ? refused(2, 'skipEmptyExchange must be boolean') : { ok: 1, done: false }),
  ],
]

const finalMessages: readonly Case[] = [
  final('empty', () => ''),
  final('only the proof', (text) => text.slice(text.indexOf('p='))),
  final('no proof', (text) => text.slice(0, text.lastIndexOf(',p='))),
  final('an empty proof', withProof('')),
  final('no binding', (text) => text.slice(text.indexOf('r='))),
  final('an empty binding', (text) => text.replace('c=biws', 'c=')),
  final('another binding', (text) => text.replace('c=biws', 'c=eSws')),
  final('no nonce', (text) => text.replace(/r=[^,]*,/, '')),
  final('the nonce of the client alone', (text) => text.replace(/r=(.{16})[^,]*/, 'r=$1')),
  final('another nonce', (text) => text.replace('r=abcd', 'r=abce')),
  final('an extension that is not signed', (text) => text.replace(',p=', ',x=y,p=')),
  final('a proof of zeros', withProof(Buffer.alloc(20).toString('base64'))),
  final('a proof in another place', (text) => text.replace(/^(.*),(p=.*)$/, '$2,$1')),
  final('a large message', (text) => text.replace(',p=', `,${'x'.repeat(100_000)},p=`)),
  final('a proof of three bytes', withProof('AAAA'), refused(16, 'Unsupported SHA1Block hash length: 3')),
  final('a proof without padding', (text) => text.replace(/=$/, ''), refused(10270, 'invalid base64')),
  final('a proof outside of base64', withProof('****'), refused(40537, 'Invalid base64 character')),
  [
    'a number',
    async (client) => {
      await begun(client)
      return client.command(next(1))
    },
    badType,
  ],
  [
    'the right message in another conversation',
    async (client) => {
      const { final } = await begun(client)
      await begun(client)
      return client.command(next(final))
    },
    failed,
  ],
  ['the right message after a wrong one', (client) => afterwards(client, next('c=biws,r=abcdefgh,p=AAAA')), noSession],
  [
    'the right message after one with a payload of another type',
    (client) => afterwards(client, next(1)),
    (since) => (since('5.0') ? { ok: 1, done: false } : noSession),
  ],
  [
    'the right message after a start with a payload of another type',
    (client) => afterwards(client, start(1)),
    (since) => (since('5.0') ? { ok: 1, done: false } : noSession),
  ],
  [
    'another id before a payload of another type',
    async (client) => {
      await begun(client)
      return client.command(next(1, { conversationId: 2 }))
    },
    (since) => (since('5.0') ? badType(since) : refused(17, 'sasl: Mismatched conversation id')),
  ],
  ['the right message after a refused start', (client) => afterwards(client, start('n')), noSession],
  [
    'the right message after another id',
    async (client) => {
      const { final } = await begun(client)
      const mismatch = await client.command(next(final, { conversationId: 2 }))
      if (mismatch['errmsg'] !== 'sasl: Mismatched conversation id') return mismatch
      return client.command(next(final))
    },
    noSession,
  ],
  [
    'the right message after another mechanism',
    (client) => afterwards(client, { authenticate: 1, mechanism: 'MONGODB-CR', $db: 'admin' }),
    noSession,
  ],
]

const isLong = process.env['SHARDLAB_LONG'] === '1'
const versions = isLong ? emulatedVersions : (['2.6', '4.0', '4.4', '5.0', '8.0'] as const)

for (const version of versions)
  t.test(`D914 ${version}: a malformed message, or one out of order, has the server's answer`, async (t) => {
    const connect = await connections(t, version)
    const since = (other: EmulatedVersion) => emulatedVersions.indexOf(version) >= emulatedVersions.indexOf(other)
    const setup = await connect()
    await setup.command(createRoot())
    const client = await connect()
    t.match(await client.command(next('')), noSession, 'a step before the first one')
    for (const [kind, cases] of Object.entries({ first: firstMessages, final: finalMessages }))
      for (const [name, run, answer] of cases) {
        const reply = await run(client)
        t.match(reply, typeof answer === 'function' ? answer(since) : answer, `${kind}: ${name}`)
        if (since('4.0')) t.equal(reply['codeName'], codeNames[reply['code']], name)
        t.equal((await usersOf(client)).length, 0, `${kind}: ${name}: nobody is logged in`)
      }

    t.match(await client.command(next('')), noSession)
    const { final } = await begun(client)
    const elsewhere = await client.command(next(final, { $db: 'shop' }))
    if (since('5.0')) {
      t.match(elsewhere, { ok: 1, done: false }, 'the database of the first message counts')
      t.match(await client.command(next('', { $db: 'shop' })), { ok: 1, done: true })
    } else {
      t.match(elsewhere, refused(17, 'Attempt to switch database target during SASL authentication.'))
      t.match(await logIn(client, login), { ok: 1 })
    }
    t.match(await usersOf(client), [{ user: 'root', db: 'admin' }])

    const shortened = await connect()
    const { final: proof } = await begun(shortened, login, { options: { skipEmptyExchange: true } })
    t.match(await shortened.command(next(proof)), { ok: 1, done: since('4.4') })
    t.match(await shortened.command(next('')), since('4.4') ? noSession : { ok: 1, done: true })
    t.match(await shortened.command(next('')), noSession, 'a step after the last one')
  })

t.test('two connections cannot continue the logins of each other', async (t) => {
  const connect = await connections(t, '7.0')
  await (await connect()).command(createRoot())
  const [a, b] = [await connect(), await connect()]
  const [ofA, ofB] = [await begun(a), await begun(b)]
  t.not(ofA.final, ofB.final, 'each has a nonce of its own')
  t.match(await a.command(next(ofB.final)), failed)
  t.match(await b.command(next(ofA.final)), failed)
  await begun(a)
  t.match(await b.command(next((await begun(a)).final)), noSession, 'a connection without a login')
  t.same([...(await usersOf(a)), ...(await usersOf(b))], [])
})

t.test('hello and logout during a login', async (t) => {
  const connect = await connections(t, '7.0')
  await (await connect()).command(createRoot())
  const client = await connect()
  const hello = { hello: 1, $db: 'admin' }
  t.match(await afterwards(client, hello), { ok: 1 }, 'a hello that asks for nothing')
  await client.command({ logout: 1, $db: 'admin' })
  t.match(await afterwards(client, { ...hello, saslSupportedMechs: 'admin.root' }), {
    code: 17,
    errmsg: 'saslContinue must follow saslStart',
  })
  const speculation = { saslStart: 1, mechanism: 'SCRAM-SHA-1', payload: new Binary(Buffer.from('n')), db: 'admin' }
  t.match(await afterwards(client, { ...hello, speculativeAuthenticate: speculation }), noSession)
  t.match(await client.command({ logout: 1, $db: 'admin' }), { code: 13 }, 'logout needs a user')
  t.match(await afterwards(client, { logout: 1, $db: 'admin' }), { ok: 1, done: false })
  t.match(await client.command(next('')), { ok: 1, done: true })
  t.match(await usersOf(client), [{ user: 'root' }])
  const again = await begun(client)
  t.match(await client.command({ logout: 1, $db: 'admin' }), { ok: 1 })
  t.match(await client.command(next(again.final)), { ok: 1 }, 'the login continues')
})

t.test('a user of one mechanism cannot log in with another one, which hello does not name', async (t) => {
  const connect = await connections(t, '7.0')
  const client = await connect()
  await client.command(createRoot({ mechanisms: ['SCRAM-SHA-256'] }))
  t.match(await client.command(start(new ScramClient(login).first)), failed)
  const { saslSupportedMechs } = await client.command({ hello: 1, saslSupportedMechs: 'admin.root', $db: 'admin' })
  t.same(saslSupportedMechs, ['SCRAM-SHA-256'])
  t.match(await logIn(client, root), { ok: 1, done: true })
  await client.command({ setParameter: 1, scramIterationCount: 4000, $db: 'admin' }).then((reply) => {
    t.match(reply, { ok: 0, code: 2 }, 'clients refuse fewer than 4096 iterations; the server needs 5000')
  })
})

t.test('100 parallel failing logins hash no password, and leave time for others', async (t) => {
  const connect = await connections(t, '7.0')
  const client = await connect()
  await client.command(createRoot())
  await logIn(client, root)
  const work = { signatures: 0, passwords: 0 }
  const mechanism = scramMechanisms.get('SCRAM-SHA-256')!
  const original = { ...mechanism }
  t.teardown(() => Object.assign(mechanism, original))
  Object.assign(mechanism, {
    sign(key: Uint8Array, bytes: Uint8Array) {
      work.signatures++
      return original.sign(key, bytes)
    },
    signer(key: Uint8Array) {
      work.passwords++
      return original.signer(key)
    },
  })
  const others = await Promise.all(Array.from({ length: 100 }, () => connect()))
  const failing = Promise.all(others.map((each) => logIn(each, { ...root, password: 'wrong' })))
  let isOver = false
  void failing.then(() => (isOver = true))
  let counted = 0
  for (; !isOver; counted++) t.match(await client.command({ count: 'rows', $db: 'shop' }), { ok: 1 })
  t.ok(counted > 0)
  for (const reply of await failing) t.match(reply, failed)
  t.same(work, { signatures: 100, passwords: 0 })
})

t.test('names of failed logins do not fill the memory of the log', async (t) => {
  const connect = await connections(t, '7.0')
  const client = await connect()
  await client.command(createRoot())
  const name = 'x'.repeat(100_000)
  for (let i = 0; i < 20; i++) t.match(await client.command(start(`n,,n=${name},${nonce}`)), failed)
  await logIn(client, root)
  const { log } = await client.command({ getLog: 'global', $db: 'admin' })
  const lines = (log as string[]).filter((line) => line.includes('Failed to authenticate'))
  t.equal(lines.length, 20)
  t.ok(lines.every((line) => line.length < 20_000))
})
