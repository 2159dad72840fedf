import { faultReference, parseFaultText } from '@shardlab/cluster'

/** docs/reference/faults.md, from the table of verbs: the grammar, and what each verb does. */
export function faultsPage(notice: string): string {
  const { forms, filters, verbs } = faultReference
  const scopes = [...new Set(filters.map(({ of }) => of))]
  const lines = [
    notice,
    '',
    '# Faults',
    '',
    'A fault breaks a part of a cluster on purpose. Write it as text (`crash shard02 for 5s`) or as data',
    "(`{ verb: 'crash', target: 'shard02', for: '5s' }`). `cluster.faults.apply`, `shardlab fault`,",
    "scenario files and the command `{ shardlab: 'apply', fault: … }` on `admin` accept both. [Break a",
    'shard](../guides/break-a-shard.md) shows the effect of faults on clients.',
    '',
    '## Verbs',
    '',
    '| text | data | what happens | when it is healed |',
    '| --- | --- | --- | --- |',
    ...verbs.map(({ verb, effect, healing }) => {
      const examples = forms.filter((form) => form.verb === verb).map(({ example }) => shortest(example))
      const cells = [examples.map(code).join(', '), code(dataText(examples[0]!)), effect, healing]
      return `| ${cells.join(' | ')} |`
    }),
    '',
    '## Grammar',
    '',
    '```',
    'fault  = [ "at" TIME ] form { filter }',
    '',
    ...forms.map(({ grammar }, i) => `${i === 0 ? 'form   =' : '       |'} ${grammar}`),
    '',
    'link   = between E and E | from E to E',
    '',
    ...scopes.flatMap((scope, s) =>
      filters
        .filter(({ of }) => of === scope)
        .map(({ grammar }, i) => `${s + i === 0 ? 'filter =' : '       |'} ${grammar.padEnd(24)}(${scope})`),
    ),
    '',
    'M      = NAME | the primary of SET | a secondary of SET | the secondaries of SET',
    'E      = M, or clients, shards, routers, members (all members), everybody (members and clients)',
    'NAME   = a member: shard01, shard01-2, config, mongos01 or mongos1, balancer; or a SET',
    'SET    = a replica set: shard01, config, rs0',
    'TIME   = 500ms, 5s, 10m, 2h, 1d; at most 100 years',
    'SIZE   = 100KB, 16MB',
    'RATE   = 64KB/s, 10MB/s',
    'STEP   = a named step, such as shard.migration.committing',
    'KIND   = a kind of message between members, such as config.commit-chunk-migration; client.command: messages of clients',
    '```',
    '',
    '## Replica sets',
    '',
    'Members of a set are chosen when the fault begins, by the states that they report, and the choice',
    'stays until the fault ends: `crash the primary of shard02 after 10s for 5s` crashes the member that',
    'is primary in ten seconds. The event `fault-applied` and the list of faults show the chosen members.',
    '',
    '- `the primary of` means the member in state PRIMARY. If there are two, after a partition, it means',
    '  the one with the later term. `a secondary of` means the first member by name in state SECONDARY,',
    '  `the secondaries of` all members in this state.',
    '- If no member is in the state, as during an election, the fault waits for at most',
    '  `findReplicaSetHostTimeoutMs` (15 s), and then fails. While it waits its state is `waiting`, and',
    '  it can be healed.',
    '- The only member of a set is its primary, in any state. Such a set has no secondaries.',
    `- The name of a set means all of its members that run; with ${ofPrimary().join(' and ')}, its primary.`,
    '  `resume` means its paused members. A fault at a step affects the members that reach the step.',
    '- A fault of links to a set affects the links to all of its members, but not the links between',
    '  them, unless both ends name members of the set. `partition shard02` separates the set from',
    '  everybody else, `partition the primary of shard02 from shard02` the primary from the other',
    '  members, and `partition shard02 from shard02` all members from each other.',
    '- A fault on several members ends for each member separately, and is over with the last one.',
    '',
    '## Rules',
    '',
    '- A fault lasts until it is healed, or for the time given by `for`. `heal` without an id heals all',
    '  faults. `restart` and `resume` end at once and take no `for`.',
    '- A crash, a stop or a destroyed disk ends when the member starts, by `cluster.restart` or by',
    '  another fault. A pause, a step-down, frozen routes, delayed replication and a small oplog end',
    '  when the process of the member ends.',
    '- If several faults have the same effect on a member, the effect lasts until the last fault is',
    '  healed. The longest delay and the smallest oplog apply.',
    '- Groups such as `shards` include members that are added later.',
    '- A missing end of a link means `everybody`.',
    "- A probability is drawn from the cluster's seed, or from `seed`. `first` is one count for all links",
    '  and members of the fault.',
    '- Requests of the API to members are not subject to faults of links.',
    '- A fault that names an unknown member, link or step is refused.',
    '',
  ]
  return lines.join('\n')
}

/** Verbs that, with the name of a set, mean its primary. */
function ofPrimary(): string[] {
  const { forms, verbs } = faultReference
  return verbs
    .filter(({ ofSet }) => ofSet === 'primary')
    .map(({ verb }) => code(shortest(forms.find((form) => form.verb === verb)!.example)))
}

/** An example without its optional parts. */
function shortest(example: string): string {
  return example.replaceAll(/ ?\[.*?\]/g, '')
}

function dataText(text: string): string {
  return JSON.stringify(parseFaultText(text))
    .replaceAll(/"(\w+)":/g, ' $1: ')
    .replaceAll('"', "'")
    .replaceAll('}', ' }')
}

function code(text: string): string {
  return `\`${text}\``
}
