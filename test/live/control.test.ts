/** `shardlab up --control-port`: HTTP control for tests in any language. */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { request } from 'node:http'
import { run, up, type RunningUp } from '../support/up.js'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../../packages/shardlab/bin/shardlab.js', import.meta.url))

interface Reply {
  readonly status: number
  readonly body: Record<string, unknown>
}

const controlOf = ({ ready }: RunningUp): string => (ready as unknown as { readonly control: string }).control

async function call(url: string, method = 'GET', body?: unknown): Promise<Reply> {
  const response = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

t.test('a cluster is forked, reset, broken and observed by HTTP', { timeout: 60_000 }, async (t) => {
  const started = await up('--port', '0', '--runtime', 'inline', '--shards', '2', '--control-port', '0')
  t.teardown(() => started.stop())
  const main = `${controlOf(started)}/clusters/main`
  const client = await MongoClient.connect(started.ready.uri)
  t.teardown(() => client.close())
  const orders = client.db('shop').collection<{ _id: number; customer: string }>('orders')
  await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
  await orders.insertOne({ _id: 1, customer: 'ada' })

  t.match(await call(main), { status: 200, body: { id: 'main', uri: started.ready.uri } })
  t.match(await call(`${main}/reset`, 'POST'), { status: 400, body: { error: /no state to reset to/ } })
  t.equal((await call(`${main}/keep`, 'POST')).status, 200)
  const { body: fork } = await call(`${main}/fork`, 'POST')
  await orders.insertOne({ _id: 2, customer: 'bob' })
  const { body: snapshot } = await call(`${main}/snapshots`, 'POST')
  const copy = await MongoClient.connect(String(fork['uri']))
  t.equal(await copy.db('shop').collection('orders').countDocuments(), 1, 'of the fork')
  await copy.close()
  t.equal((await call(`${main}/reset`, 'POST')).status, 200)
  t.equal(await orders.countDocuments(), 1, 'after the reset')
  t.equal((await call(`${main}/snapshots/${String(snapshot['id'])}/restore`, 'POST')).status, 200)
  t.equal(await orders.countDocuments(), 2, 'of the snapshot')

  const { body: mark } = await call(`${main}/marks`, 'POST')
  await orders.findOne({ customer: 'ada' })
  await orders.findOne({ _id: 1 })
  const { body } = await call(`${main}/routed?since=${String(mark['mark'])}`)
  t.match(body['routed'], [
    { command: 'find', kind: 'targeted', shards: { length: 1 } },
    { command: 'find', kind: 'broadcast', shards: { length: 2 } },
  ])

  const { body: fault } = await call(`${main}/faults`, 'POST', { fault: 'crash shard02' })
  t.match((await call(`${main}/faults`)).body['faults'], [{ id: fault['id'], fault: 'crash shard02' }])
  t.equal((await call(`${main}/faults/${String(fault['id'])}`, 'DELETE')).status, 200)
  t.equal(await orders.countDocuments(), 2, 'the shard runs again')

  const ids = async (): Promise<string[]> =>
    ((await call(`${controlOf(started)}/clusters`)).body['clusters'] as { id: string }[]).map(({ id }) => id)
  t.same(await ids(), ['main', fork['id']])
  t.equal((await call(`${controlOf(started)}/clusters/${String(fork['id'])}`, 'DELETE')).status, 200)
  t.same(await ids(), ['main'])
})

t.test('a manual clock passes by HTTP', { timeout: 60_000 }, async (t) => {
  const started = await up(...'--port 0 --runtime inline --shards 1 --clock manual --control-port 0'.split(' '))
  t.teardown(() => started.stop())
  const main = `${controlOf(started)}/clusters/main`
  const before = (await call(main)).body['nowMs'] as number
  const { status, body } = await call(`${main}/advance`, 'POST', { duration: '15m' })
  t.match({ status, passed: (body['nowMs'] as number) - before >= 900_000 }, { status: 200, passed: true })
  t.match(await call(`${main}/advance`, 'POST', { duration: '15 parsecs' }), {
    status: 400,
    body: { error: /parsecs/ },
  })
  const refused = await run(process.execPath, [bin, 'up', '--runtime', 'inline', '--clock', 'manual'])
  t.match(refused, { code: 2, stderr: /a manual clock needs --control-port/ })
  const withoutPort = await run(process.execPath, [bin, 'up', '--control-port', '--json'])
  const stderr = /option '--control-port <p>' argument missing: '--json' is the next option \(run with --help/
  t.match(withoutPort, { code: 2, stderr })
})

t.test('wrong requests and those of web pages are refused', { timeout: 60_000 }, async (t) => {
  const started = await up('--port', '0', '--shards', '1', '--control-port', '0')
  t.teardown(() => started.stop())
  const url = controlOf(started)
  const cases: [path: string, method: string, body: unknown, status: number, error: RegExp][] = [
    ['/clusters/none', 'GET', undefined, 404, /there is no cluster none/],
    ['/clusters/main/none', 'POST', undefined, 404, /there is no operation POST/],
    ['/clusters/main/advance', 'POST', {}, 400, /^advanceClock: duration is missing: send \{ "duration": "15m" \}\.$/],
    ['/clusters/main/advance', 'POST', undefined, 400, /duration is missing: send/],
    ['/clusters/main/advance', 'POST', { duration: true }, 400, /duration is true: send/],
    ['/clusters/main/advance', 'POST', [1], 400, /^advanceClock: the body is \[1\], not a JSON object: send/],
    ['/clusters/main/advance', 'POST', { time: 1 }, 400, /the body has time, but the operation has duration: send/],
    [
      '/clusters/main/keep',
      'POST',
      { a: 1 },
      400,
      /^keepState: the body has a, but the operation has no parameters\.$/,
    ],
    [
      '/clusters/main/faults',
      'POST',
      undefined,
      400,
      /^applyFault: fault is missing: send \{ "fault": "crash shard02 for/,
    ],
    ['/clusters/main/advance', 'POST', { duration: '1s' }, 400, /only a manual clock/],
    ['/clusters/main/advance', 'POST', '{', 400, /not JSON/],
    ['/clusters/main/faults', 'POST', { fault: 'crash nobody' }, 400, /nobody/],
    ['/clusters/main/fork', 'POST', undefined, 400, /--runtime inline/],
    ['/clusters/main/routed?since=7', 'GET', undefined, 400, /there is no mark 7/],
    [
      '/clusters/main/routed',
      'GET',
      undefined,
      400,
      /^getRouted: since is missing: send \?since=MARK, with the mark of/,
    ],
    ['/clusters/main/routed?since=x', 'GET', undefined, 400, /^getRouted: since is "x": send \?since=MARK/],
    ['/clusters/main/routed?since=-1', 'GET', undefined, 400, /since is "-1": send/],
    ['/clusters/main/routed?since=', 'GET', undefined, 400, /since is missing: send/],
    [
      '/clusters/main/routed?since=1&to=2',
      'GET',
      undefined,
      400,
      /the query has to, but the operation has since: send/,
    ],
    ['/clusters/main', 'DELETE', undefined, 400, /send SIGTERM/],
  ]
  for (const [path, method, body, status, error] of cases)
    t.match(await call(`${url}${path}`, method, body), { status, body: { error } }, `${method} ${path}`)
  for (const headers of [{ origin: 'http://example.com' }, { host: 'example.com' }]) {
    const status = await new Promise((resolve, reject) =>
      request(`${url}/clusters`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end(),
    )
    t.equal(status, 403)
  }
})

t.test('the OpenAPI description has each operation once', { timeout: 60_000 }, async (t) => {
  const started = await up('--port', '0', '--shards', '1', '--control-port', '0')
  t.teardown(() => started.stop())
  const { body } = await call(`${controlOf(started)}/openapi.json`)
  t.match(body, { openapi: '3.1.0', servers: [{ url: controlOf(started) }] })
  const found = Object.values(body['paths'] as Record<string, Record<string, { operationId: string }>>).flatMap(
    (methods) => Object.values(methods).map(({ operationId }) => operationId),
  )
  t.equal(new Set(found).size, found.length)
  t.ok(found.includes('forkCluster') && found.includes('getRouted'))
  t.match(body['paths'], {
    '/clusters/{cluster}/advance': { post: { requestBody: { content: { 'application/json': { schema: Object } } } } },
    '/clusters/{cluster}/routed': { get: { parameters: [{ name: 'cluster' }, { name: 'since', in: 'query' }] } },
  })
})
