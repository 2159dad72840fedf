import t from 'tap'
import type { NodeHost } from '../src/host/node-host.js'
import { nodeOfMajority } from '../src/read/snapshots/snapshot-read.js'

t.test('a majority read finds a collection that a majority got while the command waited', async (t) => {
  const things = { ns: 'app.things' }
  const before = { collection: () => undefined }
  const after = { collection: (ns: string) => (ns === things.ns ? things : undefined) }
  let majority: object = before
  const node = nodeOfMajority({ set: { majorityEngine: () => majority } } as unknown as NodeHost)
  t.equal(node.collection('app.things'), undefined)
  majority = after
  t.equal(node.engine, after)
  t.equal(node.collection('app.things'), things)
})
