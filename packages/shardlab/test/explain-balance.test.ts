import type { BalancerExplanation } from '@shardlab/cluster'
import t from 'tap'
import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { runAdminCommand } from '../src/admin-client.js'
import { explanationText } from '../src/commands/explain-balance-text.js'

const balanced: BalancerExplanation = {
  ns: 'shop.orders',
  balanced: true,
  answer: 'Nothing has to move: shard01 has 131072 bytes more than shard02, less than 3 chunks of 65536 bytes.',
  policy: 'data size',
  chunkSizeBytes: 65_536,
  thresholdBytes: 196_608,
  resting: null,
  activeWindow: null,
  attemptToBalanceJumboChunks: false,
  collection: { noBalance: false, allowMigrations: true, defragmenting: false },
  defragmentation: null,
  shards: [
    { id: 'shard01', bytes: 1_310_720, chunks: 12, jumboChunks: 0, zones: [], draining: false, busyWith: null },
    { id: 'shard02', bytes: 1_179_648, chunks: 1, jumboChunks: 1, zones: ['EU'], draining: false, busyWith: null },
  ],
  zones: [],
  splits: [],
  candidates: [],
  notes: [],
}

t.test('a collection balanced by data size is shown with sizes', (t) => {
  t.equal(
    explanationText(balanced),
    `shop.orders is balanced.
Nothing has to move: shard01 has 128 KB more than shard02, less than 3 chunks of 64 KB.

  Shards are compared by data size: a difference of 192 KB is too much; chunks of up to 64 KB.

  shard01  ##############################  1.25 MB  12 chunks
  shard02  ###########################     1.13 MB    1 chunk  1 jumbo; zone EU
`,
  )
  t.end()
})

t.test('a collection balanced by chunks is shown with every remark there is', (t) => {
  t.equal(
    explanationText({
      ...balanced,
      balanced: false,
      answer: 'A round would change something, but the balancer is stopped.',
      policy: 'chunk count',
      thresholdBytes: null,
      resting: 'the balancer is stopped',
      activeWindow: '03:00 to 04:00',
      attemptToBalanceJumboChunks: true,
      collection: { noBalance: true, allowMigrations: false, defragmenting: false },
      shards: [
        { id: 'a', bytes: null, chunks: 90, jumboChunks: 0, zones: [], draining: true, busyWith: 'longer-name' },
        { id: 'longer-name', bytes: 0, chunks: 1, jumboChunks: 0, zones: ['EU', 'US'], draining: false, busyWith: 'a' },
        { id: 'c', bytes: 999, chunks: 0, jumboChunks: 0, zones: [], draining: false, busyWith: null },
      ],
      zones: [
        { zone: 'EU', chunks: 1, shards: ['longer-name'], largestToMean: 1 },
        { zone: 'XX', chunks: 0, shards: [], largestToMean: null },
      ],
      splits: [{ shard: 'a', min: '{"k":0}', max: '{"k":9}', points: ['{"k":4}', '{"k":6}'] }],
      candidates: [
        {
          from: 'a',
          to: 'c',
          min: '{"k":0}',
          max: '{"k":9}',
          reason: 'draining',
          because: 'a is draining, and c has the least: 0 chunks',
        },
      ],
      notes: ['no shard carries zone XX'],
    }),
    `shop.orders is not balanced.
A round would change something, but the balancer is stopped.

  Shards are compared by chunk count; chunks of up to 64 KB.
  No rounds now: the balancer is stopped.
  Active window: 03:00 to 04:00 (UTC).
  Jumbo chunks are moved, too (attemptToBalanceJumboChunks).
  Balancing of this collection is switched off (noBalance).
  Migrations of this collection are not allowed (setAllowMigrations).

  a            ##############################  unknown  90 chunks  draining; exchanges a chunk with longer-name now
  longer-name  #                                   0 B    1 chunk  zone EU, US; exchanges a chunk with a now
  c                                              999 B   0 chunks

Zones:
  EU: 1 chunk, on longer-name; the largest has 1.00 times the mean
  XX: 0 chunks, on no shard

Splits that come first:
  {"k":0} to {"k":9} on a, at {"k":4}, {"k":6}

The next round moves:
  {"k":0} to {"k":9} from a to c (draining): a is draining, and c has the least: 0 chunks

It moves no more, because:
  no shard carries zone XX
`,
  )
  t.end()
})

t.test('an invalid URI, an address without a server and a server of another kind are refused', async (t) => {
  for (const [uri, expected] of [
    ['localhost:27017', /^the URI is "localhost:27017"; it must be like mongodb:\/\/127\.0\.0\.1:27017\/\.$/],
    ['mongodb://', /^the URI is/],
    ['mongodb://a:b:c/', /^the URI has the host "a:b:c"/],
    ['mongodb://ada:secret@127.0.0.1:1/', /^no cluster answers at mongodb:\/\/127\.0\.0\.1:1\/ \(/],
    ['mongodb://127.0.0.1:70000/', /^the URI has the host "127\.0\.0\.1:70000"/],
    [
      'mongodb://127.0.0.1:1,[::1]:1/x?y=z',
      /^no cluster answers at mongodb:\/\/127\.0\.0\.1:1,\[::1\]:1\/x\?y=z \(127\.0\.0\.1:1: .+; ::1:1: .+\): start one, or correct the URI\.$/,
    ],
  ] as const)
    await t.rejects(runAdminCommand(uri, { ping: 1 }), { name: 'OptionError', message: expected }, uri)
  for (const [answer, expected] of [
    ['HTTP/1.1 400 Bad Request\r\n\r\n', /the server does not speak the wire protocol/],
    ['', /the server closed the connection/],
  ] as const) {
    const server = createServer((socket) => socket.end(answer)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await t.rejects(runAdminCommand(`mongodb://127.0.0.1:${port}/`, { ping: 1 }), { message: expected })
    server.close()
  }
})
