import t from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MongoClient, type Collection } from 'mongodb'
import { BroadcastReport, htmlOf, mergeRows, template, textOf, type BroadcastRow } from '../src/index.js'
import { equalityFields } from '../src/broadcasts/equality-fields.js'

/** Each line has one operation; the numbers of the lines are expected below. */
const application = `export const byEmail = (orders, email) => orders.find({ email }).toArray()
export async function renew(orders, email) {
  await orders.updateMany({ email, open: true }, { $set: { renewed: true } })
}
export const statistics = (orders) => orders.aggregate([{ $group: { _id: '$email', n: { $sum: 1 } } }])
export const byCustomer = (orders, customer) => orders.findOne({ customer })
export const both = (orders) => Promise.all([
  orders.countDocuments({ email: 'a', state: 'open' }),
  orders.find({ state: 'open' }).toArray(),
])
`

interface Application {
  byEmail(orders: Collection, email: string): Promise<unknown>
  renew(orders: Collection, email: string): Promise<void>
  statistics(orders: Collection): { toArray(): Promise<unknown> }
  byCustomer(orders: Collection, customer: string): Promise<unknown>
  both(orders: Collection): Promise<unknown>
}

const program = fileURLToPath(new URL('../../bin/shardlab-broadcasts.js', import.meta.url))

async function fill({ uri }: { readonly uri: string }): Promise<void> {
  const client = await MongoClient.connect(uri)
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
  await client.close()
}

t.test('wrong options and arguments are refused with one sentence', (t) => {
  const wrong: [options: unknown, message: string][] = [
    [undefined, 'driver must be the class MongoClient of the driver: new BroadcastReport({ driver: MongoClient }).'],
    [
      { driver: class {} },
      'driver must be the class MongoClient of the driver: new BroadcastReport({ driver: MongoClient }).',
    ],
    [
      { driver: MongoClient, folders: 'x' },
      'BroadcastReport has no option folders; its options are driver, folder, maxBroadcasts.',
    ],
    [{ driver: MongoClient, folder: '' }, 'folder must be the name of a folder, such as broadcasts.'],
    [{ driver: MongoClient, maxBroadcasts: 'x' }, 'maxBroadcasts is "x"; it must be a whole number from 0.'],
  ]
  for (const [options, message] of wrong) t.throws(() => new BroadcastReport(options as never), { message })
  const lines: [args: string[], line: string][] = [
    [[], 'name one folder, that of BroadcastReport'],
    [['broadcasts', '--max', 'abc'], '--max is abc; it must be a whole number from 0'],
    [['/nonexistent'], 'folder /nonexistent does not exist: run the tests with a BroadcastReport first'],
  ]
  for (const [args, line] of lines) {
    const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
    t.same([status, stderr], [2, `shardlab-broadcasts: ${line} (--help lists the options).\n`])
  }
  t.end()
})

t.test('the report names lines, counts and keys, in a file for each process', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'shardlab-broadcasts-')))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'orders.mjs')
  writeFileSync(file, application)
  const app = (await import(pathToFileURL(file).href)) as Application
  const parts = join(folder, 'parts')
  const report = new BroadcastReport({ driver: MongoClient, folder: parts, maxBroadcasts: 6 })
  await using cluster = await (await template({ shards: 2, fill })).fork()
  report.follow(cluster)
  // Ends before the cluster, whose servers its driver would look for.
  await using client = await MongoClient.connect(cluster.uri)
  const orders = client.db('shop').collection('orders')
  await app.byEmail(orders, 'ada@example.com')
  await app.byEmail(orders, 'bob@example.com')
  await app.renew(orders, 'ada@example.com')
  await app.byCustomer(orders, 'ada')
  const cursor = app.statistics(orders)
  await cursor.toArray()
  report.check()
  await app.both(orders)

  const at = (line: number): string => `${relative(process.cwd(), file)}:${line}`
  const shared = { ns: 'shop.orders', shards: 2, shardKey: '{"customer":"hashed"}' }
  const expected: BroadcastRow[] = [
    { place: at(1), command: 'find', count: 2, fields: ['email'], ...shared },
    { place: at(3), command: 'update', count: 1, fields: ['email', 'open'], ...shared },
    { place: at(5), command: 'aggregate', count: 1, fields: [], ...shared },
    { place: at(8), command: 'aggregate', count: 1, fields: ['email', 'state'], ...shared },
    { place: at(9), command: 'find', count: 1, fields: ['state'], ...shared },
  ]
  t.same(report.rows, expected)
  t.doesNotThrow(() => report.check())
  await app.byEmail(orders, 'eve@example.com')
  t.throws(() => report.check(), /^7 broadcasts, more than maxBroadcasts 6:\n/)

  report.write()
  new BroadcastReport({ driver: MongoClient, folder: parts }).write()
  const page = join(folder, 'page.html')
  const run = (...args: string[]) => spawnSync(process.execPath, [program, parts, ...args], { encoding: 'utf8' })
  const printed = run('--max', '6', '--html', page)
  t.equal(printed.status, 1)
  t.equal(printed.stderr, '7 broadcasts, more than --max 6.\n')
  t.match(
    printed.stdout,
    `${at(1)}\n  find on shop.orders: 3 times to 2 shards; the shard key is {"customer":"hashed"}\n`,
  )
  t.match(printed.stdout, 'A shard key that begins with email or open would target it.')
  t.match(readFileSync(page, 'utf8'), `<td>${at(5)}</td><td>aggregate</td>`)
  t.equal(run('--max', '7').status, 0)
  t.same((JSON.parse(run('--json').stdout) as BroadcastRow[])[0]!.count, 3)
  t.equal(spawnSync(process.execPath, [program]).status, 2)
})

t.test('parts of processes are added, and a field must be in all of them', (t) => {
  const row = { place: 'a.js:1', ns: 'a.b', command: 'find', count: 1, shards: 2, shardKey: '{"k":1}' }
  const merged = mergeRows([
    [{ ...row, fields: ['a', 'b'] }],
    [{ ...row, count: 4, shards: 3, fields: ['b'] }],
    [{ ...row, place: 'b.js:1', fields: [] }],
  ])
  t.same(merged, [
    { ...row, count: 5, shards: 3, fields: ['b'] },
    { ...row, place: 'b.js:1', fields: [] },
  ])
  t.equal(textOf([]), 'No operation was a broadcast.\n')
  t.match(htmlOf([{ ...row, place: '<a>', fields: [] }]), '<td>&lt;a&gt;</td>')
  t.end()
})

t.test('fields with one value, or a list, in every filter of a command', (t) => {
  const cases: [command: Record<string, unknown>, fields: string[]][] = [
    [{ find: 'c', filter: { a: 1, b: { $gt: 1 }, c: { $in: [1] }, d: /x/, e: { f: 1 } } }, ['a', 'c', 'e']],
    [{ find: 'c', filter: { $and: [{ a: 1 }, { b: { $eq: 2 } }], $or: [{ c: 1 }] } }, ['a', 'b']],
    [{ find: 'c' }, []],
    [{ update: 'c', updates: [{ q: { a: 1, b: 1 } }, { q: { b: 2 } }] }, ['b']],
    [{ delete: 'c', deletes: [{ q: { a: 1 } }] }, ['a']],
    [{ aggregate: 'c', pipeline: [{ $match: { a: 1 } }, { $group: {} }] }, ['a']],
    [{ aggregate: 'c', pipeline: [{ $group: {} }] }, []],
    [{ count: 'c', query: { a: 1 } }, ['a']],
  ]
  for (const [command, fields] of cases) t.same(equalityFields(command), fields, JSON.stringify(command))
  t.end()
})
