/**
 * Built-in defects cannot be met by accident: each is in one place, and only simulated runtimes
 * switch them on.
 */
import { mutationNames, setMutationNames } from '@shardlab/actor'
import { ShardedCluster } from '@shardlab/cluster'
import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findMisplacedMutations } from './rules/mutations.js'
import { expectNoFindings, messagesOf } from './support.js'

t.test('canary: mutations that are not listed, not checked, or checked twice', (t) => {
  const repository = new Repository({
    'packages/shard/src/a.ts': "if (context.mutated('oneOff')) return\n",
    'packages/shard/src/b.ts': "new Filter(context.mutated('oneOff'), context.mutated('twoOff'))\n",
  })
  t.strictSame(messagesOf(findMisplacedMutations(repository, ['oneOff', 'threeOff'])), [
    'the mutation oneOff is already checked in packages/shard/src/a.ts',
    'the mutation twoOff is not in packages/actor/src/faults/mutations.ts',
    'no code checks the mutation threeOff',
  ])
  t.end()
})

t.test('each mutation is checked in one place', (t) => {
  expectNoFindings(t, findMisplacedMutations(readRepository(), [...mutationNames, ...setMutationNames]), 'mutations')
  t.end()
})

t.test('a cluster that serves clients refuses mutations', async (t) => {
  const options = { runtime: 'inline', mutations: ['retryDedupeOff'] } as const
  await t.rejects(ShardedCluster.start(options), { message: /^mutations is not an option of a cluster;/ })
})
