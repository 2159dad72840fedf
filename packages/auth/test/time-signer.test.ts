/** Signatures of cluster times. Server: logical_time_validator_test.cpp, key_generator_test.cpp. */
import { createHmac } from 'node:crypto'
import { decode, encode } from '@shardlab/bson'
import t from 'tap'
import { missingTimeKeys, readTimeKey, TimeSigner, writeTimeKey, type ClusterTime, type TimeKey } from '../src/index.js'
import { rulesOf } from './support/releases.js'

const day = 86_400
const now = 1_800_000_000
let made = 0
const newKey = (): Uint8Array => new Uint8Array(20).fill(++made)

function signerWith(keys: readonly TimeKey[], needKeys = () => {}): TimeSigner {
  const signer = new TimeSigner(rulesOf('7.0'), needKeys)
  signer.learn(keys)
  return signer
}

/** The signature of the last time that shares it. */
function expected({ key }: TimeKey, [seconds, increment]: ClusterTime): Buffer {
  const range = Buffer.alloc(8)
  range.writeUInt32LE((increment | 0xffff) >>> 0, 0)
  range.writeUInt32LE(seconds, 4)
  return createHmac('sha1', key).update(range).digest()
}

t.test('there is always one key that signs and one that follows it', async (t) => {
  const [first, second] = missingTimeKeys([], [now, 7], 90 * day, newKey) as [TimeKey, TimeKey]
  t.equal(first.keyId, (BigInt(now) << 32n) | 7n)
  t.equal(second.keyId, first.keyId + 1n)
  t.same(first.expiresAt, [now + 90 * day, 0])
  t.same(second.expiresAt, [now + 180 * day, 0])
  t.same(missingTimeKeys([second, first], [now + day, 1], 90 * day, newKey), [])
  const [third, ...others] = missingTimeKeys([first, second], first.expiresAt, 90 * day, newKey)
  t.same(third?.expiresAt, [now + 270 * day, 0])
  t.same(others, [])
  t.equal(missingTimeKeys([first, second], second.expiresAt, 90 * day, newKey).length, 2)
  const [last] = missingTimeKeys([], [0xffff_fff0, 1], 90 * day, newKey)
  t.same(last!.expiresAt, [0xffff_ffff, 0])
})

t.test('documents of keys have the format of the server, and others are ignored', async (t) => {
  const key: TimeKey = { keyId: (BigInt(now) << 32n) | 1n, key: newKey(), expiresAt: [now, 0] }
  const document = decode(writeTimeKey(key), { promoteLongs: false })
  t.same(Object.keys(document), ['_id', 'purpose', 'key', 'expiresAt'])
  t.same(readTimeKey(writeTimeKey(key)), key)
  for (const change of [{ purpose: 'other' }, { key: 1 }, { expiresAt: 1 }, { _id: 1 }])
    t.equal(readTimeKey(encode({ ...document, ...change })), null)
  t.equal(readTimeKey(encode({})), null)
})

t.test('all times of a second have the same signature, unless they are very many', async (t) => {
  const keys = missingTimeKeys([], [now, 1], 90 * day, newKey)
  const signer = signerWith(keys)
  const signature = signer.sign([now, 1])!
  t.same(Buffer.from(signature.hash), expected(keys[0]!, [now, 1]))
  t.equal(signature.keyId, keys[0]!.keyId)
  t.equal(signer.sign([now, 65_535]), signature, 'not computed again')
  for (const time of [
    [now, 65_536],
    [now + 1, 1],
  ] as const)
    t.same(Buffer.from(signer.sign(time)!.hash), expected(keys[0]!, time))
})

t.test('a time that is later than all signed ones needs a signature', async (t) => {
  const keys = missingTimeKeys([], [now, 1], 90 * day, newKey)
  const other = signerWith(keys)
  const signer = signerWith(keys)
  const unsigned = { hash: new Uint8Array(20), keyId: 0n }
  signer.sign([now, 9])
  signer.check([now, 9], unsigned)
  const mismatch = { code: 204, codeName: 'TimeProofMismatch', message: 'Proof does not match the cluster time' }
  t.throws(() => signer.check([now, 10], { ...unsigned, keyId: keys[0]!.keyId }), mismatch)
  signer.check([now, 10], other.sign([now, 10])!)
  t.throws(() => signer.check([now + 1, 1], other.sign([now, 10])!), mismatch)
  t.throws(() => signer.check([now, 10], unsigned), {
    code: 211,
    codeName: 'KeyNotFound',
    message: `No keys found for HMAC that is valid for time: { ts: Timestamp(${now}, 10) } with id: 0`,
  })
  t.throws(() => new TimeSigner(rulesOf('4.4'), () => {}).check([now, 1], unsigned), {
    message: `Cache Reader No keys found for HMAC that is valid for time: { ts: Timestamp(${now}, 1) } with id: 0`,
  })
})

t.test('a key signs until it expires, and the last one asks for others once in a second', async (t) => {
  const keys = missingTimeKeys([], [now, 1], day, newKey)
  let asked = 0
  const signer = signerWith(keys.toReversed(), () => void asked++)
  t.equal(signer.sign([now + day - 1, 9])!.keyId, keys[0]!.keyId)
  t.equal(asked, 0)
  for (const increment of [0, 1, 2]) t.equal(signer.sign([now + day, increment])!.keyId, keys[1]!.keyId)
  t.equal(asked, 1)
  t.equal(signer.sign([now + 2 * day, 0]), null)
  t.equal(asked, 2)
  t.throws(() => signer.check([now + 2 * day, 1], { hash: new Uint8Array(20), keyId: keys[1]!.keyId }), { code: 211 })
  t.equal(asked, 3)
})
