/**
 * The dashboard of a running cluster in a real Chromium (`CHROMIUM`, default /usr/bin/chromium).
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { request } from 'node:http'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { MongoClient } from 'mongodb'
import { chromium, type Browser, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { ShardedCluster } from 'shardlab'
import { findRoot } from '../architecture/model/repository.js'
import { run } from '../support/up.js'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const options = existsSync(executablePath)
  ? { timeout: 120_000 }
  : { skip: `there is no Chromium at ${executablePath}: install it, or name it in CHROMIUM` }
const sizes = [1280, 420].map((width) => ({ width, height: 900 }))
const views = ['Cluster', 'Collections', 'Operations', 'Balancer', 'Faults']

let browser: Browser | null = null
t.teardown(() => browser?.close())

/** Opens the page, and checks what holds for all of them. */
async function onPage(t: Test, url: string, look: (page: Page) => Promise<void>): Promise<void> {
  browser ??= await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] })
  const page = await browser.newPage({ viewport: sizes[0]! })
  const wrong: string[] = []
  page.on('pageerror', ({ message }) => wrong.push(message))
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
  page.on('request', (each) => each.url() === url || /^(data:|ws:)/.test(each.url()) || wrong.push(each.url()))
  await page.goto(url)
  await page.locator('h1').waitFor()
  await look(page)
  t.same(wrong, [], 'neither errors nor requests to a network')
  await page.close()
}

const show = (page: Page, view: string) => page.locator('nav a', { hasText: view }).click()

/** The chunks of each shard, as the map describes itself. */
async function chunksOnPage(page: Page): Promise<Record<string, number>> {
  const label = (await page.locator('canvas.chunks').getAttribute('aria-label'))!
  const counts = [...label.matchAll(/(shard\d+) has (\d+)/g)]
  return Object.fromEntries(counts.map(([, shard, count]) => [shard!, Number(count)]))
}

async function chunksInCatalog(client: MongoClient): Promise<Record<string, number>> {
  const counts: Record<string, number> = { shard01: 0, shard02: 0, shard03: 0 }
  for (const { shard } of await client.db('config').collection('chunks').find().toArray()) counts[shard as string]!++
  return counts
}

/** Of axe-core. */
interface AxeFinding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly target: unknown }[]
}

async function accessible(t: Test, page: Page, view: string, rules = ''): Promise<void> {
  // As an expression, because the policy of the page allows no further script elements.
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(`${axe};0`)
  const found = await page.evaluate(`axe.run(${rules}).then(({ violations }) => violations)`)
  const serious = (found as AxeFinding[]).filter(({ impact }) => impact === 'serious' || impact === 'critical')
  t.same(
    serious.map(({ id, nodes }) => [id, nodes.map(({ target }) => target)]),
    [],
    `${view} has no serious finding of axe`,
  )
}

