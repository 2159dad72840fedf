import { OptionError, resolveOptions } from '@shardlab/cluster'
import t from 'tap'
import { parseTopologyFile, readTopologyFile } from '../src/topology/topology-file.js'

t.test('a topology file becomes options of the API', async (t) => {
  const text = `
shards: 2
members: 3
sets:
  config: 3
  shard01:
    - priority: 2
      tags: { dc: east }
    -
    - { priority: 0, hidden: true, secondaryDelay: 1h }
`
  const options = parseTopologyFile(text, 'a.yaml')
  t.same(options, {
    shards: 2,
    members: 3,
    sets: {
      config: 3,
      shard01: [{ priority: 2, tags: { dc: 'east' } }, {}, { priority: 0, hidden: true, secondaryDelaySecs: 3600 }],
    },
  })
  t.doesNotThrow(() => resolveOptions(options))
  t.same(parseTopologyFile('topology: replica-set\nmembers: [{}, { arbiterOnly: true }, {}]', 'a.yaml'), {
    topology: 'replica-set',
    members: [{}, { arbiterOnly: true }, {}],
  })
})

const wrong: readonly (readonly [text: string, message: string])[] = [
  ['shard: 2', 'a.yaml:1: shard: there is no such setting; did you mean shards?'],
  [
    'topology: replicaset',
    'a.yaml:1: topology: must be one of sharded, replica-set, standalone; did you mean replica-set?',
  ],
  ['shards: two', 'a.yaml:1: shards: must be a whole number from 0 to 1000'],
  [
    'members: 8',
    'a.yaml:1: members: must be a whole number from 1 to 7, or a list of members such as [{ priority: 2 }, {}, {}]',
  ],
  [
    'members:\n  - {}\n  - prioritty: 2',
    'a.yaml:3: members.1.prioritty: there is no such setting; did you mean priority?',
  ],
  ['members:\n  - {}\n  - hidden: true', 'a.yaml:3: members.1.priority: must be 0, because the member is hidden'],
  ['members: [{ secondaryDelay: 10 }]', 'a.yaml:1: members.0.secondaryDelay: must have a unit, such as 10ms or 10s'],
  [
    'members: [{ priority: 0, secondaryDelay: 500ms }, {}]',
    'a.yaml:1: members.0.secondaryDelay: must be a whole number of seconds, such as 30s',
  ],
  [
    'sets:\n  config:\n    - {}\n    - arbiterOnly: true',
    'a.yaml:4: sets.config.1.arbiterOnly: must be false: a config server has no arbiters',
  ],
  ['members: [{ arbiterOnly: true }]', 'a.yaml:1: members: must have a member with data and a priority above 0'],
  [
    'members: [{}, { tags: { rack: 1 } }]',
    'a.yaml:1: members.1.tags.rack: must be a text, in quotes if it is a number',
  ],
  ['- 1', 'a.yaml:1: the topology: must be settings with their values, as in "name: orders"'],
]

for (const [text, message] of wrong)
  t.test(`a topology file is refused: ${message}`, async (t) => {
    t.throws(() => parseTopologyFile(text, 'a.yaml'), new OptionError(message))
  })

t.test('a file that cannot be read is refused with its path', async (t) => {
  await t.rejects(readTopologyFile('/nonexistent.yaml'), {
    message: 'topology file /nonexistent.yaml does not exist: name a file with members or sets.',
  })
})
