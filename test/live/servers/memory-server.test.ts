/**
 * mongodb-memory-server starts `shardlab-mongod` as its binary: only an environment variable
 * differs from a project that downloads a server.
 */
import t from 'tap'
import { join } from 'node:path'
import { run } from '../../support/up.js'
import { client, missing } from '../../release/support/project.js'
import { serversFolder } from './server-process.js'

const program = `
const { MongoMemoryServer, MongoMemoryReplSet } = require('.')
const { MongoClient } = require('mongodb')
const count = Number(process.argv[1])
const auth = { enable: true, customRootName: 'root', customRootPwd: 'secret' }
const login = { auth: { username: 'root', password: 'secret' }, authSource: 'admin' }
async function useWithUsers(server) {
  const withoutUser = await MongoClient.connect(server.getUri())
  const { code } = await withoutUser.db('shop').collection('orders').insertOne({}).catch((error) => error)
  await withoutUser.close()
  return { code, ...await use(server, login) }
}
async function use(server, options = {}) {
  const client = await MongoClient.connect(server.getUri(), options)
  const orders = client.db('shop').collection('orders')
  await orders.insertOne({ total: 5 }, { writeConcern: { w: 'majority' } })
  const { setName } = await client.db('admin').command({ hello: 1 })
  const found = await orders.countDocuments()
  await client.close()
  return { setName, found, stopped: await server.stop() }
}
async function main() {
  // Together, because sets wait for an election.
  const [single, set, singleWithUsers, setWithUsers] = await Promise.all([
    MongoMemoryServer.create().then(use),
    MongoMemoryReplSet.create({ replSet: { count } }).then(use),
    MongoMemoryServer.create({ auth }).then(useWithUsers),
    MongoMemoryReplSet.create({ replSet: { count, auth } }).then(useWithUsers),
  ])
  console.log(JSON.stringify({ single, set, singleWithUsers, setWithUsers }))
}
main().catch((error) => { console.error(error); process.exit(1) })
`

for (const [version, members] of [
  ['10', 1],
  ['11', 3],
] as const) {
  t.test(
    `MongoMemoryServer and MongoMemoryReplSet ${version} with ${members} members run unchanged`,
    { timeout: 120_000 },
    async (t) => {
      const folder = client(`mongodb-memory-server${version}`)
      if (folder === null) return void t.pass('installed', { skip: missing(`mongodb-memory-server${version}`) })
      const env = { ...process.env, MONGOMS_SYSTEM_BINARY: join(serversFolder, 'mongod') }
      const { code, stdout, stderr } = await run(process.execPath, ['-e', program, String(members)], {
        cwd: folder,
        env,
      })
      t.equal(code, 0, stderr)
      t.match(JSON.parse(stdout), {
        single: { setName: undefined, found: 1, stopped: true },
        set: { setName: 'testset', found: 1, stopped: true },
        singleWithUsers: { code: 13, setName: undefined, found: 1, stopped: true },
        setWithUsers: { code: 13, setName: 'testset', found: 1, stopped: true },
      })
    },
  )
}
