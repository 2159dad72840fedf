/** Who can open a dashboard: users, other processes, pages of other sites. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'
import { findRoot } from '../architecture/model/repository.js'
import { run } from '../support/up.js'
import { accessible, onPage, options } from './support/dashboard-page.js'

/** Creates a user of admin. @returns a URI with the user */
async function withUser(uri: string, role: string, by = uri): Promise<string> {
  const client = await MongoClient.connect(by)
  await client.db('admin').command({ createUser: role, pwd: 'a:secret', roles: [role] })
  await client.close()
  return uri.replace('//', `//${role}:a%3Asecret@`)
}

t.test('with access control a page shows nothing before a login', options, async (t) => {
  const cluster = await ShardedCluster.start({ ...{ shards: 1, runtime: 'inline', auth: true, dashboard: true } })
  t.teardown(() => cluster.stop())
  const rootUri = await withUser(cluster.uri, 'root')
  await withUser(cluster.uri, 'clusterAdmin', rootUri)
  await onPage(t, cluster.dashboard!, async (page) => {
    const logIn = async (user: string, password: string): Promise<void> => {
      await page.locator('input[name=user]').fill(user)
      await page.locator('input[name=password]').fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
    }
    await accessible(t, page, 'the login')
    await logIn('root', 'wrong')
    await page.locator('.notice.bad', { hasText: 'Authentication failed.' }).waitFor()
    t.equal(await page.locator('[data-member]').count(), 0)
    await logIn('clusterAdmin', 'a:secret')
    await page.locator('.notice.bad', { hasText: 'the user may not control the cluster' }).waitFor()
    await logIn('root', 'a:secret')
    await page.getByRole('button', { name: 'Crash shard01' }).click()
    await page.locator('[data-member=shard01][data-state=crashed]').waitFor()
    await page.getByRole('button', { name: 'Crash mongos01' }).click()
    await page.locator('[data-member=mongos01][data-state=crashed]').waitFor()
    await page.getByRole('button', { name: 'Restart mongos01' }).click()
    await page.locator('[data-member=mongos01][data-state=running]').waitFor()
    await page.getByRole('button', { name: 'Restart shard01' }).click()
    await page.getByText('✓ nothing is broken').waitFor()
    // What answers about users can be healed without an answer.
    await page.getByRole('button', { name: 'Pause mongos01' }).click()
    await page.getByRole('button', { name: 'Resume mongos01' }).click()
    await page.getByRole('button', { name: 'Pause mongos01' }).waitFor()
    const restarts = ['Crash config', 'Crash mongos01', 'Restart mongos01', 'Restart config'] as const
    for (const name of restarts) await page.getByRole('button', { name, exact: true }).click()
    await page.getByText('✓ nothing is broken').waitFor()
    const root = await MongoClient.connect(rootUri)
    await root.db('admin').command({ dropUser: 'root' })
    await page.getByRole('button', { name: 'Crash shard01' }).click()
    await page.locator('.notice.bad').waitFor()
    t.equal(cluster.members().find(({ address }) => address === 'shard01')!.state, 'running')
    await root.close()
  })
})

t.test('a page of another process shows the cluster behind a connection string', options, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', topology: 'sharded', auth: true })
  t.teardown(() => cluster.stop())
  const program = join(findRoot(), 'packages/shardlab/bin/shardlab.js')
  const uri = await withUser(cluster.uri, 'root')
  const child = spawn(process.execPath, [program, 'dashboard', '--uri', uri])
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  t.match(line, `Dashboard of ${cluster.uri}: `, 'without the user')
  const [url] = /http:\S+/.exec(line)!
  await onPage(t, url, async (page) => {
    await page.getByRole('button', { name: 'Crash shard01' }).click()
    await page.locator('[data-member=shard01][data-state=crashed]').waitFor()
    await page.getByRole('button', { name: 'Restart shard01' }).click()
    await page.locator('[data-member=shard01][data-state=running]').waitFor()
    await page.getByRole('link', { name: 'Balancer' }).click()
    await page.getByRole('button', { name: 'Stop it' }).click()
    await page.getByText('▲ off').waitFor()
    await page.getByRole('button', { name: 'Run a round' }).click()
    await page.getByText('A round has ended.').waitFor()
  })
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
  t.match(await run(process.execPath, [program, 'dashboard', '--uri', 'mongodb://127.0.0.1:1/']), {
    ...{ code: 2, stderr: /no cluster answers/ },
  })
})