t.test('a page shows chunks that move, crashes a shard by a click and heals it', options, async (t) => {
  const cluster = await ShardedCluster.start({
    ...{ shards: 3, runtime: 'inline', chunkSize: '4KB', dashboard: true },
    balancerRoundIntervalMs: 2 ** 31 - 1,
  })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const admin = client.db('admin')
  await onPage(t, cluster.dashboard!, async (page) => {
    t.match(await page.locator('main').innerText(), /Nothing\./)
    await show(page, 'Collections')
    await page.getByText('No collection is sharded').waitFor()

    await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
    // The history begins with what the page has shown first.
    await page.locator('.summary[data-chunks="1"]').waitFor()
    const documents = Array.from({ length: 200 }, (_, customer) => ({ customer, pad: 'x'.repeat(300) }))
    await client.db('shop').collection('orders').insertMany(documents)
    for (let customer = 10; customer < 200; customer += 10)
      await admin.command({ split: 'shop.orders', middle: { customer } })
    await admin.command({ addShardToZone: 'shard02', zone: 'EU' })
    const zone = { min: { customer: 100 }, max: { customer: 150 }, zone: 'EU' }
    await admin.command({ updateZoneKeyRange: 'shop.orders', ...zone })
    await page.locator('.summary[data-chunks="20"]').getByText('1 zone range').waitFor()
    t.same(await chunksOnPage(page), { shard01: 20, shard02: 0, shard03: 0 })

    await show(page, 'Balancer')
    await page.getByRole('button', { name: 'Explain shop.orders' }).click()
    const { answer } = await cluster.balancer.explain('shop.orders')
    t.match(answer, /shard01/)
    await page.getByText('✕ not balanced').waitFor()
    await page.getByRole('button', { name: 'Run a round' }).click()
    await page.locator('table.decisions tr', { hasText: 'shard01 →' }).first().waitFor()
    await cluster.balancer.settle()

    await show(page, 'Collections')
    const expected = await chunksInCatalog(client)
    t.ok(expected['shard02']! > 0 && expected['shard03']! > 0, 'chunks have moved')
    const label = ['shard01', 'shard02', 'shard03'].map((shard) => `${shard} has ${expected[shard]}`).join(', ')
    await page.locator(`canvas.chunks[aria-label*="${label}"]`).waitFor()
    const slider = page.locator('input[name=history]')
    await slider.fill('0')
    await page.getByText('at the beginning').waitFor()
    t.same(await chunksOnPage(page), { shard01: 1, shard02: 0, shard03: 0 }, 'the slider shows the first chunk')
    await slider.focus()
    await page.keyboard.press('ArrowRight')
    await page.locator('.history strong', { hasText: /^at \d/ }).waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.locator(`canvas.chunks[aria-label*="${label}"]`).waitFor()
    t.equal(await page.locator('.chosen[aria-live=polite]').innerText(), '', 'the live region is there before its text')
    await page.locator('canvas.chunks').focus()
    await page.keyboard.press('End')
    await page.getByText('Chunk 20 on').waitFor()
    t.match(await page.locator('.chosen').innerText(), /from customer: 190 to MaxKey/)
    await page.keyboard.press('+')
    await page.locator('.ends', { hasText: 'of 20' }).waitFor()
    const map = page.locator('canvas.chunks')
    await page.keyboard.press('Home')
    await page.locator('.ends', { hasText: 'chunks 1 to' }).waitFor()
    await page.getByText('Chunk 1 on').waitFor()
    await page.keyboard.press('End')
    await page.locator('.ends', { hasText: 'to 20 of 20' }).waitFor()
    await map.click({ position: { x: 10, y: 40 } })
    await map.click({ position: { x: 400, y: 40 } })
    await page.getByText(/Chunk 1\d on/).waitFor()
    t.match(await page.locator('.ends').innerText(), /to 20 of 20/, 'a click on a label of a lane has no effect')
    await page.keyboard.press('End')
    await page.getByText('Chunk 20 on').waitFor()
    t.equal(await page.locator('table.chunk-table').count(), 0, 'a closed table has no rows')
    await page.locator('summary', { hasText: 'as a table' }).click()
    await page.locator('table.chunk-table').waitFor()
    const last = await page.locator('table.chunk-table tbody tr').last().innerText()
    t.match(last, /customer: 190\s+MaxKey\s+shard0/, 'the table has the chunks of the view')

    await show(page, 'Operations')
    const orders = client.db('shop').collection('orders')
    await page.locator('table.operations tr', { hasText: 'insert shop.orders' }).first().waitFor()
    await orders.find({ customer: 115 }).toArray()
    await orders.find({ pad: 'y' }).toArray()
    await page.locator('table.shapes tr', { hasText: 'find shop.orders' }).nth(1).waitFor()
    const broadcast = page.locator('table.operations tr', { hasText: 'broadcast' })
    t.match(await broadcast.first().innerText(), /find shop\.orders\s+broadcast\s+shard01, shard02, shard03/)
    await broadcast.first().getByRole('button', { name: 'Why find on shop.orders' }).click()
    await page.getByText('a broadcast, because it does not constrain the shard key {"customer":1}').waitFor()
    const [home] = await client.db('config').collection('chunks').find({ 'min.customer': 110 }).toArray()
    const targeted = page.locator('table.operations tr', { hasText: `find shop.orders targeted ${home!['shard']}` })
    await targeted.first().getByRole('button', { name: 'Why' }).click()
    await page.locator('.chosen', { hasText: `asked 1 shard (${home!['shard']}), because its bounds` }).waitFor()
    t.match(await page.locator('.chosen').innerText(), /Bounds: customer: 115/)
    t.match(await page.locator('.plot').getAttribute('aria-label'), /Now: targeted \d+, multi-shard \d+, broadcast \d+/)

    await show(page, 'Cluster')
    await page.locator('[data-set=shard03]', { hasText: /operations? in 10 s/ }).waitFor()
    await page.getByRole('button', { name: 'Crash shard02' }).click()
    await page.locator('[data-member=shard02][data-state=crashed]').waitFor()
    t.equal(cluster.members().find(({ address }) => address === 'shard02')!.state, 'crashed')
    await page.getByText('✕ 1 broken').waitFor()
    await show(page, 'Faults')
    await page.getByRole('button', { name: 'Heal crash shard02' }).click()
    await page.getByText('✓ nothing is broken').waitFor()
    t.equal(cluster.members().find(({ address }) => address === 'shard02')!.state, 'running')

    const fault = page.locator('input[name=fault]')
    await page.locator('select[name=form]').selectOption('slow disk of shard02 by 20ms')
    await page.getByRole('button', { name: 'shard03' }).click()
    // The page is drawn with the next frame.
    while ((await fault.inputValue()) !== 'slow disk of shard03 by 20ms');
    await fault.fill('slow disk of shard03 by 20ms for 5s')
    await page.getByRole('button', { name: 'config' }).click()
    while ((await fault.inputValue()) !== 'slow disk of config by 20ms for 5s');
    await fault.fill('crash shard09')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.locator('.notice.bad', { hasText: 'shard09' }).waitFor()
    await fault.fill('partition shard01 from shard03')
    await page.keyboard.press('Enter')
    await page.locator('.faults li', { hasText: 'partition shard01 from shard03' }).waitFor()
    t.same(
      cluster.faults.list().map(({ fault }) => fault),
      ['partition shard01 from shard03'],
    )
    t.match(await page.locator('table.timeline').innerText(), /migration[^]*committed/)
    const lanes = page.locator('svg.lanes')
    t.match(await lanes.getAttribute('aria-label'), /2 faults, 1 member, 1 election, \d+ migrations, \d+ rounds/)
    t.equal(await lanes.locator('rect.bar.open').count(), 1, 'one fault has not ended')
    for (const view of views) {
      await show(page, view)
      await page.locator('h1', { hasText: view }).waitFor()
      for (const size of sizes) {
        await page.setViewportSize(size)
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        t.equal(await page.evaluate(overflow), 0, `nothing of ${view} reaches beyond ${size.width} pixels`)
      }
      await page.emulateMedia({ colorScheme: 'light' })
      await accessible(t, page, view)
      await page.emulateMedia({ colorScheme: 'dark' })
      await accessible(t, page, `${view} in the dark`, `{ runOnly: ['color-contrast'] }`)
    }
  })
})

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

