/**
 * One suite of an application, for five test runners: every test writes the same keys, and makes
 * two broadcasts.
 */

/** Short runs leave out Jest, Vitest and tap, which take longest. */
export const isLong = process.env['SHARDLAB_LONG'] === '1'

export const filesOfSuite = isLong ? 4 : 2
export const testsOfFile = isLong ? 50 : 10

export const application = `exports.total = (orders) => orders.countDocuments()
exports.byEmail = (orders, email) => orders.find({ email }).toArray()
`

/** Lines of the application with a broadcast. */
export const broadcasts = [
  ['app.cjs:1', []],
  ['app.cjs:2', ['email']],
] as const

const options = `{
  shards: 2,
  report: new BroadcastReport({ driver: MongoClient, folder: 'broadcasts' }),
  async fill({ uri }) {
    require('node:fs').appendFileSync('fills.txt', process.env.RUNNER + '\\n')
    const client = await MongoClient.connect(uri, driver)
    await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
    await client.db('shop').collection('orders').insertMany([{ _id: 1, customer: 'ada' }, { _id: 2, customer: 'bob' }])
    await client.close()
  },
}`

const load = `
const { MongoClient } = require('mongodb')
const { BroadcastReport, useCluster } = require('@shardlab/testing')
const app = require('../app.cjs')
const driver = { runtimeAdapters: { os: require('node:os') } }`

const body = `async () => {
    const client = await MongoClient.connect(shop.uri, driver)
    const orders = client.db('shop').collection('orders')
    await orders.insertMany([{ _id: 3, customer: 'ada' }, { _id: 4, customer: 'eve' }])
    await orders.deleteOne({ _id: 1, customer: 'ada' })
    const count = await app.total(orders)
    await app.byEmail(orders, 'ada@example.com')
    await client.close()
    if (count !== 3) throw new Error('another test has written: ' + count)
  }`

const esm = `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)`

const tests = (test: string): string =>
  `for (let i = 1; i <= ${testsOfFile}; i++) ${test}('writes the same keys, ' + i, ${body})`

export interface RunnerSuite {
  /** The package that must be installed; null: part of Node.js. */
  readonly needs: string | null
  readonly file: (number: number) => string
  readonly text: string
  /** Arguments of Node.js; `folder`: that of the needed package. */
  readonly command: (folder: string) => readonly string[]
}

const numbers = Array.from({ length: filesOfSuite }, (_, i) => i + 1)

export const suites: Readonly<Record<string, RunnerSuite>> = {
  'node:test': {
    needs: null,
    file: (number) => `node-test/shop${number}.test.mjs`,
    text: `import * as runner from 'node:test'\n${esm}${load}\nconst shop = useCluster(runner, ${options})\n${tests('runner.test')}\n`,
    command: () => ['--test', ...numbers.map((number) => `node-test/shop${number}.test.mjs`)],
  },
  vitest: {
    needs: 'vitest',
    file: (number) => `vitest/shop${number}.test.mjs`,
    text: `import * as runner from 'vitest'\n${esm}${load}\nconst shop = useCluster(runner, ${options})\n${tests('runner.test')}\n`,
    command: (folder) => [`${folder}/vitest.mjs`, 'run', '--dir', 'vitest'],
  },
  jest: {
    needs: 'jest',
    file: (number) => `jest/shop${number}.test.cjs`,
    text: `${load}\nconst shop = useCluster(globalThis, ${options})\n${tests('test')}\n`,
    command: (folder) => [`${folder}/bin/jest.js`, '--rootDir', 'jest', '--testMatch', '**/*.test.cjs'],
  },
  mocha: {
    needs: 'mocha',
    file: (number) => `mocha/shop${number}.cjs`,
    text: `${load}\nconst shop = useCluster(globalThis, ${options})\n${tests('it')}\n`,
    command: (folder) => [`${folder}/bin/mocha.js`, '--parallel', '--jobs', '2', 'mocha/*.cjs'],
  },
  tap: {
    needs: 'tap',
    file: (number) => `tap/shop${number}.test.mjs`,
    text: `import t from 'tap'\n${esm}${load}\nconst shop = useCluster(t, ${options})\n${tests('t.test')}\n`,
    command: (folder) => [
      `${folder}/../@tapjs/run/dist/esm/index.js`,
      ...['--disable-coverage', '--allow-empty-coverage', '--jobs=2'],
      ...numbers.map((number) => `tap/shop${number}.test.mjs`),
    ],
  },
}
