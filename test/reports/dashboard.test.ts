/** The dashboard of a running cluster in a real Chromium. */
import { MongoClient } from 'mongodb'
import type { Page } from 'playwright-core'
import t from 'tap'
import { ShardedCluster } from 'shardlab'
import { accessible, onPage, options, sizes } from './support/dashboard-page.js'

const views = ['Cluster', 'Collections', 'Operations', 'Balancer', 'Faults', 'Data']

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

t.test('a page shows chunks that move, crashes a shard by a click and heals it', options, async (t) => {
  const cluster = await ShardedCluster.start({
    ...{ shards: 3, runtime: 'inline', chunkSize: '4KB', dashboard: true },
    ...{ balancerRoundIntervalMs: 2 ** 31 - 1, findReplicaSetHostTimeoutMs: 200 },
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
    await page.locator('summary', { hasText: 'Zone ranges' }).click()
    const range = await page.locator('table.zone-table tbody tr').innerText()
    t.match(range, /^EU\s+customer: 100\s+customer: 150\s+shard02$/)

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
    await page.locator('summary', { hasText: 'Owners over time' }).click()
    const share = 100 * (expected['shard01']! / 20)
    await page.locator(`canvas.owners[aria-label*="shard01 has ${Math.round(share)} %"]`).waitFor()
    await slider.fill('0')
    await page.getByText('at the beginning').waitFor()
    await page.locator('canvas.owners[aria-label*="At first: shard01 has 100 %"]').waitFor()
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
    // Several keys within one frame.
    await page.evaluate(`for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft'])
      document.querySelector('canvas.chunks').dispatchEvent(new KeyboardEvent('keydown', { key }))`)
    await page.locator('.chosen', { hasText: 'Chunk 3 on' }).waitFor()
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
    await page.locator('summary', { hasText: 'Chunks in this view as a table' }).click()
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
    for (const kind of ['targeted', 'broadcast'])
      t.match(await page.locator(`[data-rate=${kind}]`).innerText(), /^(?!0\.0)\d+(\.\d)?$/, kind)
    t.match(
      await page.locator('.plot').getAttribute('aria-label'),
      /^Operations\. a second at the end: targeted \d[\d.,]* at \d\d:\d\d:\d\d, multi-shard .*, broadcast .*, failed /,
    )

    await show(page, 'Collections')
    await page.locator('.summary', { hasText: /the hottest chunk has \d+(\.\d)? % of the operations/ }).waitFor()
    await page.locator('select.heat').selectOption('bytes')
    await page.locator('.summary', { hasText: 'the largest chunk has 5.0 % of the bytes' }).waitFor()
    await page.locator('canvas.chunks').focus()
    await page.keyboard.press('End')
    await page.getByText('It has 5.0 % of the bytes: 10 documents, 3.38 KB.').waitFor()
    t.match(
      await page.locator('table.chunk-table tbody tr').last().innerText(),
      /customer: 190\s+MaxKey\s+shard0\d\s+3\.38 KB \(5\.0 %\)/,
    )
    await page.locator('select.heat').selectOption('operations')
    await page.getByText(/It has \d+(\.\d)? % of the operations\./).waitFor()

    await show(page, 'Data')
    const [chunk] = await client.db('config').collection('chunks').find({ 'min.customer': 10 }).toArray()
    const donor = chunk!['shard'] as string
    // Shard01 still has the range that it has given away.
    const recipient = ['shard02', 'shard03'].find((shard) => shard !== donor)!
    await page.locator('input[name=filter]').fill('{ customer: { $gte: 10, $lt: 20 } }')
    await page.getByRole('button', { name: 'Run as a query' }).click()
    const plan = page.locator('table.plan tbody tr')
    await plan.first().waitFor()
    t.match(await plan.first().innerText(), new RegExp(`^${donor}\\s.*IXSCAN customer_1\\s+1[01]\\s+10\\s+10\\s`))
    t.equal(await plan.count(), 1)
    await page.getByText('It returned 10 documents').waitFor()
    await page.getByRole('button', { name: 'sh.moveChunk' }).click()
    const command = page.locator('input[name=command]')
    while (!(await command.inputValue()).startsWith('{"moveChunk":"shop.orders","find":{"customer":0}'));
    await command.fill(`{ moveChunk: "shop.orders", find: { customer: 10 }, to: "${recipient}" }`)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('pre[aria-label=Reply]', { hasText: 'millis' }).waitFor()
    await page.getByRole('button', { name: 'Show by shard' }).click()
    await page.locator(`[data-documents=${donor}]`, { hasText: '10 documents' }).waitFor()
    t.equal(await page.locator(`[data-documents=${donor}] li`, { hasText: 'orphan' }).count(), 10)
    t.equal(await page.locator(`[data-documents=${recipient}] li`, { hasNotText: 'orphan' }).count(), 10)
    await page.locator('input[name=filter]').fill('{ customer: ')
    await page.getByRole('button', { name: 'Show by shard' }).click()
    await page.locator('.notice.bad', { hasText: 'The filter is not a document as JSON' }).waitFor()
    await command.fill('{ moveChunk: "shop.orders" }')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.notice.bad', { hasText: /moveChunk|find|bounds|required/ }).waitFor()
    await page.locator('input[name=filter]').fill('')

    await show(page, 'Cluster')
    await page.locator('[data-set=shard03]', { hasText: /operations? in 10 s/ }).waitFor()
    await page.getByRole('button', { name: 'Crash shard02' }).click()
    await page.locator('[data-member=shard02][data-state=crashed]').waitFor()
    t.equal(cluster.members().find(({ address }) => address === 'shard02')!.state, 'crashed')
    await page.getByText('✕ 1 broken').waitFor()
    t.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Restart', 'the focus stays at its place')
    const [there] = await client.db('config').collection('chunks').find({ shard: 'shard02' }).toArray()
    const customer = (there!['min'] as { customer: number }).customer
    await t.rejects(orders.insertOne({ customer }), { code: 133 })
    await show(page, 'Operations')
    await page
      .locator('table.operations tr', { hasText: /insert shop\.orders[^]*✕ FailedToSatisfyReadPreference/ })
      .first()
      .waitFor()
    await show(page, 'Faults')
    await page.getByRole('button', { name: 'Heal crash shard02' }).click()
    await page.getByText('✓ nothing is broken').waitFor()
    t.equal(cluster.members().find(({ address }) => address === 'shard02')!.state, 'running')

    const fault = page.locator('input[name=fault]')
    await page.locator('select[name=form]').selectOption('partition shard01 [from shard02] [one way]')
    await page.getByText('This form may also have: from shard02; one way.').waitFor()
    t.equal(await page.locator('input[name=fault]').inputValue(), 'partition shard01')
    await page.locator('select[name=form]').selectOption('slow disk of shard02 by 20ms')
    await page.getByRole('button', { name: 'shard03' }).click()
    // The page is drawn with the next frame.
    while ((await fault.inputValue()) !== 'slow disk of shard03 by 20ms');
    await fault.fill('slow disk of shard03 by 20ms for 5s')
    await page.getByRole('button', { name: 'config' }).click()
    while ((await fault.inputValue()) !== 'slow disk of config by 20ms for 5s');
    await page.locator('select[name=form]').selectOption('drop [5%] between mongos01 and shard02')
    await page.getByText('The next click replaces mongos01.').waitFor()
    await page.getByRole('button', { name: 'shard03' }).click()
    await page.getByText('The next click replaces shard02.').waitFor()
    await page.getByRole('button', { name: 'config' }).click()
    while ((await fault.inputValue()) !== 'drop between shard03 and config');
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
    await t.rejects(orders.findOne({ $nope: 1 }))
    await page.locator('svg.lanes[aria-label*=" with errors"]').waitFor()
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

t.test('a paused page shows the same moment in all views', options, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', dashboard: true })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 1 } })
  await onPage(t, cluster.dashboard!, async (page) => {
    await page.getByText('1 chunk').first().waitFor()
    await page.getByRole('button', { name: 'Pause the page' }).click()
    await page.locator('.health', { hasText: /paused at \d\d:\d\d:\d\d \(UTC\)/ }).waitFor()
    await client.db('admin').command({ split: 'shop.orders', middle: { customer: 5 } })
    await page.getByRole('button', { name: 'Crash shard02' }).click()
    await page.locator('.notice', { hasText: 'shard02 has crashed.' }).waitFor()
    t.equal(cluster.members().find(({ address }) => address === 'shard02')!.state, 'crashed')
    t.equal(await page.locator('[data-member=shard02]').getAttribute('data-state'), 'running')
    await show(page, 'Collections')
    await page.locator('.summary[data-chunks="1"]').waitFor()
    await page.locator('select.heat').selectOption('bytes')
    await page.getByText('No heat: the sizes were not known when the page was paused.').waitFor()
    await show(page, 'Faults')
    await page.locator('h2', { hasText: 'Timeline' }).waitFor()
    t.equal(await page.locator('.faults li').count(), 0)
    await page.getByRole('button', { name: 'Resume the page' }).click()
    await page.locator('.faults li', { hasText: 'crash shard02' }).waitFor()
    await page.getByText('✕ 1 broken').waitFor()
    await show(page, 'Collections')
    await page.locator('.summary[data-chunks="2"]').waitFor()
    await page.getByText(/No sizes of shard02: .* The shares are those of the others\./).waitFor()
  })
})

t.test('long documents are shortened, and can be opened', options, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', dashboard: true })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { _id: 1 } })
  const orders = client.db('shop').collection<{ _id: number; note: string }>('orders')
  await orders.insertMany([
    { _id: 1, note: 'x'.repeat(1000) },
    { _id: 2, note: 'y' },
  ])
  await onPage(t, cluster.dashboard!, async (page) => {
    await page.getByText('1 chunk').first().waitFor()
    await show(page, 'Data')
    await page.getByRole('button', { name: 'Show by shard' }).click()
    const rows = page.locator('[data-documents=shard01] li')
    await rows.first().waitFor()
    t.equal(await rows.first().innerText(), `{"_id":1,"note":"${'x'.repeat(20)}…"}`)
    t.equal(await rows.last().innerText(), '{"_id":2,"note":"y"}')
    await rows.first().locator('summary').click()
    await rows
      .first()
      .locator('pre', { hasText: 'x'.repeat(1000) })
      .waitFor()
    await accessible(t, page, 'an open document')
    await page.locator('input[name=filter]').fill('{ wrong')
    await page.getByRole('button', { name: 'Run as a query' }).click()
    await page.locator('.notice.bad', { hasText: 'The filter is not a document as JSON' }).waitFor()
    t.equal(await rows.count(), 0, 'no old result stands below an error')
  })
})

t.test('a page says that a destroyed member has lost its data', options, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', dashboard: true })
  t.teardown(() => cluster.stop())
  await onPage(t, cluster.dashboard!, async (page) => {
    await cluster.faults.apply('destroy shard01')
    await page.getByText('shard01 has crashed, and its disk is lost.').waitFor()
    t.equal(await page.locator('.health').innerText(), '✕ 1 broken Pause the page')
    await cluster.faults.heal()
    await page.getByText(/shard01 started at [\d:.]+ with an empty disk: its data are gone\./).waitFor()
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
    const shown = (ms: number): string => new Date(ms).toISOString().slice(0, 23).replace('T', ' ')
    await page.getByText(shown(beganMs)).waitFor()
    await page.getByRole('button', { name: '+ 1 min' }).click()
    await page.getByText(shown(beganMs + 60_000)).waitFor()
    t.equal(cluster.now(), beganMs + 60_000)
    await onPage(t, cluster.dashboard!, async (other) => {
      await other.getByText(shown(beganMs + 60_000)).waitFor()
      await page.locator('select[name=speed]').selectOption('60')
      await page.getByRole('button', { name: 'Play' }).click()
      await other.getByRole('button', { name: 'Stop the clock' }).waitFor()
      t.equal(await other.locator('select[name=speed]').inputValue(), '60')
      while (cluster.now() < beganMs + 90_000) await page.getByText('Stop the clock').waitFor()
      await other.getByRole('button', { name: 'Stop the clock' }).click()
      await page.getByRole('button', { name: 'Play' }).waitFor()
      const stoppedMs = cluster.now()
      await page.getByText(shown(stoppedMs)).waitFor()
      t.equal(cluster.now(), stoppedMs, 'it stands still')
    })
    await accessible(t, page, 'the page of a manual clock')
  })
})
