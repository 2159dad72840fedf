import t from 'tap'
import { resolveOptions, type ClusterOptions } from '../src/index.js'
import { describeTopology } from '../src/topology.js'

const topologyOf = (options: ClusterOptions) => describeTopology(resolveOptions(options))

t.test('a cluster has a config server, its shards, its mongoses and a balancer', async (t) => {
  const { shards, mongos, storage, others } = topologyOf({ shards: 11, mongos: 2 })
  t.equal(shards.length, 11)
  t.same([shards[0], shards[8], shards[9], shards[10]], ['shard01', 'shard09', 'shard10', 'shard11'])
  t.same(mongos, ['mongos01', 'mongos02'])
  t.same(
    storage.map(({ address, role }) => [address, role]),
    [['config', 'config-server'], ...shards.map((shard) => [shard, 'shard'])],
  )
  t.same(
    others.map(({ address, role }) => [address, role]),
    [
      ['mongos01', 'mongos'],
      ['mongos02', 'mongos'],
      ['balancer', 'balancer'],
    ],
  )
})

t.test('mongoses listen on consecutive ports, all others on any', async (t) => {
  const { storage, others } = topologyOf({ port: 27_017, mongos: 3, host: '0.0.0.0', insecure: true })
  for (const { listen } of storage) t.same(listen, { host: '0.0.0.0', port: 0 })
  t.same(
    others.map(({ listen }) => listen?.port),
    [27_017, 27_018, 27_019, undefined],
  )
  t.same(
    topologyOf({ mongos: 3 }).others.map(({ listen }) => listen?.port),
    [0, 0, 0, undefined],
    'port 0 stays 0 for all',
  )
})

t.test('only storage nodes have a disk', async (t) => {
  const { storage, others } = topologyOf({ diskSize: '5MB' })
  for (const { diskLimitBytes } of storage) t.equal(diskLimitBytes, 5 * 1024 ** 2)
  for (const { diskLimitBytes } of others) t.equal(diskLimitBytes, 0)
})

t.test('old profiles announce a wire version that drivers accept, unless they are native', async (t) => {
  const wireVersion = (options: ClusterOptions) =>
    (topologyOf(options).storage[1]!.options as { maxWireVersion: number }).maxWireVersion
  t.equal(wireVersion({ emulate: '4.0' }), 9)
  t.equal(wireVersion({ emulate: '4.0', nativeWire: true }), 7)
  t.equal(wireVersion({ emulate: '7.0' }), wireVersion({ emulate: '7.0', nativeWire: true }))
  t.ok(wireVersion({ emulate: '7.0' }) > 9)
})

t.test('every role gets its options', async (t) => {
  const { storage, others } = topologyOf({
    emulate: '6.0',
    shards: 1,
    findReplicaSetHostTimeoutMs: 77,
    balancerRoundIntervalMs: 88,
    nativeWire: true,
  })
  for (const { options } of storage) t.match(options, { emulate: '6.0' })
  t.match(others[0]!.options, { emulate: '6.0', findReplicaSetHostTimeoutMs: 77, nativeWire: true })
  t.same(others[1]!.options, { roundIntervalMs: 88, emulate: '6.0' })
  for (const spec of [...storage, ...others])
    t.same(structuredClone(spec), spec, `${spec.address} can cross to a worker`)
})
