import { existsSync } from 'node:fs'
import t from 'tap'
import { codeCacheUrl, evaluateBundle } from '../src/workers/bundle.js'

t.test('workers start from the bundle and the code cache that the build made', async (t) => {
  t.ok(existsSync(codeCacheUrl), 'the build made a code cache')
  const { member, script } = evaluateBundle()
  t.equal(script.cachedDataRejected, false, 'V8 accepts it')
  t.type(member.loadRoles, 'function')
})
