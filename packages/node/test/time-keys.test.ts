/** The keys of cluster times on a mongod. Server: keys_collection_manager_sharding_test.cpp. */
import { setImmediate as turn } from 'node:timers/promises'
import { RequestFailedError } from '@shardlab/actor'
import { FakeDisk } from '@shardlab/actor/testing'
import { missingTimeKeys, writeTimeKey } from '@shardlab/auth'
import { decode, encode, type Document, type Long } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest, plainRole } from './support/harness.js'

const withKeys = (disk = new FakeDisk(), keysRotationSec = 1000) =>
  new NodeUnderTest({
    disk,
    hasAccessControl: true,
    startOptions: { setParameter: { KeysRotationIntervalSec: keysRotationSec } },
  })

/** The reply to a client without user. */
async function hello({ node }: NodeUnderTest): Promise<Document> {
  const body = encode({ hello: 1, $db: 'admin' })
  return decode((await node.clientCommand({ connectionId: 1, body, sequences: [], legacy: false, remote: 'h:1' })).body)
}

const keyIdOf = (reply: Document): string => (reply['$clusterTime'].signature.keyId as Long).toString()
const idsOf = async (node: NodeUnderTest): Promise<string[]> =>
  (await node.all('system.keys', 'admin')).map(({ _id }) => String(_id))

t.test('a primary creates two keys, and has them after a restart and an election', async (t) => {
  const node = withKeys()
  await turn()
  const ids = await idsOf(node)
  t.equal(ids.length, 2)
  t.equal(keyIdOf(await hello(node)), ids[0])
  await node.stepDown()
  t.equal(keyIdOf(await hello(node)), ids[0], 'as a secondary')
  await node.stepUp()
  const restarted = node.restarted()
  for (const again of [node, restarted]) {
    t.equal(keyIdOf(await hello(again)), ids[0])
    t.same(await idsOf(again), ids)
  }
})

t.test('an elected member creates no keys before it may write', async (t) => {
  const node = withKeys()
  await turn()
  await node.stepDown()
  const { node: catchingUp } = node
  catchingUp.timeKeys!.signer.learn([])
  Object.defineProperty(catchingUp.set, 'isPrimary', { value: true })
  t.notOk('$clusterTime' in (await hello(node)))
  await turn()
  t.same(await catchingUp.timeKeys!.complete(), [])
})

t.test('a key signs once it is on the disk', async (t) => {
  const disk = new FakeDisk()
  disk.held = true
  const node = withKeys(disk)
  await turn()
  const before = await hello(node)
  t.notOk('$clusterTime' in before)
  t.notOk('operationTime' in before)
  disk.release()
  await turn()
  t.not(keyIdOf(await hello(node)), '0')
})

t.test('when a key expires the next one signs, and another one is created', async (t) => {
  const node = withKeys()
  await turn()
  const [, second] = await idsOf(node)
  node.context.nowMs += 1_500_000
  await node.ok({ insert: 'rows', documents: [{}] })
  t.equal(keyIdOf(await hello(node)), second)
  await turn()
  t.equal((await idsOf(node)).length, 3)
  node.context.nowMs += 10_000_000
  await node.ok({ insert: 'rows', documents: [{}] })
  t.notOk('$clusterTime' in (await hello(node)), 'all have expired')
  await turn()
  const ids = await idsOf(node)
  t.equal(ids.length, 5)
  t.equal(keyIdOf(await hello(node)), ids[3])
})

t.test('a member of a cluster requests the keys, and has none of its own', async (t) => {
  const [key] = missingTimeKeys([], [1_900_000_000, 1], 1000, () => new Uint8Array(20).fill(1))
  let isReachable = false
  const fetchTimeKeys = async () => {
    if (!isReachable) throw new RequestFailedError('unreachable', 'config', 'config.get-time-keys')
    return [writeTimeKey(key!)]
  }
  const node = new NodeUnderTest({ role: { ...plainRole, fetchTimeKeys }, hasAccessControl: true })
  await turn()
  t.notOk('$clusterTime' in (await hello(node)))
  isReachable = true
  await hello(node)
  await turn()
  t.equal(keyIdOf(await hello(node)), String(key!.keyId))
  t.same(await idsOf(node), [])
})

t.test('without access control there are neither keys nor signatures', async (t) => {
  const node = new NodeUnderTest()
  t.equal(keyIdOf(await hello(node)), '0')
  t.same(await idsOf(node), [])
})
