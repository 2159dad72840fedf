import { SimulationFailedError } from '@shardlab/cluster'
import t from 'tap'
import { StaleMembers } from '../src/swarm/sets/stale-members.js'
import { Verdicts } from '../src/swarm/verdicts.js'
import type { SwarmWorld } from '../src/swarm/world.js'

/** A world in which the set of two stale members cannot be helped. */
function worldWith(error: Error): SwarmWorld {
  const members = ['shard01-1', 'shard01-2']
  const world = {
    cluster: { advance: () => Promise.reject(error) },
    sets: {
      setOf: () => 'shard01',
      membersOf: () => members,
      viewsOf: () => Promise.resolve(members.map((address) => ({ address, state: 'RECOVERING' }))),
    },
    verdicts: new Verdicts(() => {}),
    applyFault: () => Promise.resolve(true),
  }
  return world as unknown as SwarmWorld
}

t.test('help that ends with its run leaves no rejection for the next run of the thread', async (t) => {
  const failed = worldWith(new SimulationFailedError(1, 'shard01-1', 0, new Error('a defect')))
  await new StaleMembers(failed).help('shard01-1')
  t.same(failed.verdicts.violations, [], 'the run reports the failure')
  const broken = worldWith(new Error('a defect of the swarm'))
  await new StaleMembers(broken).help('shard01-1')
  t.match(broken.verdicts.violations, [{ checker: 'invariants', sentence: /got no help: a defect of the swarm$/ }])
})
