/**
 * Random changes of right logins: a changed conversation logs in only where the change has no
 * meaning. SHARDLAB_SEED=7 plays the seed 7 again; SHARDLAB_LONG=1 changes more.
 */
import type { Document } from '@shardlab/bson'
import { createRandom, type Random } from '@shardlab/actor'
import t from 'tap'
import type { RawClient } from '../support/raw-client.js'
import { logIn, ScramClient, textOf } from '../support/scram-client.js'
import { connections, createRoot, next, root, start, usersOf } from './support/raw-logins.js'

const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 1e6))
const conversations = process.env['SHARDLAB_LONG'] === '1' ? 5000 : 500
const login = { user: 'ann', password: 'pass', mechanism: 'SCRAM-SHA-1' } as const

const characters = ',,==rnpcsaiy+/A0Z\0\u00e9'

function changed(text: string, other: string, random: Random): string {
  const at = random.below(text.length + 1)
  const end = Math.min(text.length, at + 1 + random.below(8))
  const drawn = characters[random.below(characters.length)]!
  switch (random.below(7)) {
    case 0:
      return text.slice(0, at) + text.slice(end)
    case 1:
      return text.slice(0, at) + drawn + text.slice(at)
    case 2:
      return text.slice(0, at) + drawn + text.slice(at + 1)
    case 3:
      return text.slice(0, end) + text.slice(at, end) + text.slice(end)
    case 4:
      return text.slice(0, at) + other.slice(at)
    case 5:
      return other
    default: {
      const parts = text.split(',')
      const moved = parts.splice(random.below(parts.length), 1)
      parts.splice(random.below(parts.length + 1), 0, ...moved)
      return parts.join(',')
    }
  }
}

/** The flag and the authzid are not signed, and base64 has several forms of the same bytes. */
function meansTheSame(first: string, firstSent: string, final: string, finalSent: string): boolean {
  const bare = (text: string): string => text.slice(text.indexOf(',', text.indexOf(',') + 1) + 1)
  const unsigned = ['n,,', 'y,,', 'n,a=ann,', 'y,a=ann,']
  const header = firstSent.slice(0, firstSent.length - bare(firstSent).length)
  const proof = (text: string): Buffer => Buffer.from(text.slice(text.lastIndexOf(',p=') + 3), 'base64')
  const withoutProof = (text: string): string => text.slice(0, text.lastIndexOf(',p='))
  return (
    unsigned.includes(header) &&
    bare(first) === bare(firstSent) &&
    withoutProof(final) === withoutProof(finalSent) &&
    proof(final).equals(proof(finalSent))
  )
}

/** Commands between the two messages, after which the login ends or continues. */
const between: readonly Document[] = [
  { ping: 1, $db: 'admin' },
  { logout: 1, $db: 'admin' },
  { hello: 1, saslSupportedMechs: 'admin.ben', $db: 'admin' },
  { authenticate: 1, mechanism: 'MONGODB-X509', $db: '$external' },
  start('n,,n=ben,r=abcdefgh'),
  next('c=biws,r=abcdefgh,p=AAAA'),
  next('', { conversationId: 2 }),
]

t.test(`changed logins fail (again: SHARDLAB_SEED=${seed})`, { timeout: 600_000 }, async (t) => {
  const random = createRandom(seed)
  const connect = await connections(t, '8.0')
  const admin = await connect()
  await admin.command(createRoot())
  await logIn(admin, root)
  for (const createUser of ['ann', 'ben'])
    await admin.command({ createUser, pwd: 'pass', roles: [], mechanisms: ['SCRAM-SHA-1'], $db: 'admin' })
  let client: RawClient = await connect()
  let previous = { first: 'n,,n=ben,r=abcdefgh', final: 'c=biws,r=abcdefgh,p=AAAA' }
  const succeeded = { plain: 0, changed: 0 }
  for (let i = 0; i < conversations; i++) {
    const about = `conversation ${i} of seed ${seed}`
    const scram = new ScramClient(login, `nonce${i}`)
    const changesFirst = random.below(2) === 0
    const first = changesFirst ? changed(scram.first, previous.first, random) : scram.first
    const challenge = await client.command(start(first))
    const final =
      challenge['ok'] === 1 ? scram.final(textOf(challenge['payload'])) : previous.final.replace(/r=[^,]*/, 'r=none')
    const command = random.below(4) === 0 ? between[random.below(between.length)]! : null
    if (command !== null) await client.command(command)
    const sent = random.below(3) > 0 || changesFirst ? final : changed(final, previous.final, random)
    const reply = await client.command(next(sent, random.below(20) === 0 ? { conversationId: 2 } : {}))
    const users = await usersOf(client)
    const isSame = challenge['ok'] === 1 && meansTheSame(scram.first, first, final, sent)
    if (!isSame) t.match(reply, { ok: 0 }, `${about}: ${JSON.stringify({ first, sent, command })}`)
    if (reply['ok'] !== 1) t.same(users, [], about)
    else if ((await client.command(next('')))['done'] === true) {
      t.match(await usersOf(client), [{ user: 'ann', db: 'admin' }], about)
      succeeded[first === scram.first && sent === final ? 'plain' : 'changed']++
      client.close()
      client = await connect()
    } else t.fail(`${about}: the login did not end`)
    previous = { first: scram.first, final }
  }
  t.ok(succeeded.plain > 0, `right logins succeed: ${JSON.stringify(succeeded)}`)
})
