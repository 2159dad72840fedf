/** Every step at which members can be interrupted is listed by its name. */
import { namedSteps } from '@shardlab/actor'
import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findUnlistedSteps } from './rules/named-steps.js'
import { expectNoFindings, messagesOf } from './support.js'

t.test('canary: steps that are not listed, not passed, or out of order', (t) => {
  const repository = new Repository({
    'packages/shard/src/a.ts':
      "await context.reach('shard.a.one', { ns })\nawait this.#reach(done ? 'shard.a.two' : 'shard.a.three')\n",
  })
  t.strictSame(messagesOf(findUnlistedSteps(repository, ['shard.a.one', 'shard.a.three', 'shard.a.two'])), [])
  t.match(messagesOf(findUnlistedSteps(repository, ['shard.a.two', 'shard.a.one', 'shard.b.gone'])), [
    'the step shard.a.three is not in packages/actor/src/faults/named-steps.ts',
    'no member passes the step shard.b.gone',
    'the steps are not in alphabetical order',
  ])
  t.end()
})

t.test('the list of named steps is complete', (t) => {
  expectNoFindings(t, findUnlistedSteps(readRepository(), namedSteps), 'named steps')
  t.end()
})
