import t from 'tap'
import { createNatsRuntime, Machine } from '../src/nats/index.js'
import { liveSuite } from './support/live-suite.js'
import { MemoryBroker } from './support/memory-broker.js'
import { replicaSetSuite } from './support/replica-set-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'
import { toyLoaders } from './support/toy-roles.js'

const broker = new MemoryBroker()
const machines = await Promise.all(
  ['m1', 'm2'].map((name) => Machine.open({ broker: broker.connect(), name, roles: toyLoaders, version: '1' })),
)
t.teardown(() => {
  for (const machine of machines) machine.close()
})

let clusters = 0
const world = {
  name: 'nats',
  create: () =>
    createNatsRuntime({
      broker: broker.connect(),
      cluster: `c${++clusters}`,
      machines: ['m1', 'm2'],
      version: '1',
      seed: 1,
    }),
}

runtimeSuite(world)
replicaSetSuite(world)
liveSuite(world)
