/** Runs the code of docs/guides/unique-fields.md and the command line at its end. */
import { readFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import t from 'tap'
import { uniqueCollection } from '@shardlab/unique'
import { TestClusters } from '../support/clusters.js'
import { shardlab } from '../support/up.js'

const clusters = new TestClusters()
t.teardown(() => clusters.stop())

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<unknown>

t.test("the guide's code prints what the guide shows", async (t) => {
  const { client } = await clusters.at('7.0')
  const text = await readFile(new URL('../../../docs/guides/unique-fields.md', import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/^```js\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?/gms)]
  t.equal(blocks.length, 15)
  const scope: Record<string, unknown> = { client, uniqueCollection }
  for (const [, code = '', output] of blocks) {
    // Statements share their constants; the guide shows the last statement's value below the block.
    const shared = code.replace(/^const (\w+) = /gm, 'scope.$1 = ').trimEnd()
    // Statements may have several lines; their first line is not indented.
    const last = [...shared.matchAll(/^[^\s})\]]/gm)].at(-1)!.index
    const run = new AsyncFunction('scope', `with (scope) { ${shared.slice(0, last)}\nreturn ${shared.slice(last)} }`)
    const value = await run(scope).then(
      (result) => inspect(result, { depth: 5 }),
      (error: Error) => `${error.name}: ${error.message}`,
    )
    if (output !== undefined) t.equal(value, output.trimEnd(), code)
  }
})

t.test("the guide's command line prints what the guide shows", async (t) => {
  const { client, cluster } = await clusters.at('7.0')
  const main = client.db('cli').collection<any>('information')
  await main.insertMany([
    { _id: 1, email: 'a' },
    { _id: 2, email: 'b' },
  ])
  const unique = (action: string, ...args: string[]) =>
    shardlab('unique', action, '--uri', cluster.uri, '--ns', 'cli.information', '--field', 'email', '--json', ...args)
  const report = async (action: string): Promise<unknown> => {
    const { code, stdout, stderr } = await unique(action)
    t.equal(stderr, '', 'no bar where there is no terminal')
    return { code, ...JSON.parse(stdout) }
  }
  const early = await unique('verify')
  t.same([early.code, early.stdout], [2, ''])
  t.equal(
    early.stderr,
    'shardlab: the proxy collection cli.information.unique.email does not exist: run init to create it.\n',
  )
  t.same(await client.db('cli').listCollections({}, { nameOnly: true }).toArray(), [
    { name: 'information', type: 'collection' },
  ])
  t.same(await report('init'), { code: 0, ok: true, enforcing: false, next: 'run backfill()', findings: [] })
  t.match(await report('verify'), {
    code: 1,
    ok: false,
    documents: 2,
    reservations: 0,
    findings: [{ kind: 'unreserved' }, { kind: 'unreserved' }],
  })
  t.same(await report('backfill'), {
    code: 0,
    ok: true,
    documents: 2,
    reserved: 2,
    already: 0,
    changed: 0,
    waiting: 0,
    waitingUntil: null,
    enforcing: true,
    next: null,
    findings: [],
  })
  await main.insertOne({ _id: 3, email: 'a' })
  t.same(await report('repair'), {
    code: 1,
    ok: false,
    mended: 0,
    waiting: 0,
    waitingUntil: null,
    enforcing: false,
    next: 'of the documents that share a value, change or delete all but one, then run backfill()',
    findings: [{ kind: 'duplicate', owner: 3, field: 'email', value: 'a', holder: 1 }],
  })
  const normalized = client.db('cli').collection<any>('normalized')
  await uniqueCollection(normalized, {
    unique: [{ fields: 'email', normalize: (email) => email.toLowerCase() }],
  }).init()
  const wrong: [string[], RegExp][] = [
    [
      ['unique', 'repair', '--uri', cluster.uri, '--ns', 'cli.normalized', '--field', 'email'],
      /^shardlab: values of email are reserved after normalize, but the options have none: use the same options/,
    ],
    [
      ['unique', 'flap', '--uri', 'x', '--ns', 'a.b', '--field', 'c'],
      /'flap' is invalid for argument 'action': allowed choices are init/,
    ],
    [
      ['unique', 'init', '--uri', 'nowhere', '--ns', 'a.b', '--field', 'c'],
      /cannot connect to nowhere \(.+\): start a server there, or correct the URI/,
    ],
    [
      ['unique', 'init', '--uri', cluster.uri.replace('//', '//ada:se:cr%40et@'), '--ns', 'a.b', '--field', 'c'],
      /cannot connect to mongodb:\/\/ada:\*\*\*@127\.0\.0\.1:\d+\//,
    ],
    [
      [
        'unique',
        'init',
        '--uri',
        cluster.uri,
        '--ns',
        'cli.information',
        '--field',
        'email',
        '--proxies',
        'unsharded',
        '--proxy',
        'information.unique.email',
      ],
      /is sharded by/,
    ],
    [
      ['unique', 'init', '--uri', cluster.uri, '--ns', 'cli.information', '--field', 'email', '--proxy', 'information'],
      /information cannot be its own proxy collection/,
    ],
  ]
  for (const [args, expected] of wrong) {
    const { code, stdout, stderr } = await shardlab(...args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, expected)
    t.equal(stderr.trim().split('\n').length, 1, 'one sentence')
    t.equal(stdout, '')
  }
})
