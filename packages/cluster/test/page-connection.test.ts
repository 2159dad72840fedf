import type { Runtime } from '@shardlab/runtime'
import t from 'tap'
import { PageConnection } from '../src/live/page-connection.js'
import { lazyRoles } from '../src/roles.js'

t.test('only members with clients learn that a page has ended', async (t) => {
  const told: string[] = []
  const runtime = {
    members: () => Object.keys(lazyRoles).map((role) => ({ address: role, role, state: 'running' })),
    request: async (to: string) => {
      told.push(to)
      return {}
    },
  }
  new PageConnection(runtime as unknown as Runtime, {} as never).end()
  t.same(told.sort(), ['config-server', 'mongod', 'mongos', 'shard'])
})