t.test('a page says that the catalog has not been read, and shows it later', options, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', dashboard: true })
  t.teardown(() => cluster.stop())
  await cluster.crash('config')
  await onPage(t, cluster.dashboard!, async (page) => {
    for (const view of ['Balancer', 'Collections']) {
      await show(page, view)
      await page.locator('h1', { hasText: view }).waitFor()
      await page.getByText('The catalog has not been read yet.').first().waitFor()
    }
    await cluster.restart('config')
    await page.getByText('No collection is sharded').waitFor()
    await show(page, 'Balancer')
    await page.getByText('● on').waitFor()
  })
})

t.test('buttons move a manual clock', options, async (t) => {
  const cluster = await ShardedCluster.start({
    ...{ shards: 1, runtime: 'inline', clock: 'manual', autoAdvance: false, dashboard: true },
  })
  t.teardown(() => cluster.stop())
  const beganMs = cluster.now()
  await onPage(t, cluster.dashboard!, async (page) => {
    await page.getByRole('button', { name: '+ 1 min' }).click()
    await page.getByText(new Date(beganMs + 60_000).toISOString()).waitFor()
    t.equal(cluster.now(), beganMs + 60_000)
    await page.locator('select[name=speed]').selectOption('60')
    await page.getByRole('button', { name: 'Play' }).click()
    while (cluster.now() < beganMs + 90_000) await page.getByText('Stop the clock').waitFor()
    await page.getByRole('button', { name: 'Stop the clock' }).click()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    await accessible(t, page, 'the page of a manual clock')
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
