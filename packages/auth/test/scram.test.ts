/** The client's side is computed by node:crypto, without the code under test. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { encode } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { saslprep } from '@mongodb-js/saslprep'
import {
  AuthenticationError,
  makeCredentials,
  passwordOf,
  readCredentials,
  ScramConversation,
  scramMechanisms,
  usePreparation,
  writeCredentials,
  type ScramCredentials,
  type ScramMechanism,
} from '../src/index.js'

const [sha256, sha1] = [...scramMechanisms.values()] as [ScramMechanism, ScramMechanism]
const algorithmOf = ({ name }: ScramMechanism): string => name.slice('SCRAM-'.length).replace('-', '').toLowerCase()

function ended<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

const credentialsOf = (mechanism: ScramMechanism, password: string, iterations: number, salt: Uint8Array) =>
  ended(makeCredentials(mechanism, password, iterations, salt))

interface Client {
  readonly first: string
  final(challenge: string): { readonly payload: string; readonly signature: string }
}

/** RFC 5802, section 3. */
function client(mechanism: ScramMechanism, user: string, password: string, nonce: string): Client {
  const algorithm = algorithmOf(mechanism)
  const hmac = (key: Buffer, text: string): Buffer => createHmac(algorithm, key).update(text).digest()
  const bare = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  return {
    first: `n,,${bare}`,
    final(challenge) {
      const [r, s, i] = challenge.split(',').map((part) => part.slice(2)) as [string, string, string]
      const salted = pbkdf2Sync(password, Buffer.from(s, 'base64'), Number(i), mechanism.length, algorithm)
      const clientKey = hmac(salted, 'Client Key')
      const withoutProof = `c=biws,r=${r}`
      const message = `${bare},${challenge},${withoutProof}`
      const signature = hmac(createHash(algorithm).update(clientKey).digest(), message)
      const proof = Buffer.from(clientKey.map((byte, at) => byte ^ signature[at]!)).toString('base64')
      return {
        payload: `${withoutProof},p=${proof}`,
        signature: `v=${hmac(hmac(salted, 'Server Key'), message).toString('base64')}`,
      }
    },
  }
}

function refused(t: Test, run: () => unknown, reason: RegExp, name: string): void {
  t.throws(run, { name: 'CommandError', code: 18, message: 'Authentication failed.', reason }, name)
}

t.test('the vectors of the authentication specification', (t) => {
  for (const { mechanism, password, iterations, salt, nonce, server, proof, signature } of [
    {
      mechanism: sha1,
      password: passwordOf(sha1, 'user', 'pencil'),
      iterations: 10_000,
      salt: 'rQ9ZY3MntBeuP3E1TDVC4w==',
      nonce: 'fyko+d2lbbFgONRv9qkxdawL',
      server: 'HwiHT8I7bs4EfsGOX4c=',
      proof: null,
      signature: null,
    },
    {
      mechanism: sha256,
      password: 'pencil',
      iterations: 4096,
      salt: 'W22ZaJ0SNY7soEsUEjb6gQ==',
      nonce: 'rOprNGfwEbeRWgbNEkqO',
      server: '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0',
      proof: 'p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
      signature: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
    },
  ]) {
    const credentials = credentialsOf(mechanism, password, iterations, Buffer.from(salt, 'base64'))
    const talk = client(mechanism, 'user', password, nonce)
    const challenge = `r=${nonce}${server},s=${salt},i=${iterations}`
    const { payload, signature: expected } = talk.final(challenge)
    if (proof !== null) t.equal(payload.split(',').at(-1), proof, 'the client of this test')
    if (signature !== null) t.equal(expected, signature)
    const serverKey = createHmac(algorithmOf(mechanism), Buffer.from(credentials.serverKey, 'base64'))
    const message = `${talk.first.slice(3)},${challenge},${payload.slice(0, payload.lastIndexOf(','))}`
    t.equal(`v=${serverKey.update(message).digest('base64')}`, expected, mechanism.name)
  }
  t.equal(passwordOf(sha1, 'user', 'pencil'), '1c33006ec1ffd90f9cadcbcc0e118200', 'digest of the MONGODB-CR form')
  t.end()
})

const password = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => {
  try {
    return saslprep(text) !== ''
  } catch {
    return false
  }
})

t.test('the right password is proved to both sides, in two or three exchanges; another one is not', (t) => {
  usePreparation(saslprep)
  const user = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !/=(2C|3D)/.test(text))
  const mechanism = fc.constantFrom(sha1, sha256)
  check(
    fc.property(mechanism, user, password, password, fc.boolean(), (mechanism, user, right, tried, skips) => {
      const stored = passwordOf(mechanism, user, right)
      const sent = passwordOf(mechanism, user, tried)
      const credentials = credentialsOf(mechanism, stored, 20, randomBytes(mechanism.saltLength))
      const server = new ScramConversation(mechanism, skips)
      const talk = client(mechanism, user, sent, 'abcd')
      if (server.first(talk.first) !== user) return false
      const challenge = server.challenge(credentials, randomBytes(24))
      const { payload, signature } = talk.final(challenge.payload)
      try {
        const reply = server.last(payload)
        if (stored !== sent || reply.payload !== signature || reply.isDone !== skips) return false
        return skips || server.last('').isDone
      } catch (error) {
        return error instanceof AuthenticationError && stored !== sent
      }
    }),
    200,
  )
  t.end()
})

