import t from 'tap'
import { loadCommandModules, loadSpecModules, type CommandModules, type Row } from './model/command-tables.js'
import { findRoot, readRepository, Repository } from './model/repository.js'
import { commandsSection, findStalePages, generatePages } from './pages.js'
import { findCommandsOutsideTables } from './rules/command-rows.js'
import { findRowsWithoutSpec } from './rules/command-specs.js'
import { expectNoFindings, messagesOf } from './support.js'

const rowOf = (name: string, more: Partial<Row> = {}): Row & { run: () => void } => ({
  name,
  routing: 'local',
  access: 'none',
  privileges: 'none',
  manual: `reference/command/${name}`,
  status: 'full',
  summary: `Does what ${name} does.`,
  run() {},
  ...more,
})

const modulesOf = (
  folder: string,
  rows: readonly Row[],
  files: Readonly<Record<string, readonly Row[]>>,
): CommandModules => ({
  folder,
  entry: { path: `packages/${folder}/src/index.ts`, exports: { table: { rows } } },
  rowFiles: Object.entries(files).map(([name, exported]) => ({
    path: `packages/${folder}/src/commands/${name}.ts`,
    exports: Object.fromEntries(exported.map((row) => [row.name, row])),
  })),
})

t.test('canary: rows without a file, files without a row, rows without required texts', (t) => {
  const [ping, find, count] = [rowOf('ping'), rowOf('find'), rowOf('count')]
  const partial = rowOf('partial', { status: 'partial' })
  const boastful = rowOf('boastful', { deviations: ['D1'] })
  const wordless = rowOf('wordless', { summary: 'hm', manual: 'somewhere' })
  const open = rowOf('open', { privileges: undefined })
  const messages = messagesOf(
    findCommandsOutsideTables([
      modulesOf('mongos', [ping, partial, boastful, wordless, open], {
        ping: [ping],
        find: [find],
        empty: [],
        three: [partial, boastful, wordless],
        count: [count],
        open: [open],
      }),
    ]),
  )
  t.strictSame(messages, [
    "the row 'find' is in no command table that mongos exports",
    'exports 0 command rows: one command, one file, one row',
    'exports 3 command rows: one command, one file, one row',
    "the row 'count' is in no command table that mongos exports",
    "the row 'partial' is partial and names nothing that is missing, that it lacks, or that deviates",
    "the row 'boastful' says that it is full and how it differs",
    "the summary of 'wordless' is no sentence",
    "the row 'wordless' names no page of the manual",
    "the row 'open' says nothing about privileges",
  ])
  t.match(messagesOf(findCommandsOutsideTables([modulesOf('mongos', [ping], {})])), [
    "the row 'ping' has no file of its own",
  ])
  t.end()
})

t.test('canary: a table may hold rows of the package below', (t) => {
  const [ping, find] = [rowOf('ping'), rowOf('find')]
  t.strictSame(
    findCommandsOutsideTables([
      modulesOf('shard', [ping, find], { find: [find] }),
      modulesOf('node', [ping], { ping: [ping] }),
    ]),
    [],
  )
  t.end()
})

t.test('every command has one file and one row', async (t) => {
  expectNoFindings(
    t,
    findCommandsOutsideTables(await loadCommandModules(readRepository(), findRoot())),
    'commands and tables agree',
  )
})

t.test('canary: rows of one command that do not come from one specification', (t) => {
  const spec = { name: 'find', access: 'none', manual: 'reference/command/find', fields: { filter: 'object' } } as const
  const specs = [
    { path: 'find.ts', exports: { findSpec: spec } },
    { path: 'ping.ts', exports: { pingSpec: { name: 'ping', access: 'none', manual: 'reference/command/ping' } } },
  ]
  const ping = rowOf('ping')
  const tables = (mongosFind: object, nodeFind: object) => [
    modulesOf('mongos', [ping, rowOf('count'), { ...rowOf('find'), ...mongosFind }], {}),
    modulesOf('node', [ping, rowOf('count'), { ...rowOf('find'), ...nodeFind }], {}),
  ]
  const own = { ...spec, access: 'read', fields: { filter: 'object', sort: 'object' } }
  t.strictSame(messagesOf(findRowsWithoutSpec(tables({ ...spec, fields: { filter: 'any' } }, own), specs)), [
    "mongos and node serve 'count', which has no file in packages/member/src/specs",
    "the row 'find' of node does not take access from the specification",
    "the row 'find' of node does not take fields from the specification",
    "'ping' is not served by both routers and nodes",
  ])
  t.end()
})

t.test('rows of routers and nodes for the same command come from one specification', async (t) => {
  const repository = readRepository()
  const root = findRoot()
  const modules = await loadCommandModules(repository, root)
  expectNoFindings(t, findRowsWithoutSpec(modules, await loadSpecModules(repository, root)), 'one specification each')
})

t.test('canary: the page lists commands with the members that serve them', (t) => {
  const section = commandsSection(
    [
      modulesOf(
        'mongos',
        [
          rowOf('find', {
            routing: 'shard-key',
            access: 'read',
            deviations: ['D2', 'D1'],
            privileges: [{ on: 'namespace', actions: ['find'] }],
          }),
        ],
        {},
      ),
      modulesOf(
        'node',
        [
          rowOf('find', { status: 'partial', missing: 'a|b', lacks: 'c', deviations: ['D1'], aliases: ['FIND'] }),
          rowOf('drop', { adminOnly: true }),
        ],
        {},
      ),
    ],
    (number) => number,
  )
  t.strictSame(section?.slice(-4), [
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    '| `drop` | Does what drop does. | any mongod | local | none, admin database only | none | full | reference/command/drop |',
    '| `find` (`FIND`) | Does what find does. | mongos, any mongod | shard-key, local | read | `find` on the collection | refuses a\\|b; **lacks** c; D1 D2 | reference/command/find |',
    '',
  ])
  t.equal(commandsSection([modulesOf('mongos', [], {})], String), null)
  t.end()
})

t.test('canary: stale, missing and foreign pages', (t) => {
  const pages = [
    { path: 'docs/reference/a.md', text: 'new' },
    { path: 'docs/reference/b.md', text: 'b' },
    { path: 'docs/reference/c.md', text: 'c' },
  ]
  const files = {
    'docs/reference/a.md': 'old',
    'docs/reference/b.md': 'b',
    'docs/reference/d.md': 'd',
    'docs/reference/README.md': 'index',
  }
  t.match(messagesOf(findStalePages(new Repository(files), pages)), [
    'is stale: run npm run generate',
    'is missing: run npm run generate',
    'is not a generated page',
  ])
  t.end()
})

t.test('docs/reference is what the code generates now', async (t) => {
  const repository = readRepository()
  expectNoFindings(t, findStalePages(repository, await generatePages(repository, findRoot())), 'no stale page')
})
