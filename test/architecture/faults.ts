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
    'A fault breaks a part of a cluster on purpose. The same fault can be a text (`crash shard02 for 5s`)',
    "or data (`{ verb: 'crash', target: 'shard02', for: '5s' }`), in `cluster.faults.apply`, in",
    "`shardlab fault`, in scenario files and in the command `{ shardlab: 'apply', fault: … }` on `admin`.",
    'The guide [Break a shard](../guides/break-a-shard.md) shows the effect of each on clients.',
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
    'M      = a member: shard01, config, mongos01 or mongos1, balancer',
    'E      = a member, or clients, shards, routers, members (all members), everybody (members and clients)',
    'TIME   = 500ms, 5s, 10m, 2h, 1d; at most 100 years',
    'RATE   = 64KB/s, 10MB/s',
    'STEP   = a named step, such as shard.migration.committing',
    'KIND   = a kind of message between members, such as config.commit-chunk-migration; client.command: messages of clients',
    '```',
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
    '## Rules',
    '',
    '- A fault lasts until it is healed, or for the time given by `for`. `heal` without an id heals all',
    '  faults. `restart` and `resume` are over at once and take no `for`.',
    '- A crash, a stop or a destroyed disk ends when the member is started, by `cluster.restart` or by',
    '  another fault. A pause, a step-down and frozen routes belong to a process: they end with it.',
    '- When several faults have the same effect on a member, the effect lasts until the last of them',
    '  is healed.',
    '- Groups such as `shards` include members that are added later.',
    '- An end that is left out means `everybody`.',
    "- A probability is drawn from the cluster's seed, or from `seed`. `first` is one count for all links",
    '  and members of the fault.',
    '- Requests of the API to members are not subject to faults of links.',
    '- A fault that names a member, link or step that does not exist is an error and breaks nothing.',
    '',
  ]
  return lines.join('\n')
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