t.test('a page of another process continues through other members while all routers are down', options, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline' })
  t.teardown(() => cluster.stop())
  const program = join(findRoot(), 'packages/shardlab/bin/shardlab.js')
  const child = spawn(process.execPath, [program, 'dashboard', '--uri', cluster.uri])
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const [url] = /http:\S+/.exec(line)!
  const taken = ['dashboard', '--uri', cluster.uri, '--port', new URL(url).port]
  t.match(await run(process.execPath, [program, ...taken]), { code: 2, stderr: /port \d+ of the dashboard is in use/ })
  await onPage(t, url, async (page) => {
    await page.getByRole('button', { name: 'Crash mongos01' }).click()
    await page.locator('[data-member=mongos01][data-state=crashed]').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Restart mongos01' }).click()
    await page.locator('[data-member=mongos01][data-state=running]').waitFor()
    await page.getByRole('link', { name: 'Balancer' }).click()
    await page.getByRole('button', { name: 'Run a round' }).click()
    await page.getByText('A round has ended.').waitFor()
  })
})

t.test('a page logs in through the config server while no router runs', options, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', auth: true, dashboard: true })
  t.teardown(() => cluster.stop())
  await withUser(cluster.uri, 'root')
  await cluster.crash('mongos01')
  await onPage(t, cluster.dashboard!, async (page) => {
    await page.locator('input[name=user]').fill('root')
    await page.locator('input[name=password]').fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.locator('.notice.bad', { hasText: 'Authentication failed' }).waitFor()
    await page.locator('input[name=password]').fill('a:secret')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Restart mongos01' }).click()
    await page.locator('[data-member=mongos01][data-state=running]').waitFor()
    await page.getByRole('link', { name: 'Balancer' }).click()
    await page.getByRole('button', { name: 'Run a round' }).click()
    await page.getByText('A round has ended.').waitFor()
  })
})

/** The status of an HTTP request with these headers. */
function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve(101)
    })
    sent.on('error', reject)
    sent.end()
  })
}

t.test('pages of other sites can neither read the dashboard nor connect to it', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', dashboard: true })
  t.teardown(() => cluster.stop())
  const url = cluster.dashboard!
  const own = new URL(url)
  t.equal(own.hostname, '127.0.0.1')
  const response = await fetch(url)
  const page = await response.text()
  t.ok(page.length < 300 * 1024, `the page has ${page.length} bytes`)
  t.match(response.headers.get('content-security-policy'), /^default-src 'none'; script-src 'sha256-/)
  t.notMatch(page, /https?:\/\/(?!www\.w3\.org)/, 'it names no other site')
  t.equal(await statusOf(url, { host: 'evil.example' }), 403)
  t.equal(await statusOf(`${url}other`, {}), 404)
  const upgrade = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  t.equal(await statusOf(`${url}live`, { ...upgrade, origin: own.origin }), 101)
  t.equal(await statusOf(`${url}live`, { ...upgrade, origin: 'http://evil.example' }), 403)
  t.equal(await statusOf(`${url}live`, { ...upgrade, origin: own.origin, host: 'evil.example' }), 403)
  t.equal(await statusOf(`${url}other`, { ...upgrade, origin: own.origin }), 403)
  const port = Number(own.port)
  await t.rejects(ShardedCluster.start({ shards: 1, runtime: 'inline', dashboard: port }), {
    ...{
      name: 'OptionError',
      message: `port ${port} of the dashboard is in use: choose another one, or 0 for any free port.`,
    },
  })
  await t.rejects(ShardedCluster.start({ dashboard: 'yes' as never }), { message: /must be true, false or a port/ })
  const other = await cluster.fork()
  t.equal(other.dashboard, null, 'a copy has no dashboard')
  await other.stop()
})