function inSecondStep(): { server: ScramConversation; final: string } {
  const credentials = credentialsOf(sha256, 'pencil', 10, randomBytes(28))
  const server = new ScramConversation(sha256, true)
  const talk = client(sha256, 'user', 'pencil', 'abcd')
  server.first(talk.first)
  return { server, final: talk.final(server.challenge(credentials, randomBytes(24)).payload).payload }
}

t.test('replays, changed messages and steps out of order are refused', (t) => {
  const { server, final } = inSecondStep()
  t.ok(server.last(final).isDone)
  refused(t, () => server.last(final), /after the last/, 'a replay in the same conversation')
  refused(t, () => inSecondStep().server.last(final), /another nonce/, 'a replay in another one')
  refused(t, () => new ScramConversation(sha256, true).last(final), /before its time/, 'the last step first')
  const again = inSecondStep()
  refused(t, () => again.server.last('garbage'), /malformed/, 'garbage')
  refused(t, () => again.server.last(again.final), /before its time/, 'a second try needs a new challenge')
  const changed = inSecondStep()
  refused(t, () => changed.server.last(changed.final.replace('c=biws', 'c=eSws')), /wrong/, 'a changed binding')
  refused(t, () => inSecondStep().server.challenge(null, randomBytes(24)), /credentials/, 'an unknown user')
  t.end()
})

t.test('malformed first messages are refused', (t) => {
  for (const [payload, reason] of [
    ['', /too few/],
    ['n', /too few/],
    ['n,', /too few/],
    ['n,,', /too few/],
    ['n,,n=user', /too few/],
    ['p=tls-unique,,n=user,r=abcd', /channel binding/],
    ['x,,n=user,r=abcd', /prefix/],
    ['n,b=user,n=user,r=abcd', /authzid is malformed/],
    ['n,a=other,n=user,r=abcd', /another user/],
    ['n,,m=ext,n=user,r=abcd', /extensions/],
    ['n,,n=,r=abcd', /user name/],
    ['n,,u=user,r=abcd', /user name/],
    ['n,,n=user,r=abc', /nonce/],
    ['n,,n=user,x=abcd', /nonce/],
  ] as const)
    refused(t, () => new ScramConversation(sha256, true).first(payload), reason, payload)
  t.equal(new ScramConversation(sha256, true).first('y,a=a=b,,n=a=3Db,,r=abcd'), 'a=b', 'what the server also accepts')
  const commas = ','.repeat(1_000_000)
  t.equal(new ScramConversation(sha256, true).first(`n,,${commas}n=a${commas}r=abcd${commas}`), 'a')
  refused(t, () => new ScramConversation(sha256, true).first(`n,,${commas}n=a${commas}`), /too few/, 'many commas')
  t.end()
})

t.test('any text is answered or refused', (t) => {
  const part = fc.oneof(fc.string(), fc.constantFrom('n', 'y', 'n=user', 'r=abcd', 'c=biws', 'p=AAAA', '', 'a=user'))
  check(
    fc.property(fc.array(part, { maxLength: 6 }), fc.array(part, { maxLength: 6 }), (first, last) => {
      const server = new ScramConversation(sha1, true)
      try {
        server.first(first.join(','))
        server.challenge(credentialsOf(sha1, 'x', 1, randomBytes(16)), randomBytes(24))
        server.last(last.join(','))
        return false
      } catch (error) {
        return error instanceof AuthenticationError
      }
    }),
    500,
  )
  t.end()
})

t.test('passwords are prepared', (t) => {
  usePreparation(saslprep)
  t.equal(passwordOf(sha256, 'u', 'I\u00ADX'), 'IX')
  t.equal(passwordOf(sha256, 'u', '\u2168'), 'IX')
  t.equal(passwordOf(sha256, 'u', 'IX'), 'IX')
  t.throws(() => passwordOf(sha256, 'u', 'a\u0007'), { code: 2 })
  t.equal(passwordOf(sha1, 'u', 'digest', true), 'digest', 'already digested')
  t.end()
})

t.test('stored credentials are read again; damaged ones are none', (t) => {
  const made: ScramCredentials = credentialsOf(sha256, 'pencil', 5, randomBytes(28))
  const document = encode({ 'SCRAM-SHA-256': { ...made } })
  t.same(readCredentials(document, 'SCRAM-SHA-256'), made)
  t.equal(readCredentials(document, 'SCRAM-SHA-1'), null)
  const short = encode({ 'SCRAM-SHA-256': { ...made, storedKey: 'AAAA' } })
  t.equal(readCredentials(short, 'SCRAM-SHA-256'), null)
  t.equal(readCredentials(encode({ 'SCRAM-SHA-256': { iterationCount: 5 } }), 'SCRAM-SHA-256'), null)
  t.same(writeCredentials(made), encode({ ...made }))
  t.end()
})
