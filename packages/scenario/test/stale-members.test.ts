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

interface Look {
  readonly position: string
  readonly state?: string
}

/** @param looks of the second and third member, at each time; the last one stays */
function worldOf(looks: readonly (readonly [Look, Look])[], primary = true): { world: SwarmWorld; faults: string[] } {
  const faults: string[] = []
  let looked = 0
  const viewsOf = () => {
    const now = looks[Math.min(looked, looks.length - 1)]!
    return [{ position: 'new', state: primary ? 'PRIMARY' : 'SECONDARY' }, ...now].map((look, i) => ({
      address: `shard01-${i + 1}`,
      set: 'shard01',
      state: look.state ?? 'SECONDARY',
      isWritable: i === 0 && primary,
      lastApplied: look.position,
    }))
  }
  const world = {
    cluster: {
      now: () => looked * 5000,
      advance: () => Promise.resolve(void looked++),
    },
    sets: {
      names: ['shard01'],
      membersOf: () => ['shard01-1', 'shard01-2', 'shard01-3'],
      viewsOf: () => Promise.resolve(viewsOf()),
    },
    applyFault: (fault: string) => Promise.resolve(void faults.push(`${looked++}: ${fault}`)),
  }
  return { world: world as unknown as SwarmWorld, faults }
}

async function faultsOfHelp(...args: Parameters<typeof worldOf>): Promise<string[]> {
  const { world, faults } = worldOf(...args)
  const members = new StaleMembers(world)
  members.failedToRollBack('shard01-2')
  members.failedToRollBack('shard01-3')
  await members.helpAll()
  return faults
}

t.test('members that have diverged copy their data again one after the other, if they do not sync', async (t) => {
  const [old, synced, copying] = [{ position: 'old' }, { position: 'new' }, { position: 'none', state: 'STARTUP2' }]
  t.same(await faultsOfHelp([[synced, synced]]), [])
  t.same(
    await faultsOfHelp([
      [old, old],
      [{ position: 'newer' }, synced],
    ]),
    [],
    'the first one syncs again',
  )
  t.same(
    await faultsOfHelp([
      [old, old],
      [old, old],
      [copying, old],
      [copying, old],
      [synced, old],
    ]),
    ['1: destroy shard01-2 for 1s', '5: destroy shard01-3 for 1s'],
  )
  t.same(await faultsOfHelp([[old, old]], false), [], 'the set has no primary')
})

t.test('help that ends with its run leaves no rejection for the next run of the thread', async (t) => {
  const failed = worldWith(new SimulationFailedError(1, 'shard01-1', 0, new Error('a defect')))
  await new StaleMembers(failed).help('shard01-1')
  t.same(failed.verdicts.violations, [], 'the run reports the failure')
  const broken = worldWith(new Error('a defect of the swarm'))
  await new StaleMembers(broken).help('shard01-1')
  t.match(broken.verdicts.violations, [{ checker: 'invariants', sentence: /got no help: a defect of the swarm$/ }])
})
